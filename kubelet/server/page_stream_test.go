package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
)

// pushes returns a function that counts the pushes that have come to a page since its last call, and checks their form.
func pushes(t *testing.T, answer *http.Response) func() int {
	t.Helper()
	came := make(chan struct{}, 1000)
	go func() {
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var push struct{ Instance, HTML string }
			if ok && (json.Unmarshal([]byte(data), &push) != nil || push.Instance == "" || !strings.Contains(push.HTML, `id="pod-list"`)) {
				t.Errorf("a push is %q", data)
			}
			if ok {
				came <- struct{}{}
			} else if lines.Text() != "" {
				t.Errorf("a line is %q", lines.Text())
			}
		}
	}()
	return func() (n int) {
		synctest.Wait()
		for ; len(came) > 0; n++ {
			<-came
		}
		return n
	}
}

func TestStreamPushesEachChange(t *testing.T) {
	for name, change := range map[string]struct {
		do     func(*fakeKubelet)
		within time.Duration
	}{
		"a new snapshot": {func(k *fakeKubelet) { k.publish() }, 0},
		"an event":       {func(k *fakeKubelet) { k.addEvent(api.Event{}) }, 0},
		"health":         {func(k *fakeKubelet) { k.set(func() { k.health = errors.New("Docker is away") }) }, pageTick},
		"a pull":         {func(k *fakeKubelet) { k.set(func() { k.load.Pulls = 1 }) }, pageTick},
		"a source":       {func(k *fakeKubelet) { k.set(func() { k.sources = []api.SourceStatus{{Source: "http"}} }) }, pageTick},
		"nothing":        {func(k *fakeKubelet) {}, pageAlive},
	} {
		t.Run(name, func(t *testing.T) {
			k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file"}}}
			inBubble(t, k, func(t *testing.T, s *testServer) {
				answer := s.open(t, context.Background(), "GET /stream")
				count := pushes(t, answer)
				if n := count(); n != 1 || answer.Header.Get("Content-Type") != "text/event-stream" {
					t.Errorf("at the beginning %d come, of type %s", n, answer.Header.Get("Content-Type"))
				}
				time.Sleep(2*pageTick + pagePause)
				if n := count(); n != 0 {
					t.Errorf("%d come before anything has changed", n)
				}
				change.do(k)
				time.Sleep(change.within)
				if n := count(); n != 1 {
					t.Errorf("%d come within %v, want 1", n, change.within)
				}
			})
		})
	}
}

func TestStreamPushesTwiceASecondAtMost(t *testing.T) {
	k := &fakeKubelet{}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		count := pushes(t, s.open(t, context.Background(), "GET /stream"))
		for range 300 {
			k.addEvent(api.Event{})
			k.publish()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(pagePause) // the last change too
		if n := count(); n < 7 || n > 8 {
			t.Errorf("in 3.5 s of changes %d come", n)
		}
		for range 100 { // in 2014 an answer ended after ten seconds
			if time.Sleep(pageAlive); count() == 0 {
				t.Fatal("ten seconds pass without a push")
			}
		}
	})
}

// A page whose connection takes nothing any more is dropped.
func TestStreamEndsWhenNothingIsRead(t *testing.T) {
	k := &fakeKubelet{statuses: []api.PodStatus{{Message: strings.Repeat("x", 1<<20)}}}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		answer := s.open(t, context.Background(), "GET /stream")
		time.Sleep(writeTimeout + time.Second)
		if _, err := io.Copy(io.Discard, answer.Body); err == nil {
			t.Error("the stream has not ended by an error")
		}
	})
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
)

// page is a client of a stream, in a bubble.
type page struct {
	*httptest.ResponseRecorder
	leave    context.CancelFunc
	gone     atomic.Bool // the stream has ended
	mu       sync.Mutex
	deadline time.Time
}

// SetWriteDeadline is that of a connection.
func (p *page) SetWriteDeadline(at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = at
	return nil
}

func (p *page) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.deadline.IsZero() && time.Now().After(p.deadline) {
		return 0, os.ErrDeadlineExceeded
	}
	return p.ResponseRecorder.Write(data)
}

// follow opens a stream, in a bubble. It is to be left before the bubble ends.
func follow(s *Server, query string, set ...func(*http.Request)) *page {
	ctx, leave := context.WithCancel(context.Background())
	p := &page{ResponseRecorder: httptest.NewRecorder(), leave: leave}
	r := httptest.NewRequestWithContext(ctx, "GET", "/stream"+query, nil)
	for _, do := range set {
		do(r)
	}
	go func() {
		if err := s.servePageStream(p, r); err != nil {
			fail(p, r, err)
		}
		p.gone.Store(true)
	}()
	synctest.Wait()
	return p
}

// frames are what has come since the last call.
func (p *page) frames() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.Body.String()
	p.Body.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n")
}

const change = "event: pods\ndata: this-kubelet"

func newStreams(k *fakeKubelet) *Server {
	return &Server{opts: Options{Kubelet: k, Sources: func() []api.SourceStatus { return nil }}, begun: "this-kubelet"}
}

func wait(d time.Duration) {
	time.Sleep(d) // in a bubble
	synctest.Wait()
}

func TestStreamTellsOfEachEventOnce(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		set         []func(*http.Request)
		want        []string
	}{
		{"all", "", nil, []string{"1", "2", "3"}},
		{"those after a number", "?after=1", nil, []string{"2", "3"}},
		{"those after the last that came before the connection broke", "?after=1", []func(*http.Request){with("Last-Event-ID", "2")}, []string{"3"}},
		{"none when all are known", "?after=3", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &fakeKubelet{}
				for i := range 3 {
					k.happens(api.Event{Message: fmt.Sprint("line\nbreak ", i)})
				}
				p := follow(newStreams(k), tt.query, tt.set...)
				defer p.leave()
				frames := p.frames()
				if len(frames) != len(tt.want)+1 || frames[len(frames)-1] != change {
					t.Fatalf("at the beginning came %q", frames)
				}
				for i, seq := range tt.want {
					if start := fmt.Sprintf("id: %s\nevent: event\ndata: {\"seq\":%s,", seq, seq); !strings.HasPrefix(frames[i], start) {
						t.Errorf("frame %q begins otherwise than %q", frames[i], start)
					}
				}
				if got := p.Header().Get("Content-Type"); got != "text/event-stream" {
					t.Errorf("its type is %q", got)
				}
				k.happens(api.Event{})
				synctest.Wait() // and no time passes
				if frames := p.frames(); len(frames) != 1 || !strings.HasPrefix(frames[0], "id: 4\n") {
					t.Errorf("of the next event came %q", frames)
				}
			})
		})
	}
}

func TestStreamOfAWrongNumber(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for _, set := range []func(*http.Request){func(*http.Request) {}, with("Last-Event-ID", "-1")} {
		if got := ask(t, s, "GET /stream?after=x", set); got.status != http.StatusBadRequest {
			t.Errorf("it answers %d %s", got.status, got.body)
		}
	}
}

// What a container says cannot pass for a word of the kubelet.
func TestStreamKeepsHostileWordsInTheirFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKubelet{}
		k.happens(api.Event{Message: "a\r\n\r\nevent: pods\ndata: x\n\nid: 99\n\n"})
		p := follow(newStreams(k), "")
		defer p.leave()
		if frames := p.frames(); len(frames) != 2 || strings.Count(frames[0], "\n") != 2 || strings.Contains(frames[0], "\r") {
			t.Errorf("there came %q", frames)
		}
	})
}

func TestStreamTellsOfEachChange(t *testing.T) {
	for name, do := range map[string]func(*fakeKubelet, *[]api.SourceStatus){
		"of a pod":            func(k *fakeKubelet, _ *[]api.SourceStatus) { k.statuses[0].Phase = api.PodRunning },
		"of health":           func(k *fakeKubelet, _ *[]api.SourceStatus) { k.health = errors.New("Docker is away") },
		"of what is not seen": func(k *fakeKubelet, _ *[]api.SourceStatus) { k.err = errors.New("Docker is away") },
		"of the load":         func(k *fakeKubelet, _ *[]api.SourceStatus) { k.load.Pulls = 1 },
		"of a source":         func(_ *fakeKubelet, sources *[]api.SourceStatus) { *sources = []api.SourceStatus{{Source: "http"}} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &fakeKubelet{statuses: []api.PodStatus{{Phase: api.PodPending}}}
				sources := []api.SourceStatus{{Source: "file"}}
				s := newStreams(k)
				s.opts.Sources = func() []api.SourceStatus {
					k.mu.Lock()
					defer k.mu.Unlock()
					return slices.Clone(sources)
				}
				p := follow(s, "")
				defer p.leave()
				p.frames()
				wait(2 * time.Second)
				if frames := p.frames(); frames != nil {
					t.Fatalf("before anything has changed came %q", frames)
				}
				k.change(func() { do(k, &sources) })
				wait(lookEvery)
				if frames := p.frames(); !slices.Equal(frames, []string{change}) {
					t.Errorf("there came %q", frames)
				}
			})
		})
	}
}

func TestStreamTellsOfManyChangesTwiceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKubelet{}
		p := follow(newStreams(k), "")
		defer p.leave()
		p.frames()
		changes := 0
		for range 300 {
			k.happens(api.Event{})
			k.change(func() { k.load.Workers++ })
			wait(10 * time.Millisecond)
		}
		wait(lookEvery) // the last of them too
		for _, frame := range p.frames() {
			if frame == change {
				changes++
			}
		}
		if changes < 5 || changes > 7 {
			t.Errorf("in 3.5 s of changes it told %d times of one", changes)
		}
		if wait(3 * time.Second); p.frames() != nil {
			t.Error("it goes on when nothing changes any more")
		}
	})
}

// In 2014 an answer ended after ten seconds. This one goes on, and is never silent so
// long that a page would take it for dead.
func TestStreamGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := follow(newStreams(&fakeKubelet{}), "")
		p.frames()
		for range 100 {
			if wait(speakEvery); !slices.Equal(p.frames(), []string{change}) || p.gone.Load() {
				t.Fatal("ten seconds have passed without a word")
			}
		}
		p.leave()
		if synctest.Wait(); !p.gone.Load() {
			t.Error("it goes on when the page has gone")
		}
	})
}

// A page whose connection takes nothing any more is let go.
func TestStreamEndsWhenNothingIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKubelet{}
		stuck := &stuckPage{page: page{ResponseRecorder: httptest.NewRecorder()}}
		go func() {
			newStreams(k).servePageStream(stuck, httptest.NewRequest("GET", "/stream", nil))
			stuck.gone.Store(true)
		}()
		if wait(2 * writeTimeout); !stuck.gone.Load() {
			t.Error("it waits for the page")
		}
	})
}

type stuckPage struct{ page }

func (p *stuckPage) Write([]byte) (int, error) {
	if p.deadline.IsZero() {
		select {}
	}
	time.Sleep(time.Until(p.deadline))
	return 0, os.ErrDeadlineExceeded
}

func TestStreamEndsWithItsConnection(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	ended := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		s.servePageStream(w, r)
	}))
	defer front.Close()
	resp, err := http.Get(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the page has gone, and the stream is there")
	}
}

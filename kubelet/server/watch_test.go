package server

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
)

// screen collects what is written to it.
type screen struct {
	mu   sync.Mutex
	text string
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(text)
	return len(text), nil
}

// take returns what was written since the last time.
func (s *screen) take() (text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, s.text = s.text, ""
	return text
}

// A terminal is drawn anew each second, since the times count on. Elsewhere there is a table for each change.
func TestWatch(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		pod := func(phase api.PodPhase) []api.PodStatus {
			return []api.PodStatus{{Name: "web", Phase: phase, Containers: []api.ContainerStatus{{State: runningState(time.Now(), "")}}}}
		}
		k := &fakeKubelet{}
		inBubble(t, k, func(t *testing.T, s *testServer) {
			k.statuses = pod(api.PodRunning)
			client, err := NewClient("127.0.0.1", 10250, "", "")
			if err != nil {
				t.Fatal(err)
			}
			var away atomic.Bool
			away.Store(true)
			client.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				if away.Load() {
					return nil, syscall.ECONNREFUSED
				}
				return s.listener.(*pipes).dial(), nil
			}
			var out screen
			if err := client.Watch(t.Context(), &out, terminal); err == nil || out.take() != "" {
				t.Errorf("without a kubelet it returns %v, or prints something", err)
			}
			away.Store(false)
			ctx, interrupt := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- client.Watch(ctx, &out, terminal) }()
			for _, step := range []struct {
				name string
				do   func()
				want string // what is added
			}{
				{"at first", func() {}, "running  0         3s"},
				{"a pod fails", func() { k.set(func() { k.statuses = pod(api.PodFailing) }) }, "not up: 1 of 1 pods"},
				{"the kubelet goes", func() { away.Store(true) }, "no kubelet answers"},
				{"it is back", func() { away.Store(false) }, "not up: 1 of 1 pods"},
			} {
				step.do()
				time.Sleep(3*watchInterval + watchInterval/5) // never at the time of a request
				got := out.take()
				if !terminal {
					step.want = strings.Replace(step.want, "3s", "0s", 1)
				}
				drawn := strings.Count(got, "POD ") + strings.Count(got, "no kubelet")
				if !strings.Contains(got, step.want) || strings.Contains(got, clearScreen) != terminal || !terminal && drawn != 1 {
					t.Errorf("on a terminal: %v, %s: %d tables, without %q:\n%s", terminal, step.name, drawn, step.want, got)
				}
			}
			interrupt()
			if err := <-ended; err != nil {
				t.Errorf("the end of the context ends it with %v", err)
			}
		})
	}
}

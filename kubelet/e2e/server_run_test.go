package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// leavesNothing checks that the kubelet has no more goroutines than before, once what
// was done is over.
func (w *window) leavesNothing(what string, do func()) {
	w.h.t.Helper()
	before, err := w.goroutines()
	if err != nil {
		w.h.t.Fatal(err)
	}
	do()
	http.DefaultClient.CloseIdleConnections()
	w.h.eventually(what+" leave no goroutine in the kubelet", func() error {
		after, err := w.goroutines()
		if err == nil && after > before+4 { // it is alive, and has some work now and then
			err = fmt.Errorf("it had %d before, and has %d", before, after)
		}
		return err
	})
}

// processes counts those that run in a container.
func (h *host) processes(id string) (int, error) {
	top, err := h.docker.TopContainer(id, "")
	return len(top.Processes), err
}

func (h *host) awaitProcesses(id string, want int) {
	h.t.Helper()
	h.eventually(fmt.Sprintf("the container has %d processes", want), func() error {
		n, err := h.processes(id)
		if err == nil && n != want {
			err = fmt.Errorf("it has %d", n)
		}
		return err
	})
}

func TestIntegrationRunInAContainer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", sleeper("web"))
	w := h.startServing()
	h.eventually("the pod is up", func() error { return h.sleepersAre("web") })
	const path = "/run/default/web/main?cmd=/hello&cmd="
	for _, test := range []struct{ command, body, exitCode string }{
		{"flood&cmd=-lines&cmd=2&cmd=-bytes&cmd=8", "1 xxxxx\n2 xxxxx\n", "0"},
		{"exit&cmd=3", "", "3"},
		{"cat&cmd=/no such file", "hello cat: open /no such file: no such file or directory\n", "1"},
	} {
		a := w.mustAsk("POST", path+strings.ReplaceAll(test.command, " ", "%20"))
		if a.status != http.StatusOK || a.body != test.body || a.trailer.Get("Exit-Code") != test.exitCode {
			t.Errorf("%s: %d, %q, exit code %q", test.command, a.status, a.body, a.trailer.Get("Exit-Code"))
		}
	}
	if a := w.mustAsk("GET", path+"exit&cmd=0"); a.status != http.StatusMethodNotAllowed {
		t.Errorf("with GET: %d, %q", a.status, a.body)
	}
}

func TestIntegrationACommandEndsWithItsClient(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", sleeper("web"))
	w := h.startServing()
	h.eventually("the pod is up", func() error { return h.sleepersAre("web") })
	id := h.live("web", "main").id
	w.leavesNothing("commands whose clients go away", func() {
		ctx, goAway := context.WithCancel(t.Context())
		defer goAway()
		for range 5 {
			// One prints on and on, and one is silent: the kubelet has nothing to send.
			for _, command := range []string{"sleep", "flood&cmd=-lines&cmd=1000000&cmd=-every&cmd=1ms"} {
				go func() {
					resp, err := w.request(ctx, "POST", "/run/default/web/main?cmd=/hello&cmd="+command)
					if err == nil {
						<-ctx.Done()
						resp.Body.Close()
					}
				}()
			}
		}
		h.awaitProcesses(id, 11)
		goAway()
		h.awaitProcesses(id, 1)
	})
	if now := h.live("web", "main").id; now != id {
		t.Errorf("the container was replaced\n%s", h.describe())
	}
}

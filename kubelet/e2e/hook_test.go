package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"
)

// hookServer is a web server of the test that hooks ask. So the test knows when a
// hook runs, and says how it ends.
type hookServer struct {
	t     *testing.T
	port  int
	calls chan hookCall
}

// hookCall is a hook that waits for its answer.
type hookCall struct {
	t       *testing.T
	answers chan<- int      // HTTP status
	cut     <-chan struct{} // closed when the kubelet has given it up
}

func newHookServer(t *testing.T) *hookServer {
	s := &hookServer{t: t, calls: make(chan hookCall)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers, cut := make(chan int), r.Context().Done()
		select {
		case s.calls <- hookCall{t, answers, cut}:
		case <-cut:
			return
		}
		select {
		case status := <-answers:
			w.WriteHeader(status)
		case <-cut:
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.port = server.Listener.Addr().(*net.TCPAddr).Port
	return s
}

// hook is the manifest's part that makes a hook ask this server. Hooks run in the
// kubelet's network.
func (s *hookServer) hook(name string) string {
	return fmt.Sprintf("lifecycle: {%s: {httpGet: {host: 127.0.0.1, port: %d, path: /}}}", name, s.port)
}

// next waits for the next call.
func (s *hookServer) next() hookCall {
	s.t.Helper()
	select {
	case call := <-s.calls:
		return call
	case <-time.After(patience):
		s.t.Fatal("no hook has asked")
		panic("unreachable")
	}
}

// answer ends a hook well, or badly.
func (c hookCall) answer(status int) {
	c.t.Helper()
	select {
	case c.answers <- status:
	case <-c.cut:
		c.t.Error("the hook was cut short")
	}
}

// mustBeCut waits until the kubelet has given up a hook.
func (c hookCall) mustBeCut() {
	c.t.Helper()
	select {
	case <-c.cut:
	case <-time.After(patience):
		c.t.Fatal("the hook was not cut short")
	}
}

// goesOn says that the kubelet waits for the answer.
func (c hookCall) goesOn() bool {
	select {
	case <-c.cut:
		return false
	default:
		return true
	}
}

// wholeAndDone checks a pod of one container of which the postStart has succeeded.
func (h *host) wholeAndDone(id string) error {
	if err := h.whole(id, "main"); err != nil {
		return err
	}
	c, err := h.one(id, "main")
	if err == nil && c.awaitsHook {
		err = fmt.Errorf("%s has the name of one whose hook is still to run", c)
	}
	return err
}

func TestIntegrationPostStartRunsOnceAfterEachStart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	diary := filepath.Join(dir, "pod")
	h.write("pod.yaml", serverWith("pod", dir, "lifecycle: {postStart: {exec: {command: [/hello, append, -for, 0s, /data/pod, postStart]}}}"))
	p := h.start()
	h.eventually("the pod is whole", func() error { return h.wholeAndDone("pod") })
	first := h.live("pod", "main")

	p.stop()
	p = h.start()
	p.says("pod pod.default.file", "is up")
	if now := h.live("pod", "main"); now.id != first.id || now.name != first.name {
		t.Errorf("the next kubelet has changed the container: %s, before %s", now, first)
	}
	if err := fileHolds(diary, "postStart\n"); err != nil {
		t.Error(err)
	}

	h.killAndAwait("pod")
	h.eventually("the pod is whole again", func() error { return h.wholeAndDone("pod") })
	if err := fileHolds(diary, "postStart\npostStart\n"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationKillTheKubeletInAPostStart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	hooks := newHookServer(t)
	h.write("pod.yaml", serverWith("pod", t.TempDir(), hooks.hook("postStart")))
	p := h.start()
	hook := hooks.next()
	began := h.live("pod", "main")
	if began.state != "running" || !began.awaitsHook {
		t.Errorf("the hook runs, and its container is %s", began)
	}
	if err := p.shows("pod/main", "running", "its postStart hook has not succeeded yet"); err != nil {
		t.Error(err)
	}
	p.kill()
	hook.mustBeCut()

	p = h.start()
	hooks.next().answer(http.StatusNoContent)
	h.eventually("the pod is whole", func() error { return h.wholeAndDone("pod") })
	p.says("pod pod.default.file", "is up")
	if now := h.newest("pod", "main"); now.id != began.id || now.attempt != "1" {
		t.Errorf("the container is %s, before %s", now, began)
	}
}

func TestIntegrationPostStartThatFails(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	const hook = "lifecycle: {postStart: {exec: {command: [/hello, cat, /no-such-file]}}}"
	h.write("always.yaml", serverWith("always", dir, hook))
	h.write("never.yaml", "restartPolicy: {never: {}}\n"+serverWith("never", dir, hook))
	p := h.start()
	words := []string{"its postStart hook failed: ", `run "/hello": exit code 1: hello cat: open /no-such-file`}

	h.eventually("the pod that runs once has failed", func() error { return p.shows("never/", "failed") })
	if err := p.shows("never/main", "terminated", append(words, "HookFailed")...); err != nil {
		t.Error(err)
	}
	if err := h.exited(h.newest("never", "main")); err != nil {
		t.Error(err)
	}

	h.eventually("the other one is started again and again", func() error {
		if c := h.newest("always", "main"); c.attempt < "3" || c.labels["kubelet14.quick_ends"] < "2" {
			return fmt.Errorf("the newest container is %s", c)
		}
		return nil
	})
	h.eventually("it is told why it waits", func() error {
		return p.shows("always/main", "waiting", append(words, "BackOff")...)
	})
	for _, c := range h.containers() {
		if c.of == "main" && !c.awaitsHook {
			t.Errorf("%s has the name of one whose hook has succeeded", c)
		}
	}
}

func TestIntegrationPostStartThatHangs(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	hooks := newHookServer(t)
	edits := 0
	edit := func() (hook hookCall) {
		edits++
		h.write("pod.yaml", serverWith("pod", t.TempDir(), hooks.hook("postStart"), fmt.Sprintf("env: [{name: EDIT, value: '%d'}]", edits)))
		return hooks.next()
	}
	p := h.start()
	var hook hookCall
	h.meanwhile(func() (goesOn func() bool) {
		hook = edit()
		return hook.goesOn
	})
	old := h.live("pod", "main")

	newHook := edit()
	hook.mustBeCut()
	h.eventually("the container that was edited is stopped", func() error {
		return errors.Join(h.exited(old), h.replaced("pod", "main", old))
	})
	h.remove("pod.yaml")
	newHook.mustBeCut()
	h.eventually("the pod goes", func() error { return h.gone("pod") })
	if p.log.hasLine([]string{"its postStart hook failed"}) {
		t.Error("a hook was not interrupted, it ran into its time limit")
	}
}

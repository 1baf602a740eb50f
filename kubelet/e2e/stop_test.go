package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// The diary of a container tells what came first: its hook, or its stop.
func TestIntegrationPreStopRunsBeforeTheStop(t *testing.T) {
	pods := map[string]struct{ hook, diary string }{
		"exec": {"exec: {command: [/hello, append, -for, 0s, /data/exec, preStop]}", "preStop\n"},
		"http": {"httpGet: {path: /healthz, port: http}", "GET /healthz\n"},
	}
	type world struct {
		*host
		p   *process
		dir string
	}
	write := func(w *world, more ...string) {
		for id, pod := range pods {
			w.write(id+".yaml", serverWith(id, w.dir, append(more, "lifecycle: {preStop: {"+pod.hook+"}}")...))
		}
	}
	remove := func(w *world) {
		for id := range pods {
			w.remove(id + ".yaml")
		}
	}
	areGone := func(w *world) {
		w.t.Helper()
		w.eventually("the pods go", func() error { return errors.Join(w.gone("exec"), w.gone("http")) })
	}
	for name, end := range map[string]func(w *world){
		"edit": func(w *world) {
			exec, http := w.live("exec", "main"), w.live("http", "main")
			write(w, "env: [{name: EDIT, value: new}]")
			w.eventually("the containers are replaced", func() error {
				return errors.Join(w.replaced("exec", "main", exec), w.replaced("http", "main", http))
			})
		},
		"removal": func(w *world) {
			remove(w)
			areGone(w)
		},
		"cleanup": func(w *world) {
			w.p.stop()
			if r := w.run("-cleanup"); r.exit != 0 {
				w.t.Errorf("-cleanup: exit %d\n%s", r.exit, r.stderr)
			}
		},
		"removal while no kubelet runs": func(w *world) {
			w.p.stop()
			remove(w)
			w.p = w.start()
			areGone(w)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{host: newHost(t), dir: t.TempDir()}
			write(w)
			w.p = w.start()
			for id := range pods {
				w.mustServe(id, "/env")
			}
			end(w)
			for id, pod := range pods {
				if err := fileHolds(filepath.Join(w.dir, id), "GET /env\n"+pod.diary+"asked to stop\n"); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestIntegrationPreStopThatHangsOrFailsSavesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	hooks := newHookServer(t)
	pods := map[string]struct {
		hook string
		code int // that the container ends with
	}{
		"hanging": {hooks.hook("preStop"), 0},
		"deaf":    {hooks.hook("preStop"), 137}, // its stop signal does nothing, and it is killed
		"failing": {"lifecycle: {preStop: {exec: {command: [/hello, cat, /no-such-file]}}}", 0},
	}
	write := func(more ...string) {
		for id, pod := range pods {
			text := serverWith(id, dir, append(more, pod.hook)...)
			if id == "deaf" && len(more) == 0 { // as it is at first
				text = strings.ReplaceAll(text, "serve,", "serve, -ignore-term,")
			}
			h.write(id+".yaml", text)
		}
	}
	write()
	p := h.start()
	old := map[string]container{}
	for id := range pods {
		h.mustServe(id, "/env")
		old[id] = h.live(id, "main")
	}

	write("env: [{name: EDIT, value: new}]")
	h.eventually("a hook that fails does not save its container", func() error { return h.replaced("failing", "main", old["failing"]) })
	p.says("failing.default.file", "its preStop hook failed", "exit code 1: hello cat: open /no-such-file")
	one, other := hooks.next(), hooks.next()
	one.mustBeCut()
	other.mustBeCut()
	h.eventually("one that hangs does not either", func() error {
		return errors.Join(h.replaced("hanging", "main", old["hanging"]), h.replaced("deaf", "main", old["deaf"]))
	})
	for id, pod := range pods {
		detail, err := h.inspect(old[id].id)
		if err != nil || detail.State.ExitCode != pod.code {
			t.Errorf("pod %s: it ended with %d, want %d; %v", id, detail.State.ExitCode, pod.code, err)
		}
		if err := fileHolds(filepath.Join(dir, id), "GET /env\nasked to stop\n"); err != nil {
			t.Error(err)
		}
	}
}

// The next kubelet does not know how far the last one has come: it asks again.
func TestIntegrationKillTheKubeletInAStop(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	hooks := newHookServer(t)
	diary := filepath.Join(dir, "hooked")
	deafDiary := filepath.Join(dir, "deaf")
	h.write("hooked.yaml", serverWith("hooked", dir, hooks.hook("preStop")))
	h.write("deaf.yaml", strings.ReplaceAll(serverWith("deaf", dir), "serve,", "serve, -ignore-term,"))
	p := h.start()
	h.mustServe("hooked", "/env")
	h.mustServe("deaf", "/env")

	h.remove("hooked.yaml")
	h.remove("deaf.yaml")
	hook := hooks.next()
	h.eventually("the other one is asked to stop", func() error { return fileHolds(deafDiary, "GET /env\nasked to stop\n") })
	p.kill()
	hook.mustBeCut()
	if err := fileHolds(diary, "GET /env\n"); err != nil {
		t.Errorf("it was stopped before its hook was done: %v", err)
	}

	h.start()
	hooks.next().answer(http.StatusNoContent)
	h.eventually("the pods go", func() error { return errors.Join(h.gone("hooked"), h.gone("deaf")) })
	if err := fileHolds(diary, "GET /env\nasked to stop\n"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationNetworkContainerIsStoppedLast(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	hooks := newHookServer(t)
	pod := serverWith("pod", dir, hooks.hook("preStop"))
	h.write("pod.yaml", pod)
	h.start()
	h.mustServe("pod", "/env")
	app, net := h.live("pod", "main"), h.live("pod", "net")

	// Another port of the host is another network container.
	h.write("pod.yaml", strings.ReplaceAll(pod, "8080}]", fmt.Sprintf("8080, hostPort: %d}]", freePort(t))))
	hook := hooks.next()
	if now := h.live("pod", "net"); now.id != net.id {
		t.Errorf("while a hook of the pod runs its network container is %s, before %s", now, net)
	}
	hook.answer(http.StatusOK)
	h.eventually("the pod is whole again", func() error {
		return errors.Join(h.whole("pod", "main"), h.replaced("pod", "net", net))
	})
	oldApp, err := h.inspect(app.id)
	if err != nil {
		t.Fatal(err)
	}
	oldNet, err := h.inspect(net.id)
	if err != nil {
		t.Fatal(err)
	}
	if a, n := oldApp.State.FinishedAt, oldNet.State.FinishedAt; a.After(n) {
		t.Errorf("the network container ended at %v, the other at %v", n, a)
	}

	h.mustServe("pod", "/env")
	net = h.live("pod", "net")
	h.remove("pod.yaml")
	hook = hooks.next()
	if now := h.live("pod", "net"); now.id != net.id {
		t.Errorf("while a hook of the removed pod runs its network container is %s, before %s", now, net)
	}
	hook.answer(http.StatusOK)
	h.eventually("the pod goes", func() error { return h.gone("pod") })
}

func TestIntegrationAStopThatTakesItsTimeHoldsUpNoOtherPod(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	hooks := newHookServer(t)
	h.start()
	h.meanwhile(func() (goesOn func() bool) {
		h.eventually("the pods of the last time have gone", func() error { return errors.Join(h.gone("deaf"), h.gone("hooked")) })
		h.write("deaf.yaml", strings.ReplaceAll(serverWith("deaf", dir), "serve,", "serve, -ignore-term,"))
		h.write("hooked.yaml", serverWith("hooked", dir, hooks.hook("preStop")))
		h.mustServe("deaf", "/env")
		h.mustServe("hooked", "/env")
		before := read(filepath.Join(dir, "deaf"))
		h.remove("deaf.yaml")
		h.remove("hooked.yaml")
		hook := hooks.next()
		h.eventually("the container is asked to stop", func() error { return fileHolds(filepath.Join(dir, "deaf"), before+"asked to stop\n") })
		return func() bool {
			_, err := h.one("deaf", "main")
			return err == nil && hook.goesOn()
		}
	})
}

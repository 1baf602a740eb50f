package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestIntegrationPostStart(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	diary := filepath.Join(dir, "pod")
	const failing = "lifecycle: {postStart: {exec: {command: [/hello, cat, /no-such-file]}}}"
	h.write("pod", serverWith("pod", dir, "lifecycle: {postStart: {exec: {command: [/hello, append, -for, 0s, /data/pod, postStart]}}}"))
	h.write("always", serverWith("always", dir, failing))
	h.write("never", "restartPolicy: {never: {}}\n"+serverWith("never", dir, failing))
	p := h.start()

	// One that fails ends its container.
	words := []string{"postStart hook failed: ", "exit code 1", "/no-such-file"}
	p.awaitShows("never", "failed")
	p.awaitShows("never/main", "terminated", append(words, "HookFailed: ")...)
	h.check(h.exited(h.newest("never", "main")))
	h.await("the other pod is started again and again", func() error {
		if c := h.newest("always", "main"); c.attempt < 3 {
			return fmt.Errorf("the newest container is %s", c)
		}
		return nil
	})
	p.awaitShows("always/main", "waiting", append(words, "BackOff: ")...)

	// One that succeeds runs once after each start, and no next kubelet repeats it.
	p.awaitUp("pod")
	before := map[string]string{}
	for _, c := range h.of("pod", "") {
		before[c.name] = c.id
	}
	p.stop()
	h.remove("always", "never")
	p = h.start()
	p.awaitUp("pod")
	h.awaitGone("always", "never")
	h.mustBe("after a restart", before)
	h.check(fileHolds(diary, "postStart\n"))
	h.mend("pod")
	h.await("the hook has run again", func() error { return fileHolds(diary, "postStart\npostStart\n") })
}

// The diary of a container tells what came first: its hook, or its stop.
func TestIntegrationPreStopRunsBeforeTheStop(t *testing.T) {
	pods := map[string]struct{ hook, diary string }{
		"exec": {"exec: {command: [/hello, append, -for, 0s, /data/exec, preStop]}", "preStop\n"},
		"http": {"httpGet: {path: /healthz, port: http}", "GET /healthz\n"},
	}
	for _, end := range []string{"edit", "removal", "cleanup", "removal while no kubelet runs"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			h, dir := newHost(t), t.TempDir()
			write := func(more ...string) {
				for id, pod := range pods {
					h.write(id, serverWith(id, dir, append(more, "lifecycle: {preStop: {"+pod.hook+"}}")...))
				}
			}
			write()
			p := h.start()
			for id := range pods {
				h.mustServe(id, "/env")
			}
			switch end {
			case "edit":
				exec, http := h.live("exec", "main"), h.live("http", "main")
				write("env: [{name: EDIT, value: new}]")
				h.awaitReplaced(exec)
				h.awaitReplaced(http)
			case "removal":
				h.remove("exec", "http")
				h.awaitGone("exec", "http")
			case "cleanup":
				p.stop()
				h.mustRun("-cleanup")
			default:
				p.stop()
				h.remove("exec", "http")
				h.start()
				h.awaitGone("exec", "http")
			}
			for id, pod := range pods {
				h.check(fileHolds(filepath.Join(dir, id), "GET /env\n"+pod.diary+"asked to stop\n"))
			}
		})
	}
}

func TestIntegrationAPreStopThatHangsOrFails(t *testing.T) {
	t.Parallel()
	h, dir, hooks := newHost(t), t.TempDir(), newHookServer(t)
	pods := map[string]struct {
		hook string
		code int // with which the container ends
	}{
		"hanging": {hooks.hook("preStop"), 0},
		"deaf":    {hooks.hook("preStop"), 137}, // SIGTERM does nothing, so it is killed
		"failing": {"lifecycle: {preStop: {exec: {command: [/hello, cat, /no-such-file]}}}", 0},
	}
	write := func(more ...string) {
		for id, pod := range pods {
			text := serverWith(id, dir, append(more, pod.hook)...)
			if id == "deaf" && len(more) == 0 { // as it is at first
				text = strings.ReplaceAll(text, "serve,", "serve, -ignore-term,")
			}
			h.write(id, text)
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
	h.awaitReplaced(old["failing"])
	p.awaitLog("failing.default.file", "preStop hook failed", "exit code 1", "/no-such-file")
	one, other := hooks.next(), hooks.next()
	one.mustBeCut()
	other.mustBeCut()
	for id, pod := range pods {
		h.awaitReplaced(old[id])
		if code := h.mustInspect(old[id].id).State.ExitCode; code != pod.code {
			t.Errorf("pod %s: it ended with %d, want %d", id, code, pod.code)
		}
		h.check(fileHolds(filepath.Join(dir, id), "GET /env\nasked to stop\n"))
	}
}

// The next kubelet does not know how far the last one has come: it asks again.
func TestIntegrationKillTheKubeletInAStop(t *testing.T) {
	t.Parallel()
	h, dir, hooks := newHost(t), t.TempDir(), newHookServer(t)
	hooked := filepath.Join(dir, "hooked")
	h.write("hooked", serverWith("hooked", dir, hooks.hook("preStop")))
	h.write("deaf", strings.ReplaceAll(serverWith("deaf", dir), "serve,", "serve, -ignore-term,"))
	p := h.start()
	h.mustServe("hooked", "/env")
	h.mustServe("deaf", "/env")
	h.remove("hooked", "deaf")
	hook := hooks.next()
	h.await("the other one is asked to stop", func() error { return fileHolds(filepath.Join(dir, "deaf"), "GET /env\nasked to stop\n") })
	p.kill()
	hook.mustBeCut()
	if err := fileHolds(hooked, "GET /env\n"); err != nil {
		t.Errorf("it was stopped before its hook was done: %v", err)
	}
	h.start()
	hooks.next().answer(http.StatusNoContent)
	h.awaitGone("hooked", "deaf")
	h.check(fileHolds(hooked, "GET /env\nasked to stop\n"))
}

func TestIntegrationTheNetworkContainerIsStoppedLast(t *testing.T) {
	t.Parallel()
	h, hooks := newHost(t), newHookServer(t)
	pod := serverWith("pod", t.TempDir(), hooks.hook("preStop"))
	h.write("pod", pod)
	h.start()
	h.mustServe("pod", "/env")
	app, net := h.live("pod", "main"), h.live("pod", "net")

	// Another port of the host is another network container.
	h.write("pod", strings.ReplaceAll(pod, "8080}]", fmt.Sprintf("8080, hostPort: %d}]", freePort(t))))
	hook := hooks.next()
	h.must(h.whole("pod", "main"))
	hook.answer(http.StatusOK)
	h.await("the pod is whole again", func() error { return errors.Join(h.up("pod"), h.replaced(net)) })
	if a, n := h.mustInspect(app.id).State.FinishedAt, h.mustInspect(net.id).State.FinishedAt; a.After(n) {
		t.Errorf("the network container ended at %v, the other at %v", n, a)
	}
	h.mustServe("pod", "/env")
	net = h.live("pod", "net")
	h.remove("pod")
	hook = hooks.next()
	if now := h.live("pod", "net"); now.id != net.id {
		t.Errorf("while a hook of the removed pod runs its network container is %s, before %s", now, net)
	}
	hook.answer(http.StatusOK)
	h.awaitGone("pod")
}

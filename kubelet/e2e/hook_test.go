package e2e

import (
	"errors"
	"fmt"
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
	before := h.ids()
	p.stop()
	h.remove("always", "never")
	p = h.start()
	p.awaitUp("pod")
	h.awaitGone("always", "never")
	h.mustBe("after a restart", before, "always", "never")
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

// The next kubelet does not know how far the last one has come: it asks again. The hook
// hangs, until its time is over.
func TestIntegrationKillTheKubeletInAStop(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	h.write("hooked", serverWith("hooked", dir, "lifecycle: {preStop: {httpGet: {path: /hang, port: http}}}"))
	h.write("deaf", strings.ReplaceAll(serverWith("deaf", dir), "serve,", "serve, -ignore-term,"))
	p := h.start()
	h.mustServe("hooked", "/env")
	h.mustServe("deaf", "/env")
	h.remove("hooked", "deaf")
	h.await("one hook runs, and one container is asked to stop", func() error {
		return errors.Join(fileHolds(dir+"/hooked", "GET /env\nGET /hang\n"), fileHolds(dir+"/deaf", "GET /env\nasked to stop\n"))
	})
	p.kill()
	h.live("hooked", "main")
	h.writeSleepers("other")
	h.start()
	h.awaitUp("other") // it waits for neither
	h.awaitGone("hooked", "deaf")
	h.check(fileHolds(filepath.Join(dir, "hooked"), "GET /env\nGET /hang\nGET /hang\nasked to stop\n"))
}

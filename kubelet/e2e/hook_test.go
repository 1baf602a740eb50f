package e2e

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"
)

// The diary of a container shows what came first, its hook or its stop.
func TestIntegrationPreStopRunsBeforeTheStop(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	pods := map[string]struct{ hook, diary string }{
		"exec": {"exec: {command: [/hello, append, -for, 0s, /data/exec, preStop]}", "preStop\n"},
		"http": {"httpGet: {path: /healthz, port: http}", "GET /healthz\n"},
	}
	write := func(more ...string) {
		for id, pod := range pods {
			h.Write(id, hosttest.ServerWith(id, dir, append(more, "lifecycle: {preStop: {"+pod.hook+"}}")...))
		}
	}
	serve := func() {
		for id := range pods {
			h.MustServe(id, "/env")
		}
	}
	write()
	p := h.Start()
	serve()
	exec, http := h.Live("exec", "main"), h.Live("http", "main")
	write("env: [{name: EDIT, value: new}]")
	h.AwaitReplaced(exec)
	h.AwaitReplaced(http)
	serve()
	p.Stop()
	h.MustRun("-cleanup")
	for id, pod := range pods {
		h.Check(hosttest.FileHolds(filepath.Join(dir, id), strings.Repeat("GET /env\n"+pod.diary+"asked to stop\n", 2)))
	}
}

// The next kubelet does not know how far the last one came, so it runs the hook again. The hook hangs until its time is
// up.
func TestIntegrationKillTheKubeletInAStop(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	h.Write("hooked", hosttest.ServerWith("hooked", dir, "lifecycle: {preStop: {httpGet: {path: /hang, port: http}}}"))
	h.Write("deaf", strings.ReplaceAll(hosttest.ServerWith("deaf", dir), "serve,", "serve, -ignore-term,"))
	p := h.Start("-file_check_frequency=1s") // the wait before all pods are removed
	h.MustServe("hooked", "/env")
	h.MustServe("deaf", "/env")
	h.Remove("hooked", "deaf")
	h.Await("one hook runs, and one container is asked to stop", func() error {
		return errors.Join(hosttest.FileHolds(dir+"/hooked", "GET /env\nGET /hang\n"), hosttest.FileHolds(dir+"/deaf", "GET /env\nasked to stop\n"))
	})
	p.Kill()
	h.Live("hooked", "main")
	h.WriteSleepers("other")
	h.Start()
	h.AwaitUp("other") // it waits for neither
	h.AwaitGone("hooked", "deaf")
	h.Check(hosttest.FileHolds(filepath.Join(dir, "hooked"), "GET /env\nGET /hang\nGET /hang\nasked to stop\n"))
}

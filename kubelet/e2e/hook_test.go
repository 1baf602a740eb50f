package e2e

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// The diary of a container tells what came first: its hook, or its stop.
func TestIntegrationPreStopRunsBeforeTheStop(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	pods := map[string]struct{ hook, diary string }{
		"exec": {"exec: {command: [/hello, append, -for, 0s, /data/exec, preStop]}", "preStop\n"},
		"http": {"httpGet: {path: /healthz, port: http}", "GET /healthz\n"},
	}
	write := func(more ...string) {
		for id, pod := range pods {
			h.write(id, serverWith(id, dir, append(more, "lifecycle: {preStop: {"+pod.hook+"}}")...))
		}
	}
	serve := func() {
		for id := range pods {
			h.mustServe(id, "/env")
		}
	}
	write()
	p := h.start()
	serve()
	exec, http := h.live("exec", "main"), h.live("http", "main")
	write("env: [{name: EDIT, value: new}]")
	h.awaitReplaced(exec)
	h.awaitReplaced(http)
	serve()
	p.stop()
	h.mustRun("-cleanup")
	for id, pod := range pods {
		h.check(fileHolds(filepath.Join(dir, id), strings.Repeat("GET /env\n"+pod.diary+"asked to stop\n", 2)))
	}
}

// The next kubelet does not know how far the last one has come: it asks again. The hook
// hangs, until its time is over.
func TestIntegrationKillTheKubeletInAStop(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	h.write("hooked", serverWith("hooked", dir, "lifecycle: {preStop: {httpGet: {path: /hang, port: http}}}"))
	h.write("deaf", strings.ReplaceAll(serverWith("deaf", dir), "serve,", "serve, -ignore-term,"))
	p := h.start("-file_check_frequency=1s") // the wait before all pods are removed
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

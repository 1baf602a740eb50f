package e2e

import (
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

package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// isStopped checks that nothing of a pod runs, and that the kubelet says so and finds nothing wrong with it.
func isStopped(h *host, p *hosttest.Process, id string) error {
	for _, c := range h.Of(id, "") {
		if c.Live() {
			return fmt.Errorf("%s runs", c)
		}
	}
	r := h.Run("ps")
	if r.Exit != 0 {
		return fmt.Errorf("ps exits with %d: %s%s", r.Exit, r.Stdout, r.Stderr)
	}
	return errors.Join(p.Shows(id, "stopped", "stopped by "), unittest.HasWords(r.Stdout, hosttest.FullName(id), "stopped by", "since 20"))
}

// A stopped pod keeps its volumes, over the kill of the kubelet, an edit, and Docker's own start of its containers. Its removal
// forgets that it was stopped.
func TestIntegrationAStoppedPod(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	const hook = "    lifecycle: {preStop: {exec: {command: [/hello, append, -for, 0s, /data/log, stopped]}}}\n"
	h.Write("pod", hosttest.EmptyDirPod()+hook)
	h.WriteSleepers("other")
	p := h.Start()
	p.AwaitUp("pod", "other")
	log := filepath.Join(h.EmptyDirs(h.UID("pod")), "data", "log")
	h.Await("it writes", func() error { return hosttest.FileHolds(log, "begun\n") })
	h.Run("stop", "pdo").MustExit(t, 1, "there is no pod pdo")
	h.Run("stop", "other", "pod").MustExit(t, 2, "unexpected argument")
	other := h.Live("other", "main").ID
	h.MustRun("stop", "pod")
	h.Must(isStopped(h, p, "pod"))
	h.Must(hosttest.FileHolds(log, "begun\nstopped\n"))

	p.Kill()
	h.Write("pod", strings.Replace(hosttest.EmptyDirPod()+hook, `"1"`, `"2"`, 1))
	for _, name := range []string{"net", "main"} {
		h.Must(h.Docker.StartContainer(h.Newest("pod", name).ID, nil))
	}
	p = h.Start()
	p.AwaitLog("pod.default.file is stopped")
	h.Mend("other")
	h.Await("it is still stopped", func() error { return isStopped(h, p, "pod") })
	if h.Newest("other", "main").ID == other {
		t.Error("the kubelet has done nothing meanwhile")
	}
	h.MustRun("start", "pod").MustExit(t, 0, "pod pod.default.file is running")
	h.Must(h.Whole("pod", "main", "writer"))
	h.Await("the writer has its data", func() error { return hosttest.FileHolds(log, "begun\nstopped\nbegun\n") })
	if env := h.MustInspect(h.Live("pod", "main").ID).Config.Env; !strings.Contains(fmt.Sprint(env), "ROUND=2") {
		t.Errorf("it has the environment %q", env)
	}
	h.MustRun("start", "pod").MustExit(t, 0, "is not stopped")

	h.MustRun("stop", "pod")
	h.Remove("pod")
	h.AwaitGone("pod")
	h.Await("its wish is forgotten", func() error { return hosttest.DirHolds(filepath.Join(h.RootDir, "wishes", "default.file")) })
	h.Write("pod", hosttest.EmptyDirPod())
	h.Await("it starts", func() error { return h.Whole("pod", "main", "writer") })
}

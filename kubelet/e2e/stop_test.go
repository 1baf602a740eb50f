package e2e

import (
	"errors"
	"fmt"
	"os/exec"
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

// What is stopped stays so over every end of Docker, with what runs beside it.
func TestIntegrationLongAStoppedPodAndDocker(t *testing.T) {
	t.Parallel()
	d := hosttest.NewDockerd(t)
	d.Start()
	h := &host{Host: hosttest.NewOn(t, d.Endpoint)}
	h.WriteSleepers("web", "other")
	p := h.Start()
	h.AwaitUp("web", "other")
	h.MustRun("stop", "web")
	for _, signal := range []string{"TERM", "KILL"} {
		d.End(signal)
		d.Start()
		h.AwaitUp("other")
		h.Await("the kubelet has looked", func() error { return isStopped(h, p, "web") })
	}
	h.MustRun("start", "web")
	h.Must(h.Up("web"))
}

// A restart by the word starts every container of a pod once more, whatever its policy, and completes when the kubelet is killed.
func TestIntegrationARestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	pods := map[string]struct {
		policy, flags string
		runs          bool
	}{
		"always": {"always", "", true}, "never": {"never", "", true}, "never-done": {"never", `, "-for", "1ms"`, false},
		"never-failed": {"never", `, "-for", "1ms", "-exit", "3"`, false}, "on-failure": {"onFailure", "", true}, "done": {"onFailure", `, "-for", "1ms"`, false},
	}
	for id, pod := range pods {
		h.Write(id, noting(id, pod.policy, dir, pod.flags, "main", "side"))
	}
	p := h.Start()
	are := func(times int) error {
		for id, pod := range pods {
			err := h.Ended(id)
			if pod.runs {
				err = h.Whole(id, "main", "side")
			}
			if err := errors.Join(err, starts(dir, id, "main", times), starts(dir, id, "side", times)); err != nil {
				return err
			}
		}
		return nil
	}
	h.Await("they start", func() error { return are(1) })
	for id := range pods {
		if r := h.Run("restart", id); r.Exit != 0 && id != "never-failed" { // which may have failed by then
			t.Errorf("restart %s: exit %d: %s", id, r.Exit, r.Stderr)
		}
	}
	h.Await("each has started once more", func() error { return are(2) })
	p.Kill()
	p = h.Start()
	p.AwaitUp("always", "never", "on-failure")
	h.Must(are(2))

	// The kubelet is killed while the containers have their grace to end.
	h.Write("stubborn", hosttest.Block("stubborn", `/hello, sleep, "-ignore-term"`))
	h.AwaitUp("stubborn")
	old := h.Stubborn("stubborn")
	word := h.Command("restart", "stubborn")
	var said hosttest.Buffer
	word.Stdout, word.Stderr = &said, &said
	h.Must(word.Start())
	p.AwaitShows("stubborn/main", "running", "Stopping")
	p.Kill()
	if err := word.Wait(); err == nil {
		t.Errorf("the word ends well although the kubelet was killed: %s", &said)
	}
	h.Kill("stubborn", "main")
	h.Start()
	h.AwaitReplaced(old)
	h.AwaitUp("stubborn")
	if all := h.Of("stubborn", "main"); len(all) != 2 {
		t.Errorf("there are the attempts %v, want two", all)
	}
}

// Two words, an edit and a kill at a time leave one whole pod, or none that is stopped.
func TestIntegrationWordsAtTheSameTime(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("web", hosttest.TwoContainers("web"))
	p := h.Start()
	p.AwaitUp("web")
	for round := range 3 {
		var words []*exec.Cmd
		for _, word := range []string{"stop", "restart", "start", "stop", "restart"} {
			cmd := h.Command(word, "web")
			h.Must(cmd.Start())
			words = append(words, cmd)
		}
		h.Write("web", strings.ReplaceAll(hosttest.TwoContainers("web"), "sleep", fmt.Sprintf(`sleep, -exit, "%d"`, round)))
		p.Kill()
		for _, cmd := range words {
			cmd.Wait() // the kubelet has ended
		}
		p = h.Start()
		h.Await("it has looked at its pods", func() error { return unittest.HasWords(h.Run("ps").Stdout, "web.default.file") })
		h.MustRun("stop", "web")
		h.Must(isStopped(h, p, "web"))
		h.MustRun("restart", "web")
		h.Must(h.Whole("web", "main", "side"))
	}
}

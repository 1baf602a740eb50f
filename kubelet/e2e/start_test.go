package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A kubelet that must not start says why, exits, and touches nothing.
func TestIntegrationRefusedStarts(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("pod")
	p := h.start()
	h.awaitUp("pod")
	before := h.ids()
	refuse := func(words []string, flags ...string) {
		t.Helper()
		h.start(flags...).mustEnd().mustExit(t, 1, words...)
		h.mustBe(fmt.Sprintf("after %q was refused", flags), before)
	}

	// Beside the kubelet that runs, with no manifests.
	running := []string{"another kubelet14", fmt.Sprintf("pid %d", p.cmd.Process.Pid)}
	refuse(running, "-config="+t.TempDir())
	refuse(running, "-cleanup")
	p.stop()
	if log := p.log.String(); !strings.Contains(log, "-cleanup") {
		t.Errorf("at its end the kubelet does not say that the pods stay, and how to remove them:\n%s", log)
	}
	h.mustBe("after SIGTERM", before)

	// With only one half of the identity.
	otherRoot, otherName := filepath.Join(h.dir, "other"), h.hostname+"-other"
	for flag, words := range map[string][]string{
		"-root_dir=" + otherRoot:          {fmt.Sprintf("%q", otherRoot)},
		"-hostname_override=" + otherName: {fmt.Sprintf("%q", otherName)},
	} {
		for _, mode := range []string{"-runonce=false", "-runonce", "-dry_run"} {
			refuse(append(words, "-hostname_override="+h.hostname, "-root_dir="+h.rootDir, "-cleanup"), flag, mode)
		}
	}

	// In a directory that is not a kubelet's.
	foreign := t.TempDir()
	h.must(os.Mkdir(filepath.Join(foreign, "pods"), 0o700))
	h.writeFile(filepath.Join(foreign, "letter"), "to somebody else")
	h.writeFile(filepath.Join(foreign, "pods", "list"), "whales")
	for _, mode := range []string{"-runonce=false", "-runonce", "-cleanup"} {
		refuse([]string{foreign, "not empty", `"letter"`, "-root_dir"}, mode, "-root_dir="+foreign)
	}
	want := []string{foreign, filepath.Join(foreign, "letter"), filepath.Join(foreign, "pods"), filepath.Join(foreign, "pods", "list")}
	if got := tree(t, foreign); !slices.Equal(got, want) {
		t.Errorf("the foreign directory holds %v, want %v", got, want)
	}

	// At an address that is taken.
	port, _ := takePort(t)
	refuse([]string{fmt.Sprintf("127.0.0.1:%d is taken", port), "-port"}, "-address=127.0.0.1", fmt.Sprint("-port=", port))

	// A kubelet that starts now changes nothing.
	p = h.start()
	p.awaitUp("pod")
	h.mustBe("after a restart", before)
}

// tree lists everything in a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestIntegrationDryRunBesideAKubelet(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.write("pod", twoContainers("pod"))
	h.writeSleepers("other")
	p := h.start()
	h.awaitUp("other")
	h.await("the pod is up", func() error { return h.whole("pod", "main", "side") })
	p.awaitUp("pod", "other")
	containers, files := h.describe(), tree(t, h.rootDir)

	plans := *h // the same kubelet with other manifests
	plans.manifests = t.TempDir()
	plans.write("pod", strings.Replace(twoContainers("pod"), "[/hello, sleep]", "[/hello, sleep, -for, 1h]", 1))
	plans.putSleepers("new.default.http")
	dryRun := func(exit int, words ...string) string {
		t.Helper()
		r := h.run(append(plans.from("file", "http"), "-dry_run")...)
		r.mustExit(t, exit, words...)
		if strings.Contains(r.stdout+r.stderr, "s3cret") {
			t.Errorf("it prints a password:\n%s\n%s", r.stdout, r.stderr)
		}
		return r.stdout
	}
	plan := dryRun(0, plans.manifests, h.web.address)
	for _, want := range []struct{ pod, action string }{
		{"new.default.http", "create net (attempt 1)"},
		{"new.default.http", "create main (attempt 1)"},
		{"new.default.http", "start main (attempt 1)"},
		{"other.default.file", "stop main (attempt 1)"},
		{"other.default.file", "remove net (attempt 1)"},
		{"pod.default.file", "create main (attempt 2)"},
		{"pod.default.file", "stop main (attempt 1)"},
		{"pod.default.file", "start main (attempt 2)"},
	} {
		_, part, _ := strings.Cut("\n"+plan, "\npod "+want.pod)
		part, _, _ = strings.Cut(part, "\npod ")
		if !strings.Contains(strings.Join(strings.Fields(part), " "), want.action) {
			t.Errorf("the plan does not %q of pod %s", want.action, want.pod)
		}
	}
	if strings.Contains(plan, " side (") {
		t.Error("the plan has an action on a container that is as it should be")
	}
	h.web.answers(&answer{418, ""})
	dryRun(1, "pod.default.file", "418 I'm a teapot")
	if now := h.describe(); now != containers {
		t.Errorf("-dry_run changed containers:\nbefore:\n%s\nafter:\n%s", containers, now)
	}
	if now := tree(t, h.rootDir); !slices.Equal(files, now) {
		t.Errorf("-dry_run changed the root_dir:\nbefore %v\nafter  %v", files, now)
	}
	if t.Failed() {
		t.Log("the plan:\n" + plan)
	}
}

// A kubelet that is asked to end does not wait for a container that it is stopping.
func TestIntegrationEndDoesNotWaitForAGracePeriod(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod", stubbornSleeper("pod"))
	p := h.start()
	h.awaitUp("pod")
	stubborn := h.stubborn("pod")
	h.remove("pod")
	h.awaitLogOf(stubborn, "asked to stop:")
	p.awaitShows("pod", "running", "Removed: ")
	p.stop()
	if now := h.mustInspect(stubborn.id); !now.State.Running {
		t.Errorf("the kubelet ended only when the container had ended: %+v", now.State)
	}
	h.kill("pod", "main") // else -cleanup waits for the grace period
}

// This kubelet cannot end at the first signal: nobody reads its log, and it blocks in
// writing it.
func TestIntegrationSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	cmd := h.command("-config=" + h.manifests)
	cmd.Stderr = fullPipe(t)
	h.must(cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
	})
	h.await("it has begun, and handles signals", func() error {
		_, err := os.Stat(filepath.Join(h.rootDir, "kubelet14.lock"))
		return err
	})
	signals := 0
	h.await("it ends", func() error {
		select {
		case <-done:
			return nil
		default:
			signals++
			cmd.Process.Signal(syscall.SIGTERM)
			return fmt.Errorf("it runs after %d signals", signals)
		}
	})
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM || signals < 2 {
		t.Errorf("it ended with %v after %d signals, want: by the second SIGTERM or a later one", cmd.ProcessState, signals)
	}
}

// fullPipe returns a file in which a write blocks.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err == nil {
		err = w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // ends the write below
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		r.Close()
	})
	w.Write(make([]byte, 1<<20)) // more than fits
	return w
}

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// A kubelet that must not start says why, exits, and touches nothing.
func TestIntegrationRefusedStarts(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("pod")
	p := h.Start()
	h.AwaitUp("pod")
	before := h.IDs()
	refuse := func(words []string, flags ...string) {
		t.Helper()
		h.Run(append([]string{"-config=" + h.Manifests}, flags...)...).MustExit(t, 1, words...)
		h.MustBe(fmt.Sprintf("after %q was refused", flags), before)
	}

	// Beside the kubelet that runs, with no manifests.
	running := []string{"another kubelet14", fmt.Sprintf("pid %d", p.Cmd.Process.Pid)}
	refuse(running, "-config="+t.TempDir())
	refuse(running, "-cleanup")
	p.Stop()
	if log := p.Log.String(); !strings.Contains(log, "-cleanup") {
		t.Errorf("at its end the kubelet does not say that the pods stay, and how to remove them:\n%s", log)
	}
	h.MustBe("after SIGTERM", before)

	// With only half of the identity.
	otherRoot, otherName := filepath.Join(h.Dir, "other"), h.Hostname+"-other"
	for flag, words := range map[string][]string{
		"-root_dir=" + otherRoot:          {fmt.Sprintf("%q", otherRoot)},
		"-hostname_override=" + otherName: {fmt.Sprintf("%q", otherName)},
	} {
		for _, mode := range []string{"-cleanup", "-runonce=false", "-runonce", "-dry_run"} {
			refuse(append(words, "-hostname_override="+h.Hostname, "-root_dir="+h.RootDir, "-cleanup"), flag, mode)
			if _, err := os.Lstat(otherRoot); mode == "-cleanup" && strings.HasPrefix(flag, "-root_dir") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("-cleanup has made its root_dir: %v", err)
			}
		}
	}

	// At an address that is taken.
	port, _ := takePort(t)
	refuse([]string{fmt.Sprintf("127.0.0.1:%d is taken", port), "-port"}, "-address=127.0.0.1", fmt.Sprint("-port=", port))

	// A kubelet that starts now changes nothing.
	p = h.Start()
	p.AwaitUp("pod")
	h.MustBe("after a restart", before)
}

// -version tells two builds of one release apart.
func TestIntegrationTheVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	git := exec.Command("git", "show", "--no-patch", "--date=format-local:%Y%m%d", "--format=+%cd.%H")
	git.Env = append(os.Environ(), "TZ=UTC")
	want, err := git.Output()
	unittest.Must(t, err)
	if got := h.Run("-version").Stdout; !strings.HasPrefix(got, "kubelet14 v0.4-14-dev"+string(want[:len("+20261123.")+12])) {
		t.Errorf("it prints %q, want the commit %s", got, want)
	}
}

// tree lists everything in a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	unittest.Must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}))
	return all
}

func TestIntegrationDryRunBesideAKubelet(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.Write("pod", hosttest.TwoContainers("pod"))
	h.WriteSleepers("other")
	p := h.Start()
	p.AwaitUp("pod", "other")
	containers, files := h.Describe(), tree(t, h.RootDir)

	plans := host{Host: new(*h.Host), web: h.web} // the same kubelet with other manifests
	plans.Manifests = t.TempDir()
	plans.Write("pod", strings.Replace(hosttest.TwoContainers("pod"), "[/hello, sleep]", "[/hello, sleep, -for, 1h]", 1))
	plans.putSleepers("new.default.http")
	dryRun := func(exit int, words ...string) string {
		t.Helper()
		r := h.Run(append(plans.from("file", "http"), "-dry_run")...)
		r.MustExit(t, exit, words...)
		if strings.Contains(r.Stdout+r.Stderr, "s3cret") {
			t.Errorf("it prints a password:\n%s\n%s", r.Stdout, r.Stderr)
		}
		return r.Stdout
	}
	plan := dryRun(0, plans.Manifests, h.web.Address)
	unittest.Says(t, plan, "pod new.default.http", "pod other.default.file", "create main (attempt 2)")
	h.web.Answer(418, "")
	if plan := dryRun(1, "pod.default.file", "418 I'm a teapot"); strings.Contains(plan, "teapot") {
		t.Errorf("the plan repeats the error that is in the log:\n%s", plan)
	}
	if now := h.Describe(); now != containers {
		t.Errorf("-dry_run changed containers:\nbefore:\n%s\nafter:\n%s", containers, now)
	}
	if now := tree(t, h.RootDir); !slices.Equal(files, now) {
		t.Errorf("-dry_run changed the root_dir:\nbefore %v\nafter  %v", files, now)
	}
}

// With -exit_on_lock_contention the next kubelet gets the root_dir, though not at once, and the containers stay.
func TestIntegrationTheRootDirIsHandedOver(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("pod")
	const flag = "-exit_on_lock_contention"
	began := time.Now()
	first := h.Start(flag)
	h.AwaitUp("pod")
	before := h.IDs()
	refused := []string{"another kubelet14", fmt.Sprintf("pid %d", first.Cmd.Process.Pid), "is using it"}
	h.Run("-config="+h.Manifests).MustExit(t, 1, refused...)
	h.Run("-cleanup", flag).MustExit(t, 1, refused...)

	next := h.Start(flag) // waits, and is started again by systemd
	h.Await("the root_dir is handed over", func() error {
		if !next.Running() {
			next = h.Start(flag)
		}
		if first.Running() {
			return errors.New("the first kubelet still runs")
		}
		return nil
	})
	if code, age := first.Cmd.ProcessState.ExitCode(), time.Since(began); code != 0 || age < 30*time.Second {
		t.Errorf("after %v it has ended with exit code %d", age, code)
	}
	next.AwaitUp("pod")
	h.MustBe("after the root_dir was handed over", before)
	next.Stop()
}

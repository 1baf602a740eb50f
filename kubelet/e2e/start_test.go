package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
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

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
		h.run(append([]string{"-config=" + h.manifests}, flags...)...).mustExit(t, 1, words...)
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
		for _, mode := range []string{"-cleanup", "-runonce=false", "-runonce", "-dry_run"} {
			refuse(append(words, "-hostname_override="+h.hostname, "-root_dir="+h.rootDir, "-cleanup"), flag, mode)
			if _, err := os.Lstat(otherRoot); mode == "-cleanup" && strings.HasPrefix(flag, "-root_dir") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("-cleanup has made its root_dir: %v", err)
			}
		}
	}

	// At an address that is taken.
	port, _ := takePort(t)
	refuse([]string{fmt.Sprintf("127.0.0.1:%d is taken", port), "-port"}, "-address=127.0.0.1", fmt.Sprint("-port=", port))

	// A kubelet that starts now changes nothing.
	p = h.start()
	p.awaitUp("pod")
	h.mustBe("after a restart", before)
}

// Two builds of one release can be told apart.
func TestIntegrationTheVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	git := exec.Command("git", "show", "--no-patch", "--date=format-local:%Y%m%d", "--format=+%cd.%H")
	git.Env = append(os.Environ(), "TZ=UTC")
	want, err := git.Output()
	unittest.Must(t, err)
	if got := h.run("-version").stdout; !strings.HasPrefix(got, "kubelet14 v0.4-14-dev"+string(want[:len("+20261123.")+12])) {
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
	h.write("pod", twoContainers("pod"))
	h.writeSleepers("other")
	p := h.start()
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
	h.check(hasWords(plan, []string{"pod new.default.http", "pod other.default.file", "create main (attempt 2)"}))
	h.web.answers(&answer{418, ""})
	if plan := dryRun(1, "pod.default.file", "418 I'm a teapot"); strings.Contains(plan, "teapot") {
		t.Errorf("the plan repeats the error that is in the log:\n%s", plan)
	}
	if now := h.describe(); now != containers {
		t.Errorf("-dry_run changed containers:\nbefore:\n%s\nafter:\n%s", containers, now)
	}
	if now := tree(t, h.rootDir); !slices.Equal(files, now) {
		t.Errorf("-dry_run changed the root_dir:\nbefore %v\nafter  %v", files, now)
	}
}

// With -exit_on_lock_contention the next kubelet gets the root_dir, though not at once, and the containers stay.
func TestIntegrationTheRootDirIsHandedOver(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("pod")
	const flag = "-exit_on_lock_contention"
	began := time.Now()
	first := h.start(flag)
	h.awaitUp("pod")
	before := h.ids()
	refused := []string{"another kubelet14", fmt.Sprintf("pid %d", first.cmd.Process.Pid), "works in it"}
	h.run("-config="+h.manifests).mustExit(t, 1, refused...)
	h.run("-cleanup", flag).mustExit(t, 1, refused...)

	next := h.start(flag) // waits, and is started again by systemd
	h.await("the root_dir is handed over", func() error {
		if !next.running() {
			next = h.start(flag)
		}
		if first.running() {
			return errors.New("the first kubelet still runs")
		}
		return nil
	})
	if code, age := first.cmd.ProcessState.ExitCode(), time.Since(began); code != 0 || age < 30*time.Second {
		t.Errorf("after %v it has ended with exit code %d", age, code)
	}
	next.awaitUp("pod")
	h.mustBe("after the root_dir was handed over", before)
	next.stop()
}

// With the settings in a file the kubelet is the one that it is with flags: changing over touches no pod.
func TestIntegrationSettingsInAFile(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.file", "pod.default.http")
	file := filepath.Join(h.dir, "kubelet.yaml")
	h.writeFile(file, `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: `+filepath.Base(h.manifests)+`
staticPodURL: `+h.web.url()+`
containerLogMaxSize: 1Mi
clusterDNS: [10.96.0.10]
`)
	p := h.startWith("-config_file=" + file)
	p.awaitLog("settings come from "+file, "clusterDNS")
	h.awaitUp("pod.default.file", "pod.default.http")
	if got := h.mustInspect(h.live("pod.default.file", "main").id).HostConfig.LogConfig.Config["max-size"]; got != fmt.Sprint(1<<20) {
		t.Errorf("max-size of the log is %s, want that of the file", got)
	}
	before := h.ids()
	p.kill()
	p = h.startFrom("file", "http")
	p.awaitUp("pod.default.file", "pod.default.http")
	h.mustBe("with flags", before)
	p.stop()
}

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
	"syscall"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// emptyDirs is where a pod's EmptyDirs are.
func (h *host) emptyDirs(uid string) string {
	return filepath.Join(h.rootDir, "pods", uid, "volumes", "kubernetes.io~empty-dir")
}

// uid is the UID that the live containers of a pod bear in their names.
func (h *host) uid(id string) string {
	h.t.Helper()
	return strings.Split(h.live(id, "net").name, "_")[3]
}

// noVolumes checks that no volume is left, not even to be deleted.
func (h *host) noVolumes() error {
	for _, dir := range []string{"pods", "trash"} {
		left, err := os.ReadDir(filepath.Join(h.rootDir, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("%s still holds %v", dir, left)
		}
	}
	return nil
}

func (h *host) writeFile(path, text string) {
	h.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func fileHolds(path, want string) error {
	got, err := os.ReadFile(path)
	if err == nil && string(got) != want {
		err = fmt.Errorf("%s holds %q, want %q", path, got, want)
	}
	return err
}

const hostDirPod = `version: v1beta1
id: pod
restartPolicy: {never: {}}
volumes: [{name: data, source: {hostDir: {path: DIR}}}]
containers:
  - name: reader
    image: HELLO
    command: [/hello, cat, /in/greeting]
    volumeMounts: [{name: data, mountPath: /in, readOnly: true}]
  - name: intruder
    image: HELLO
    command: [/hello, append, -for, 0s, /in/greeting, intruded]
    volumeMounts: [{name: data, mountPath: /in, readOnly: true}]
  - name: writer
    image: HELLO
    command: [/hello, append, -for, 0s, /out/written, by the writer]
    volumeMounts: [{name: data, mountPath: /out}]
`

func TestIntegrationHostDir(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	greeting, written := filepath.Join(dir, "greeting"), filepath.Join(dir, "written")
	h.writeFile(greeting, "hello from the host")
	h.write("pod.yaml", strings.ReplaceAll(hostDirPod, "DIR", dir))
	h.start()
	exits := map[string]int{"reader": 0, "intruder": 1, "writer": 0}
	h.eventually("every container has ended", func() error {
		ended := map[string]int{}
		for _, c := range h.containers() {
			if detail, err := h.inspect(c.id); err == nil && detail.State.Status == "exited" && c.of != "net" {
				ended[c.of] = detail.State.ExitCode
			}
		}
		if fmt.Sprint(ended) != fmt.Sprint(exits) {
			return fmt.Errorf("exit codes are %v, want %v", ended, exits)
		}
		return nil
	})

	if got := h.logs(h.newest("pod", "reader").id); got != "hello from the host" {
		t.Errorf("the reader has read %q", got)
	}
	if got := h.logs(h.newest("pod", "intruder").id); !strings.Contains(got, "read-only file system") {
		t.Errorf("who wrote where it may only read was told %q", got)
	}
	if err := fileHolds(written, "by the writer\n"); err != nil {
		t.Error(err)
	}

	h.remove("pod.yaml")
	h.eventually("the pod goes", func() error {
		if err := h.gone("pod"); err != nil {
			return err
		}
		return h.noVolumes()
	})
	if err := errors.Join(fileHolds(greeting, "hello from the host"), fileHolds(written, "by the writer\n")); err != nil {
		t.Errorf("the host's directory has gone with the pod: %v", err)
	}
}

const emptyDirPod = `version: v1beta1
id: pod
UUID
volumes: [{name: data, source: {emptyDir: {}}}]
containers:
  - name: main
    image: HELLO
    command: [/hello, sleep]
    env: [{name: ROUND, value: "1"}]
    volumeMounts: [{name: data, mountPath: /data}]
  - name: writer
    image: HELLO
    command: [/hello, append, /data/log, begun]
    volumeMounts: [{name: data, mountPath: /data}]
`

func TestIntegrationEmptyDir(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	manifest := strings.ReplaceAll(emptyDirPod, "UUID\n", "")
	isUp := func() error { return h.whole("pod", "main", "writer") }
	h.write("pod.yaml", manifest)
	h.write("other.yaml", strings.ReplaceAll(manifest, "id: pod", "id: other"))
	h.start()
	h.eventually("the pods come up", func() error {
		if err := h.whole("other", "main", "writer"); err != nil {
			return err
		}
		return isUp()
	})
	data := filepath.Join(h.emptyDirs(h.uid("pod")), "data")
	other := filepath.Join(h.emptyDirs(h.uid("other")), "data")

	for dir := data; dir != filepath.Dir(h.rootDir); dir = filepath.Dir(dir) {
		want := fs.FileMode(0o750)
		if dir == data {
			want = 0o777
		}
		if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|want {
			t.Errorf("%s is %v, want %v: %v", dir, info.Mode(), want, err)
		}
	}

	mark := filepath.Join(data, "mark")
	h.writeFile(mark, "here since the beginning")
	replace := func(what string, do func(old container) error) {
		t.Helper()
		old := h.live("pod", "main")
		if err := do(old); err != nil {
			t.Fatal(err)
		}
		h.eventually(what+" replaces the container", func() error {
			if err := isUp(); err != nil {
				return err
			}
			return h.replaced("pod", "main", old)
		})
		if err := fileHolds(mark, "here since the beginning"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		detail, err := h.inspect(h.live("pod", "main").id)
		if err != nil {
			t.Fatal(err)
		}
		if mount := slices.IndexFunc(detail.Mounts, func(m docker.Mount) bool { return m.Destination == "/data" }); mount < 0 || detail.Mounts[mount].Source != data {
			t.Errorf("%s: the new container mounts %+v, want %s", what, detail.Mounts, data)
		}
	}
	replace("docker rm -f", func(old container) error {
		return h.docker.RemoveContainer(docker.RemoveContainerOptions{ID: old.id, Force: true})
	})
	replace("an edit", func(container) error {
		h.write("pod.yaml", strings.ReplaceAll(manifest, `"1"`, `"2"`))
		return nil
	})
	replace("the end of the network container", func(container) error {
		return h.docker.KillContainer(docker.KillContainerOptions{ID: h.live("pod", "net").id})
	})
	h.eventually("the writer began again with the network, and only then", func() error {
		return fileHolds(filepath.Join(data, "log"), "begun\nbegun\n")
	})

	h.remove("pod.yaml")
	h.eventually("the volume goes with its pod", func() error {
		if err := h.gone("pod"); err != nil {
			return err
		}
		left, err := os.ReadDir(filepath.Join(h.rootDir, "pods"))
		if err == nil && len(left) != 1 {
			err = fmt.Errorf("the volumes are %v, want that of the other pod", left)
		}
		trash, trashErr := os.ReadDir(filepath.Join(h.rootDir, "trash"))
		if trashErr == nil && len(trash) != 0 {
			trashErr = fmt.Errorf("not deleted yet: %v", trash)
		}
		return errors.Join(err, trashErr)
	})
	if err := fileHolds(filepath.Join(other, "log"), "begun\n"); err != nil {
		t.Errorf("the other pod's volume: %v", err)
	}
	if err := h.whole("other", "main", "writer"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationANewUUIDBringsNewVolumes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	first, second := h.hostname+"-first", h.hostname+"-second"
	h.write("pod.yaml", strings.ReplaceAll(emptyDirPod, "UUID", "uuid: "+first))
	h.start()
	h.eventually("the pod comes up", func() error { return h.whole("pod", "main", "writer") })
	h.writeFile(filepath.Join(h.emptyDirs(first), "data", "mark"), "of the first")
	old := h.live("pod", "main")

	h.write("pod.yaml", strings.ReplaceAll(emptyDirPod, "UUID", "uuid: "+second))
	h.eventually("the pod is another one, with its own volume alone", func() error {
		if err := h.whole("pod", "main", "writer"); err != nil {
			return err
		}
		if err := h.replaced("pod", "main", old); err != nil {
			return err
		}
		left, err := os.ReadDir(filepath.Join(h.rootDir, "pods"))
		if err == nil && (len(left) != 1 || left[0].Name() != second) {
			err = fmt.Errorf("the volumes are those of %v", left)
		}
		return err
	})
	h.eventually("the new volume began empty, and its pod writes into it", func() error {
		return fileHolds(filepath.Join(h.emptyDirs(second), "data", "log"), "begun\n")
	})
	if _, err := os.Stat(filepath.Join(h.emptyDirs(second), "data", "mark")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the new volume has the old one's data: %v", err)
	}
	for _, c := range h.containers() {
		if !strings.Contains(c.name, second) {
			t.Errorf("%s of the old pod is left", c)
		}
	}
}

func TestIntegrationAMountInAVolumeIsNotEmptied(t *testing.T) {
	if os.Geteuid() != 0 {
		inOwnMounts(t)
		return
	}
	t.Parallel()
	h := newHost(t)
	theirs := t.TempDir()
	precious := filepath.Join(theirs, "precious")
	h.writeFile(precious, "not the pod's")
	// No container of it writes into the volume: a user who is not root could not
	// delete what they write.
	h.write("pod.yaml", strings.ReplaceAll(strings.ReplaceAll(emptyDirPod, "UUID\n", ""), "[/hello, append, /data/log, begun]", "[/hello, sleep]"))
	h.write("other.yaml", sleeper("other"))
	p := h.start("-sync_frequency=200ms") // an umount is no event
	h.eventually("the pods come up", func() error {
		if err := h.whole("other", "main"); err != nil {
			return err
		}
		return h.whole("pod", "main", "writer")
	})
	pod := filepath.Join(h.rootDir, "pods", h.uid("pod"))
	data := filepath.Join(h.emptyDirs(h.uid("pod")), "data")
	point := filepath.Join(data, "mounted")
	if err := os.Mkdir(point, 0o755); err != nil {
		t.Fatal(err)
	}
	h.writeFile(filepath.Join(data, "own"), "the pod's")
	if err := syscall.Mount(theirs, point, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.unmountAll)

	h.remove("pod.yaml")
	h.eventually("the containers go", func() error { return h.gone("pod") })
	p.says(pod, "mount point", "sudo umount", point)
	h.mendsAnother("other") // it has gone on, and had time to do worse
	if err := errors.Join(fileHolds(precious, "not the pod's"), fileHolds(filepath.Join(point, "precious"), "not the pod's")); err != nil {
		t.Errorf("what is mounted in the volume was touched: %v", err)
	}
	if err := fileHolds(filepath.Join(data, "own"), "the pod's"); err != nil {
		t.Errorf("the volume was emptied around the mount point: %v", err)
	}

	p.stop()
	if r := h.run("-cleanup"); r.exit != 1 || !strings.Contains(r.stderr, "sudo umount") || !strings.Contains(r.stderr, point) {
		t.Errorf("-cleanup: exit %d, want 1, and it says\n%s", r.exit, r.stderr)
	}
	if err := fileHolds(precious, "not the pod's"); err != nil {
		t.Errorf("what is mounted in the volume was touched by -cleanup: %v", err)
	}

	h.remove("other.yaml")
	h.start("-sync_frequency=200ms")
	if err := syscall.Unmount(point, 0); err != nil {
		t.Fatal(err)
	}
	h.eventually("the rest of the volume goes after umount", h.noVolumes)
	if err := fileHolds(precious, "not the pod's"); err != nil {
		t.Error(err)
	}
}

// unmountAll unmounts what a test that has failed has left in root_dir, wherever
// the kubelet may have moved it.
func (h *host) unmountAll() {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		h.t.Error(err)
	}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], h.rootDir+"/") {
			if err := syscall.Unmount(fields[4], syscall.MNT_DETACH); err != nil {
				h.t.Errorf("unmount %q: %v", fields[4], err)
			}
		}
	}
}

// inOwnMounts runs a test again in a process that may mount, although its user is
// not root: with mounts of its own, which end with it.
func inOwnMounts(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as root of mounts of its own: %v\n%s", err, out)
	}
}

func TestIntegrationAForeignRootDirIsRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", sleeper("pod"))
	foreign := t.TempDir()
	h.writeFile(filepath.Join(foreign, "letter"), "to somebody else")
	if err := os.Mkdir(filepath.Join(foreign, "pods"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.writeFile(filepath.Join(foreign, "pods", "list"), "whales")
	for _, mode := range []string{"-runonce=false", "-runonce", "-cleanup"} {
		exit, said := h.refused(mode, "-root_dir="+foreign)
		if exit != 1 {
			t.Errorf("%q: exit %d, want 1\n%s", mode, exit, said)
		}
		for _, word := range []string{foreign, "not empty", `"letter"`, "-root_dir"} {
			if !strings.Contains(said, word) {
				t.Errorf("%q: the error does not say %q:\n%s", mode, word, said)
			}
		}
	}
	err := errors.Join(fileHolds(filepath.Join(foreign, "letter"), "to somebody else"), fileHolds(filepath.Join(foreign, "pods", "list"), "whales"))
	entries, listErr := os.ReadDir(foreign)
	if err = errors.Join(err, listErr); err != nil || len(entries) != 2 {
		t.Errorf("it was touched: %v, and holds %v", err, entries)
	}
	if err := h.gone("pod"); err != nil {
		t.Error(err)
	}
}

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/e2e/hosttest"
)

// earlierVersions returns commits. An upgrade from one of them must replace no container. The last is the last release, which
// is the last tag before this commit, if there has been one.
func earlierVersions() []string {
	versions := []string{"e9072c7"}
	tag, err := exec.Command("git", "describe", "--tags", "--abbrev=0", "--match=v[0-9]*", "HEAD^").Output()
	if err == nil {
		versions = append(versions, strings.TrimSpace(string(tag)))
	}
	return versions
}

// buildVersion builds the program of an earlier commit once, and returns where its source and it are.
func buildVersion(commit string) (source, binary string, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", "", err
	}
	if out, err := exec.Command("git", "-C", root, "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("commit %s is not here; in a shallow clone run: git fetch --unshallow: %w\n%s", commit, err, out)
	}
	source, binary = filepath.Join(hosttest.BuildDir, commit), filepath.Join(hosttest.BuildDir, "kubelet14-"+commit)
	script := `[ -e "$2" ] && exit; mkdir "$1" && git archive ` + commit + ` | tar -x -C "$1" && cd "$1" && go build -o "$2" .`
	cmd := exec.Command("sh", "-ec", script, "sh", source, binary)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build commit %s: %w\n%s", commit, err, out)
	}
	return source, binary, nil
}

// Neither an upgrade nor the downgrade after it changes a container, volume or image: names, labels, hashes and UIDs are the same.
func TestIntegrationLongUpgrade(t *testing.T) {
	t.Parallel()
	for _, commit := range earlierVersions() {
		t.Run(commit, func(t *testing.T) {
			t.Parallel()
			testUpgrade(t, commit)
		})
	}
}

func testUpgrade(t *testing.T, commit string) {
	h, dir := newHost(t), t.TempDir()
	source, earlier, err := buildVersion(commit)
	h.Must(err)
	h.WriteFile(filepath.Join(dir, "ready"), "")
	web, err := os.ReadFile(filepath.Join(source, "manifests/web.yaml"))
	h.Must(err)
	up := map[string][]string{
		"sleeper": {"main"}, "two": {"main", "side"}, "port": {"main"}, "web": {"server", "writer"}, "host-dir": {"main"},
		"hooks": {"main"}, "probe": {"main"}, "limits": {"main"}, "uuid": {"main", "writer"},
	}
	for id, manifest := range map[string]string{
		"sleeper":  hosttest.Sleeper("sleeper"),
		"two":      hosttest.TwoContainers("two"),
		"port":     hosttest.Server("port", freePort(t)),
		"web":      strings.Replace(string(web), "hostPort: 8014", fmt.Sprint("hostPort: ", freePort(t)), 1),
		"host-dir": hosttest.WithHostDir("host-dir", dir),
		"hooks": hosttest.ServerWith("hooks", dir,
			"lifecycle: {postStart: {exec: {command: [/hello, cat, /data/ready]}}, preStop: {httpGet: {path: /healthz, port: http}}}",
			"livenessProbe: {initialDelaySeconds: 3600, tcpSocket: {port: http}}"),
		"probe": "restartPolicy: {onFailure: {}}\n" + hosttest.ServerWith("probe", dir,
			"livenessProbe: {initialDelaySeconds: 3600, exec: {command: [/hello, cat, /data/ready]}}"),
		"limits": strings.Replace(hosttest.Sleeper("limits"), "image:", "memory: 33554432, cpu: 500, imagePullPolicy: PullNever, image:", 1),
		"uuid":   strings.Replace(hosttest.EmptyDirPod("uuid: "+h.Hostname), "id: pod", "id: uuid", 1),
		"job":    hosttest.Job("job", `/hello, exit, "3"`),
	} {
		h.Write(id, manifest)
	}
	isUp := func() error { return errors.Join(h.Ended("job"), h.AllWhole(up)) }
	h.Binary = earlier
	p := h.Start()
	h.Await("the pods are up", isUp)
	p.AwaitUp("hooks")
	h.Mend("sleeper") // there are a dead container and a second attempt
	before := h.made()
	p.Kill()

	var added []string // UIDs
	for _, to := range []struct{ change, binary string }{{"upgrade", hosttest.Binary()}, {"downgrade", earlier}} {
		h.Binary = to.binary
		id := "new-after-" + to.change
		h.WriteSleepers(id)
		p = h.Start("-sync_frequency=100ms")
		h.AwaitUp(id)
		for range 2 { // some syncs go by
			h.Mend(id)
		}
		for id := range up {
			p.AwaitUp(id)
		}
		p.AwaitShows("job/main", "terminated", "Error: ")
		h.Must(isUp())
		now := h.made()
		added = append(added, h.UID(id))
		maps.DeleteFunc(now, func(name, _ string) bool {
			return slices.ContainsFunc(added, func(uid string) bool { return strings.Contains(name, uid) })
		})
		if !maps.Equal(before, now) {
			t.Errorf("the %s changed containers, volumes or images:\nbefore %v\nafter  %v", to.change, before, now)
		}
		p.Kill()
	}

	// Each version can remove what the other has made or looked after.
	removeAll := func(binary string) {
		t.Helper()
		h.Binary = binary
		h.MustRun("-cleanup")
		if left := h.Containers(); len(left) > 0 {
			t.Errorf("-cleanup left %v", left)
		}
		h.Check(h.NoVolumes())
	}
	removeAll(earlier)
	h.Remove("probe") // -runonce would wait for its end
	h.Run("-config="+h.Manifests, "-runonce")
	removeAll(hosttest.Binary())
}

// made identifies everything that kubelets have made: containers, directories and images.
func (h *host) made() map[string]string {
	h.T.Helper()
	all := map[string]string{}
	for _, c := range h.Containers() {
		all[c.Name] = c.ID
	}
	h.Must(filepath.WalkDir(filepath.Join(h.RootDir, "pods"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		h.Must(err)
		all[path] = fmt.Sprint(info.Sys().(*syscall.Stat_t).Ino)
		return nil
	}))
	for _, name := range []string{dockertools.HelloImage, dockertools.PauseImage} {
		image, err := h.Docker.InspectImage(name)
		h.Must(err)
		all[name] = image.ID
	}
	return all
}

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// hungry is a job that takes 64 MB where it may have 16. It does so slowly: Docker
// does not see why one ended that is killed in the moment of its start.
func hungry(id string) string {
	return strings.Replace(job(id, `/hello, eat, -over, 8s, "67108864"`), "image:", "memory: 16777216, image:", 1)
}

func TestIntegrationMemoryAndCPU(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("free.yaml", sleeper("free"))
	h.write("bound.yaml", strings.Replace(sleeper("bound"), "image:", "memory: 33554432, cpu: 500, image:", 1))
	h.write("hungry.yaml", hungry("hungry"))
	p := h.start()
	h.eventually("the pods are up", func() error { return h.sleepersAre("free", "bound") })
	for pod, want := range map[string]docker.HostConfig{"free": {}, "bound": {Memory: 32 << 20, CPUShares: 512}} {
		c, err := h.inspect(h.live(pod, "main").id)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.HostConfig; got.Memory != want.Memory || got.CPUShares != want.CPUShares || len(got.Ulimits) > 0 {
			t.Errorf("pod %s has %d bytes of memory, %d shares of the CPU and the ulimits %v; want %d, %d and none", pod, got.Memory, got.CPUShares, got.Ulimits, want.Memory, want.CPUShares)
		}
	}

	h.eventually("the one that eats more than it may has ended", func() error { return h.ended("hungry") })
	c, err := h.inspect(h.newest("hungry", "main").id)
	if err != nil || c.State.ExitCode != 137 {
		t.Errorf("it ended with %+v, %v; want exit code 137", c.State, err)
	}
	h.eventually("it is said", func() error { return p.shows("hungry/main", "terminated", "OOMKilled") })
	if err := p.shows("hungry/", "failed"); err != nil {
		t.Error(err)
	}
	p.says("pod hungry.default.file", "it used more than its memory limit")
}

// logsOf is how Docker keeps the logs of a pod's containers.
func (h *host) logsOf(pod string) map[string]docker.LogConfig {
	h.t.Helper()
	configs := map[string]docker.LogConfig{}
	for _, c := range h.containers() {
		if c.pod != fullName(pod) {
			continue
		}
		detail, err := h.inspect(c.id)
		if err != nil {
			h.t.Fatal(err)
		}
		configs[c.of] = detail.HostConfig.LogConfig
	}
	return configs
}

func TestIntegrationLogsAreBounded(t *testing.T) {
	for _, test := range []struct {
		name   string
		flags  []string
		config map[string]string // what Docker is told; nil: nothing, as of a container that a person runs
	}{
		{"as it comes", nil, map[string]string{"max-size": "10000000", "max-file": "3"}},
		{"by flags", []string{"-container_log_max_size=20KB", "-container_log_max_files=2"}, map[string]string{"max-size": "20000", "max-file": "2"}},
		{"not at all", []string{"-container_log_max_size=0"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("pod.yaml", sleeper("pod"))
			h.write("flood.yaml", job("flood", "/hello, flood"))
			h.start(test.flags...)
			h.eventually("the pods have come up", func() error { return errors.Join(h.sleepersAre("pod"), h.ended("flood")) })
			logs := h.logsOf("pod")
			want := h.stranger("stranger-"+h.hostname, helloImage).HostConfig.LogConfig
			if test.config != nil {
				want.Config = test.config
			}
			for _, name := range []string{"main", "net"} {
				if got := logs[name]; got.Type != "json-file" || !maps.Equal(got.Config, want.Config) {
					t.Errorf("the log of %q is kept as %+v, want %+v", name, got, want)
				}
			}
			log := h.logs(h.newest("flood", "main").id)
			if kept := len(log) >= 80_000; kept == (test.config["max-size"] == "20000") || !strings.Contains(log, "\n1000 x") {
				t.Errorf("of 80 KB that it has printed %d bytes are kept, which end with %q", len(log), log[max(0, len(log)-100):])
			}
		})
	}
}

// A log driver that was chosen for the daemon has no such bounds; with this one no
// log can even be read.
func TestIntegrationAnotherLogDriverIsLeftAlone(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	configured := d.exec(`mkdir -p /etc/docker && echo '{"log-driver": "none"}' >/etc/docker/daemon.json`)
	if err := waitFor(func() error {
		e, err := d.outer.InspectExec(configured)
		if err == nil && (e.Running || e.ExitCode != 0) {
			err = fmt.Errorf("it runs, or has ended with %d", e.ExitCode)
		}
		return err
	}); err != nil {
		t.Fatalf("configure the test's dockerd: %v", err)
	}
	d.start()
	d.makeImage()
	h := newHostOn(t, d.endpoint)
	h.write("pod.yaml", sleeper("pod"))
	h.write("job.yaml", job("job", "/hello, cat, /nosuch"))
	p := h.start()
	h.eventually("the pods have come up", func() error { return errors.Join(h.sleepersAre("pod"), h.ended("job")) })
	logs := h.logsOf("pod")
	for _, name := range []string{"main", "net"} {
		if got := logs[name]; got.Type != "none" || len(got.Config) > 0 {
			t.Errorf("the log of %q is kept as %+v, want the daemon's none", name, got)
		}
	}
	h.eventually("the job that failed has no last words", func() error { return p.shows("job/main", "terminated", "Error") })
	if table, err := p.status(); err != nil || table.rows["job/main"].reason != "Error (exit code 1)" {
		t.Errorf("they are %q, %v", table.rows["job/main"].reason, err)
	}
}

// imageOfUser makes an image of the demo whose containers run as a user.
func (h *host) imageOfUser(user string) string {
	h.t.Helper()
	c, err := h.docker.CreateContainer(docker.CreateContainerOptions{Config: &docker.Config{Image: helloImage, Cmd: []string{"/hello"}}})
	if err != nil {
		h.t.Fatal(err)
	}
	defer h.removeByID(c.ID)
	image := "kubelet14/" + h.hostname + ":user"
	name, tag, _ := strings.Cut(image, ":")
	if _, err := h.docker.CommitContainer(docker.CommitContainerOptions{Container: c.ID, Repository: name, Tag: tag, Run: &docker.Config{User: user}}); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := h.docker.RemoveImageExtended(image, docker.RemoveImageOptions{Force: true}); err != nil {
			h.t.Errorf("remove image %s: %v", image, err)
		}
	})
	return image
}

func TestIntegrationTerminationMessages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	pods := []struct {
		id, command string
		more        string // of the container
		words       string // how the kubelet says that it ended
	}{
		{"usual", `/hello, say, -exit, "3", /dev/termination-log, "sorry\nno memory\n"`, "", "Error (exit code 3): sorry; no memory"},
		{"done", `/hello, say, /dev/termination-log, "42 rows"`, "", "Completed: 42 rows"},
		{"elsewhere", `/hello, say, -exit, "3", /var/run/last words, sorry`, ", terminationMessagePath: /var/run/last words", "Error (exit code 3): sorry"},
		{"no-longer-there", `/hello, say, -exit, "3", /dev/termination-log, sorry`, ", terminationMessagePath: /last", "Error (exit code 3)"},
		{"as-a-user", `/hello, say, -exit, "3", /dev/termination-log, sorry`, ", image: USERIMAGE", "Error (exit code 3): sorry"},
		{"long", `/hello, say, -exit, "3", /dev/termination-log, ` + strings.Repeat("x", 4096) + "yyy", "", "Error (exit code 3): " + strings.Repeat("x", 4096)},
		{"log", "/hello, cat, /nosuch", "", "Error (exit code 1): hello cat: open /nosuch: no such file or directory"},
		{"log-of-success", "/hello, env", "", "Completed"},
	}
	user := h.imageOfUser("1000:1000")
	for _, pod := range pods {
		manifest := "version: v1beta1\nid: ID\nrestartPolicy: {never: {}}\ncontainers: [{name: main, command: [COMMAND]MORE}]\n"
		if !strings.Contains(pod.more, "image:") {
			pod.more += ", image: HELLO"
		}
		h.write(pod.id+".yaml", strings.NewReplacer("ID", pod.id, "COMMAND", pod.command, "MORE", strings.ReplaceAll(pod.more, "USERIMAGE", user)).Replace(manifest))
	}
	p := h.start()
	areSaid := func() error {
		table, err := p.status()
		for _, pod := range pods {
			if got := table.rows[pod.id+"/main"]; err == nil && (got.state != "terminated" || got.reason != pod.words) {
				err = fmt.Errorf("pod %s is %s with %q, want terminated with %q", pod.id, got.state, got.reason, pod.words)
			}
		}
		return err
	}
	h.eventually("all last words are said", areSaid)

	p.kill()
	p = h.start()
	h.eventually("the next kubelet says them too", areSaid)

	for _, pod := range pods {
		h.remove(pod.id + ".yaml")
	}
	h.eventually("they go with their pods", h.noVolumes)
}

// What one attempt said is not said by the next one, and its file goes with it.
func TestIntegrationTerminationFiles(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", sleeper("pod"))
	h.start("-maximum_dead_containers_per_container=1")
	h.eventually("the pod is up", func() error { return h.sleepersAre("pod") })
	dir := filepath.Join(h.rootDir, "pods", h.uid("pod"), "termination")
	for _, attempt := range []string{"1", "2"} {
		h.writeFile(filepath.Join(dir, "main."+attempt), "bye")
		if now := h.killAndAwait("pod"); now.attempt == attempt {
			t.Fatalf("%s lives, want another attempt", now)
		}
	}
	h.eventually("the files of the containers that are kept are left", func() error { return dirHolds(dir, []string{"main.2", "main.3"}) })
	if err := fileHolds(filepath.Join(dir, "main.3"), ""); err != nil {
		t.Error(err)
	}
	c, err := h.inspect(h.live("pod", "main").id)
	if err != nil {
		t.Fatal(err)
	}
	var mounts []string
	for _, m := range c.Mounts {
		mounts = append(mounts, m.Source+" at "+m.Destination)
	}
	if want := filepath.Join(dir, "main.3") + " at /dev/termination-log"; strings.Join(mounts, " ") != want {
		t.Errorf("the container has the mounts %q, want %q", mounts, want)
	}
}

func TestIntegrationATerminationMessageThatIsNoTextDoesNoHarm(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("junk.yaml", job("junk", "/hello, sleep"))
	h.write("other.yaml", sleeper("other"))
	p := h.start()
	h.eventually("the pods are up", func() error { return h.sleepersAre("junk", "other") })
	file := filepath.Join(h.rootDir, "pods", h.uid("junk"), "termination", "main.1")
	h.writeFile(file, "begin\t\r\n\v\f\x00\x1b[2J"+randomBytes())
	h.killAndAwaitEnd("junk")
	h.eventually("it is said in a row", func() error { return p.shows("junk/main", "terminated", ": begin") })
	table, err := p.status()
	if err != nil || len(table.rows) != 6 || strings.Contains(table.text, "\x1b") {
		t.Errorf("of two pods with two containers each the table has %d rows, %v:\n%q", len(table.rows), err, table.text)
	}
}

// killAndAwaitEnd kills the container of a pod that is not started again.
func (h *host) killAndAwaitEnd(id string) {
	h.t.Helper()
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: h.live(id, "main").id}); err != nil {
		h.t.Fatal(err)
	}
	h.eventually("pod "+id+" has ended", func() error { return h.ended(id) })
}

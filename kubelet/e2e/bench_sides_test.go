package e2e

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/e2e/hosttest"
)

// manifest returns a pod with one container, for the kubelet and for podman.
func (s *stage) manifest(pod string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s}
spec:
  volumes: [{name: begun, hostPath: {path: %[2]s}}]
  containers:
  - name: main
    image: %[3]s
    command: [/hello, append, /begun/%[1]s, begun]
    env: [{name: EDITION, value: "%[4]d"}]
    volumeMounts: [{name: begun, mountPath: /begun}]
`, pod, s.dir, dockertools.HelloImage, s.edition)
}

// run runs a command to its end.
func (s *stage) run(command ...string) string {
	s.b.Helper()
	var stderr strings.Builder
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.b.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func (s *stage) containerPid(command, container string) int {
	s.b.Helper()
	pid, err := strconv.Atoi(s.run(command, "inspect", "--format", "{{.State.Pid}}", container))
	unittest.Must(s.b, err)
	return pid
}

// bareSide makes the calls that a pod needs, eight pods at a time: a network container, and one that joins it.
type bareSide struct {
	*stage
	pods map[string]*barePod
}

type barePod struct{ network, app string } // ids of containers

func newBareSide(s *stage) *bareSide { return &bareSide{s, map[string]*barePod{}} }

func (*bareSide) name() string   { return "bare Docker calls" }
func (*bareSide) pid(string) int { return 0 }

func (s *bareSide) create(name, network string, config docker.Config, binds ...string) string {
	c, err := s.host.Docker.CreateContainer(docker.CreateContainerOptions{
		Name: fmt.Sprintf("%s-bare-%s", s.host.Hostname, name), Config: &config, HostConfig: &docker.HostConfig{NetworkMode: network, Binds: binds},
	})
	if err != nil {
		s.b.Error(err)
		return ""
	}
	return c.ID
}

func (s *bareSide) createApp(pod, network string) string {
	return s.create(fmt.Sprintf("%s-%d", pod, s.edition), "container:"+network, docker.Config{
		Image: dockertools.HelloImage, Cmd: []string{"/hello", "append", "/begun/" + pod, "begun"}, Env: []string{fmt.Sprint("EDITION=", s.edition)},
	}, s.dir+":/begun")
}

func (s *bareSide) begin(id string) { s.host.Check(s.host.Docker.StartContainer(id, nil)) }
func (s *bareSide) end(id string)   { s.host.Check(s.host.Docker.StopContainer(id, 10)) }

func (s *bareSide) remove(id string) {
	s.host.Check(s.host.Docker.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true}))
}

func (s *bareSide) start(pods []string) {
	for _, pod := range pods {
		s.pods[pod] = &barePod{}
	}
	each(pods, 8, func(pod string) {
		p := s.pods[pod]
		p.network = s.create(pod+"-net", s.host.Network, docker.Config{Image: dockertools.PauseImage, Entrypoint: dockertools.PauseCommand()})
		var started sync.WaitGroup
		started.Go(func() { s.begin(p.network) })
		p.app = s.createApp(pod, p.network)
		started.Wait()
		s.begin(p.app)
	})
}

func (s *bareSide) edit(pods []string) {
	each(pods, 8, func(pod string) {
		p := s.pods[pod]
		old := p.app
		p.app = s.createApp(pod, p.network)
		s.end(old)
		s.begin(p.app)
		s.remove(old)
	})
}

func (s *bareSide) stop(pods []string) {
	each(pods, 8, func(pod string) {
		p := s.pods[pod]
		s.end(p.app)
		s.remove(p.app)
		s.remove(p.network)
	})
}

// kubeletSide is a kubelet that runs all the time.
type kubeletSide struct {
	*stage
	process *hosttest.Process
}

func newKubeletSide(s *stage) *kubeletSide {
	s.host.WriteSleepers("stays") // a kubelet whose manifests are all gone waits 20 s before it believes that
	p := s.host.Start()
	p.AwaitUp("stays")
	return &kubeletSide{s, p}
}

func (*kubeletSide) name() string { return "kubelet14" }

func (s *kubeletSide) start(pods []string) { s.until("start", 2*len(pods), func() { s.write(pods) }) }
func (s *kubeletSide) edit(pods []string)  { s.until("start", len(pods), func() { s.write(pods) }) }

func (s *kubeletSide) stop(pods []string) {
	containers := slices.DeleteFunc(s.host.Containers(), func(c hosttest.Container) bool { return c.Pod == hosttest.FullName("stays") })
	s.until("destroy", len(containers), func() { s.host.Remove(pods...) })
}

func (s *kubeletSide) write(pods []string) {
	for _, pod := range pods {
		s.host.Write(pod, s.manifest(pod))
	}
}

// until does something and waits until Docker has reported an action of so many containers.
func (s *kubeletSide) until(action string, containers int, do func()) {
	next, stop := s.host.listen(s.b)
	defer stop()
	do()
	deadline := time.After(unittest.Limit())
	for range containers {
		next(action, deadline)
	}
}

func (s *kubeletSide) pid(pod string) int {
	return s.containerPid("docker", s.host.Live(pod, "main").ID)
}

// printIdle prints what the kubelet needs, with its defaults, while some pods and the one that stays are up.
func (s *kubeletSide) printIdle(w io.Writer, count int) {
	pods := podNames(count)
	s.edition++
	s.untilBegun(count, func() { s.start(pods) })
	time.Sleep(12 * time.Second) // until the work of the start is done, with one sync
	used := s.host.measureIdle(s.process, time.Minute)
	fmt.Fprintf(w, "\nkubelet14, idle with %d pods: %.2f %% of a core, %.0f MB, %.1f Docker calls a minute\n", count+1, used.cpu, used.megabytes, 60*used.calls)
	s.stop(pods)
}

// composeSide is one project, with a service for each container.
type composeSide struct {
	*stage
	pods    bool // whether each pod has a network container too
	project string
	file    string
}

func newComposeSide(s *stage, pods bool) *composeSide {
	project := s.host.Hostname + "-one"
	if pods {
		project = s.host.Hostname + "-pods"
	}
	return &composeSide{s, pods, project, filepath.Join(s.host.Dir, project+".yaml")}
}

func (s *composeSide) name() string {
	if s.pods {
		return "compose, two"
	}
	return "compose, one"
}

func (s *composeSide) start(pods []string) {
	var text strings.Builder
	fmt.Fprintf(&text, "networks: {default: {name: %s, external: true}}\nservices:\n", s.host.Network)
	for _, pod := range pods {
		fmt.Fprintf(&text, `  %[1]s:
    image: %[2]s
    command: [/hello, append, /begun/%[1]s, begun]
    environment: {EDITION: "%[3]d"}
    volumes: ["%[4]s:/begun"]
    restart: always
`, pod, dockertools.HelloImage, s.edition, s.dir)
		if s.pods {
			fmt.Fprintf(&text, `    network_mode: service:%[1]s-net
  %[1]s-net:
    image: %[2]s
    entrypoint: [%[3]s]
    stop_signal: SIGKILL
    restart: always
`, pod, dockertools.PauseImage, strings.Join(dockertools.PauseCommand(), ", "))
		}
	}
	s.host.WriteFile(s.file, text.String())
	s.compose("up", "--detach")
}

func (s *composeSide) compose(args ...string) {
	s.b.Helper()
	s.run(append([]string{"docker", "compose", "--file", s.file, "--project-name", s.project, "--progress", "quiet"}, args...)...)
}

func (s *composeSide) edit(pods []string) { s.start(pods) }
func (s *composeSide) stop([]string)      { s.compose("down") }

func (s *composeSide) pid(pod string) int { return s.containerPid("docker", s.project+"-"+pod+"-1") }

// podmanSide is one file of pods.
type podmanSide struct {
	*stage
	file string
}

func newPodmanSide(s *stage) *podmanSide {
	archive := filepath.Join(s.host.Dir, "hello.tar")
	s.run("docker", "save", "--output", archive, dockertools.HelloImage)
	s.run("podman", "load", "--quiet", "--input", archive)
	return &podmanSide{s, filepath.Join(s.host.Dir, "podman.yaml")}
}

func (*podmanSide) name() string { return "podman kube play" }

func (s *podmanSide) start(pods []string) { s.play(pods) }

func (s *podmanSide) edit(pods []string) { s.play(pods, "--replace") }

func (s *podmanSide) play(pods []string, flags ...string) {
	var text strings.Builder
	for _, pod := range pods {
		text.WriteString(s.manifest(pod))
	}
	s.host.WriteFile(s.file, text.String())
	s.run(append([]string{"podman", "kube", "play", s.file}, flags...)...)
}

func (s *podmanSide) stop([]string)      { s.run("podman", "kube", "down", s.file) }
func (s *podmanSide) pid(pod string) int { return s.containerPid("podman", pod+"-main") }

// each calls do for every item, some at a time, and waits.
func each[T any](items []T, atOnce int, do func(T)) {
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, item := range items {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			do(item)
		})
	}
	all.Wait()
}

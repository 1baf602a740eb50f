package kubelet

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/volume"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("logtostderr", "true")
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// world is a host with a Docker in memory, on which kubelets live and die.
type world struct {
	t       *testing.T
	docker  *dockertest.Fake
	rootDir string
	options func(*Options)                       // changes what the next kubelet is made of; may be nil
	program func(name string) dockertest.Program // what the app container of this name does; may be nil
}

// inWorld runs a test in a bubble, where hours pass at once.
func inWorld(t *testing.T, test func(w *world)) {
	rootDir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, docker: dockertest.NewFake(), rootDir: rootDir}
		w.docker.AddImage("hello:1", func(spec dockertools.ContainerSpec) dockertest.Program {
			if parts, ok := dockertools.ParseContainerName(spec.Name); ok && w.program != nil {
				return w.program(parts.Name)
			}
			return dockertest.Program{}
		})
		test(w)
	})
}

// kubelet is one life of a kubelet.
type kubelet struct {
	kl      *Kubelet
	updates chan api.PodUpdate
	end     func() // ends it, as SIGTERM does, and returns when it has ended
}

// newKubelet makes a kubelet that does nothing yet; close gives up its root_dir.
func (w *world) newKubelet() (kl *Kubelet, close func()) {
	w.t.Helper()
	root, err := volume.OpenRootDir(w.rootDir)
	if err != nil {
		w.t.Fatal(err)
	}
	opts := Options{
		Identity:              dockertools.Identity{Hostname: "host", RootDir: root.Path()},
		Docker:                w.docker,
		Volumes:               root,
		NetworkContainerImage: dockertools.PauseImage,
		SyncFrequency:         10 * time.Second,
		MaxRestartBackoff:     time.Minute,
		MaxDeadContainers:     2,
		Credentials:           func(context.Context, string) (dockertools.Auth, error) { return dockertools.Auth{}, nil },
		RegistryBurst:         10,
		SourceErrors:          func() map[string]string { return nil },
		SyncDone:              func(time.Duration, bool) {}, PullDone: func(time.Duration, bool) {},
	}
	if w.options != nil {
		w.options(&opts)
	}
	return NewMainKubelet(opts), func() { root.Close() }
}

// start begins a life in which all that is given is wanted.
func (w *world) start(pods ...api.Pod) *kubelet {
	w.t.Helper()
	return w.startWith(api.PodUpdate{Op: api.SET, Pods: pods})
}

// startWith begins a life with a first update.
func (w *world) startWith(first api.PodUpdate) *kubelet {
	w.t.Helper()
	kl, closeRoot := w.newKubelet()
	k := &kubelet{kl: kl, updates: make(chan api.PodUpdate, 1)}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := kl.Run(ctx, k.updates); err != nil {
			w.t.Errorf("run: %v", err)
		}
	}()
	k.end = sync.OnceFunc(func() {
		cancel()
		<-done
		closeRoot()
	})
	w.t.Cleanup(k.end)
	k.updates <- first
	return k
}

// set makes these pods all that is wanted.
func (k *kubelet) set(pods ...api.Pod) {
	k.updates <- api.PodUpdate{Op: api.SET, Pods: pods}
}

// settle waits for a minute, which is enough for whatever must happen.
func settle() { wait(time.Minute) }

// wait waits, and then until nothing happens any more at that time.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// kill ends the process of the live container of a pod by this name.
func (w *world) kill(podName, name string, exitCode int) {
	w.t.Helper()
	if err := w.docker.Kill(w.id(podName, name), exitCode); err != nil {
		w.t.Fatal(err)
	}
}

// on makes the calls of a method fail or wait that name a container by this part of its name.
func on(method, container string, fault dockertest.Fault) func(dockertest.Call) dockertest.Fault {
	return func(c dockertest.Call) dockertest.Fault {
		if c.Method == method && strings.Contains(c.Container, container) {
			return fault
		}
		return dockertest.Fault{}
	}
}

// always makes every call of a method fail or wait.
func always(method string, fault dockertest.Fault) func(dockertest.Call) dockertest.Fault {
	return on(method, "", fault)
}

// never gives a pod the restart policy never.
func never(p api.Pod) api.Pod {
	p.Manifest.RestartPolicy = api.RestartPolicy{Never: &api.RestartPolicyNever{}}
	return p
}

// onFailure gives a pod the restart policy onFailure.
func onFailure(p api.Pod) api.Pod {
	p.Manifest.RestartPolicy = api.RestartPolicy{OnFailure: &api.RestartPolicyOnFailure{}}
	return p
}

// pod makes a pod with these app containers; each may have a tag after a colon,
// which is an env value, to tell one form of it from another.
func pod(name string, containers ...string) api.Pod {
	p := api.Pod{Name: name, Namespace: "default", UID: "uid-" + name, Source: "file", Origin: name + ".yaml"}
	p.Manifest = api.ContainerManifest{Version: "v1beta1", ID: name, Volumes: []api.Volume{{Name: "data"}}}
	for _, c := range containers {
		c, tag, _ := strings.Cut(c, ":")
		p.Manifest.Containers = append(p.Manifest.Containers, api.Container{
			Name: c, Image: "hello:1", Env: []api.EnvVar{{Name: "TAG", Value: tag}},
			VolumeMounts: []api.VolumeMount{{Name: "data", MountPath: "/data"}},
		})
	}
	return p
}

// publish gives the pod's first container a port of the host.
func publish(p api.Pod, hostPort int) api.Pod {
	p.Manifest.Containers[0].Ports = []api.Port{{HostPort: hostPort, ContainerPort: 80}}
	return p
}

// live lists the live containers as "pod/name:tag", sorted. It fails the test when
// an app container is not joined to its pod's one live network container.
func (w *world) live() []string {
	w.t.Helper()
	nets := map[string]string{} // pod to id
	for _, c := range w.docker.Containers() {
		if parts, ok := dockertools.ParseContainerName(c.Name); ok && c.State.Live() && parts.Name == "net" {
			nets[parts.PodFullName] = c.ID
		}
	}
	list := []string{}
	for _, c := range w.docker.Containers() {
		parts, ok := dockertools.ParseContainerName(c.Name)
		if !ok || !c.State.Live() {
			continue
		}
		short, _, _ := strings.Cut(parts.PodFullName, ".")
		name := short + "/" + parts.Name
		for _, env := range c.Spec.Env {
			if tag := strings.TrimPrefix(env, "TAG="); tag != "" {
				name += ":" + tag
			}
		}
		if parts.Name != "net" && c.Spec.NetworkContainer != nets[parts.PodFullName] {
			w.t.Errorf("%s has joined %q, its pod's network container is %q", name, c.Spec.NetworkContainer, nets[parts.PodFullName])
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// check compares the live containers with what they must be.
func (w *world) check(when string, want ...string) {
	w.t.Helper()
	if got := w.live(); !slices.Equal(got, want) {
		w.t.Errorf("%s: live: %q\nwant %q\n%s", when, got, want, w.describe())
	}
}

// describe shows all there is on Docker.
func (w *world) describe() string {
	var b strings.Builder
	for _, c := range w.docker.Containers() {
		fmt.Fprintf(&b, "  %-60s %-8s exit %d %s\n", c.Name, c.State, c.Details.ExitCode, c.Details.Error)
	}
	return b.String()
}

// id is the id of the one live container of a pod by this name.
func (w *world) id(podName, name string) string {
	w.t.Helper()
	id := ""
	for _, c := range w.docker.Containers() {
		parts, ok := dockertools.ParseContainerName(c.Name)
		if ok && c.State.Live() && parts.Name == name && parts.PodFullName == podName+".default.file" {
			if id != "" {
				w.t.Fatalf("pod %s has two live containers %q\n%s", podName, name, w.describe())
			}
			id = c.ID
		}
	}
	if id == "" {
		w.t.Fatalf("pod %s has no live container %q\n%s", podName, name, w.describe())
	}
	return id
}

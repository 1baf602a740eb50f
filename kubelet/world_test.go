package kubelet

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/wishes"
	"kubelet14/volume"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// world is a host with a Docker in memory, on which kubelets start and end.
type world struct {
	t       *testing.T
	docker  *dockertest.Fake
	rootDir string
	options func(*Options)                       // changes what the next kubelet is made of; may be nil
	program func(name string) dockertest.Program // what the app container of this name does; may be nil
	journal journal                              // what the containers have written
}

// inWorld runs a test in a bubble, where hours pass at once.
func inWorld(t *testing.T, test func(w *world)) {
	rootDir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, docker: dockertest.NewFake(), rootDir: rootDir}
		w.docker.AddImage("hello:1", func(spec dockertools.ContainerSpec) dockertest.Program {
			parts, ok := dockertools.ParseContainerName(spec.Name)
			program := dockertest.Program{}
			if ok && w.program != nil {
				program = w.program(parts.Name)
			}
			run := &journalRun{NameParts: parts, network: spec.NetworkContainer}
			program.Began, program.Ended = func() { w.journal.begin(t, run) }, func(code int) { w.journal.end(run, code) }
			return program
		})
		test(w)
	})
}

// kubelet is a kubelet that runs until its end.
type kubelet struct {
	kl      *Kubelet
	journal *journal
	updates chan api.PodUpdate
	end     func() // ends it, as SIGTERM does, and returns when it has ended
}

// newKubelet makes a kubelet that does nothing yet; close gives up its root_dir.
func (w *world) newKubelet() (kl *Kubelet, close func()) {
	w.t.Helper()
	root, err := volume.OpenRootDir(w.rootDir)
	w.must(err)
	people, err := wishes.Open(root.Path())
	w.must(err)
	opts := Options{
		Wishes:                people,
		Identity:              dockertools.Identity{Hostname: "host", RootDir: root.Path()},
		Docker:                w.docker,
		Volumes:               root,
		NetworkContainerImage: dockertools.PauseImage,
		Limits:                plan.Limits{PodNetwork: "pods", MaxBackoff: time.Minute, MaxDeadContainers: 2},
		SyncFrequency:         10 * time.Second,
		Credentials:           func(context.Context, string) (dockertools.Auth, error) { return dockertools.Auth{}, nil },
		RegistryBurst:         10,
		Trace:                 &trace.Trace{},
		Sources:               func() []api.SourceStatus { return nil },
		SyncDone:              func(time.Duration, bool) {}, PullDone: func(time.Duration, bool) {},
	}
	if w.options != nil {
		w.options(&opts)
	}
	return NewMainKubelet(opts), func() { root.Close() }
}

// start starts a kubelet whose desired state is these pods.
func (w *world) start(pods ...api.Pod) *kubelet {
	w.t.Helper()
	return w.startWith(api.PodUpdate{Op: api.SET, Pods: pods})
}

// startWith starts a kubelet with a first update.
func (w *world) startWith(first api.PodUpdate) *kubelet {
	w.t.Helper()
	updates := make(chan api.PodUpdate, 1)
	w.journal.expect(first.Pods)
	updates <- first
	k := w.startOn(updates)
	k.updates = updates
	return k
}

// startOn starts a kubelet with the updates of sources.
func (w *world) startOn(updates <-chan api.PodUpdate) *kubelet {
	w.t.Helper()
	kl, closeRoot := w.newKubelet()
	k := &kubelet{kl: kl, journal: &w.journal}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := kl.Run(ctx, updates); err != nil {
			w.t.Errorf("run: %v", err)
		}
	}()
	k.end = sync.OnceFunc(func() {
		cancel()
		<-done
		closeRoot()
	})
	w.t.Cleanup(k.end)
	return k
}

// set makes these pods the desired state.
func (k *kubelet) set(pods ...api.Pod) {
	k.journal.expect(pods)
	k.updates <- api.PodUpdate{Op: api.SET, Pods: pods}
}

// run starts a kubelet and waits until it has nothing more to do.
func (w *world) run(pods ...api.Pod) *kubelet {
	w.t.Helper()
	k := w.start(pods...)
	settle()
	return k
}

// eachDeath runs a scenario repeatedly, each time in a new world. In the first one the kubelet dies in its mortal part
// after the first Docker call that changes something, in the second one after two, and so on, until it reaches the end.
func eachDeath(t *testing.T, scenario func(w *world, mortal func(life func()))) {
	t.Helper()
	for n, died := 1, true; died; n++ {
		inWorld(t, func(w *world) {
			scenario(w, func(life func()) { died = w.dies(n, life) })
			if t.Failed() || n > 50 {
				t.Fatalf("a kubelet died after %d calls", n)
			}
		})
	}
}

// dies runs a part of a kubelet's life that ends with its n-th call that changes something, and reports whether there
// was such a call.
func (w *world) dies(n int, life func()) bool {
	var died atomic.Bool
	w.docker.StopAfter(n, func() { died.Store(true) })
	life()
	w.docker.StopAfter(0, nil)
	return died.Load()
}

// must fails the test at an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// settle waits for a minute, which is enough for everything that must happen.
func settle() { wait(time.Minute) }

// wait waits, and then until nothing happens any more at that time.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// kill ends the process of the live container of a pod by this name.
func (w *world) kill(podName, name string, exitCode int) {
	w.t.Helper()
	w.must(w.docker.Kill(w.id(podName, name), exitCode))
}

// byHand does to each container whose name has this part what a person does.
func (w *world) byHand(do func(docker dockertools.Interface, ctx context.Context, id string) error, part string) {
	w.t.Helper()
	for _, c := range w.docker.Containers() {
		if strings.Contains(c.Name, part) {
			w.must(do(w.docker.ByHand(), w.t.Context(), c.ID))
		}
	}
}

// on makes each call of a method fail or wait if it is about a container whose name has all these parts.
func on(method string, fault dockertest.Fault, parts ...string) func(dockertest.Call) dockertest.Fault {
	return when(method, func(dockertest.Call) dockertest.Fault { return fault }, parts...)
}

// when calls fault for each call of a method about a container whose name has all these parts.
func when(method string, fault func(dockertest.Call) dockertest.Fault, parts ...string) func(dockertest.Call) dockertest.Fault {
	return func(c dockertest.Call) dockertest.Fault {
		missing := func(part string) bool { return !strings.Contains(c.Container, part) }
		if c.Method != method || slices.ContainsFunc(parts, missing) {
			return dockertest.Fault{}
		}
		return fault(c)
	}
}

// containers returns all containers of pods, live or not, by name.
func (w *world) containers() iter.Seq2[dockertools.NameParts, dockertest.FakeContainer] {
	return func(yield func(dockertools.NameParts, dockertest.FakeContainer) bool) {
		for _, c := range w.docker.Containers() {
			if parts, ok := dockertools.ParseContainerName(c.Name); ok && !yield(parts, c) {
				return
			}
		}
	}
}

// newest returns the highest attempt number of a container of any pod.
func (w *world) newest(name string) (attempt int) {
	for parts := range w.containers() {
		if parts.Name == name {
			attempt = max(attempt, parts.Attempt)
		}
	}
	return attempt
}

// live returns the live containers as "pod/name:tag", sorted. It fails the test when
// an app container is not joined to its pod's one live network container.
func (w *world) live() []string {
	w.t.Helper()
	nets := map[string]string{} // pod to id
	for parts, c := range w.containers() {
		if c.ListState.Live() && parts.Name == "net" {
			nets[parts.PodFullName] = c.ID
		}
	}
	list := []string{}
	for parts, c := range w.containers() {
		if !c.ListState.Live() {
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

// check compares the live containers with the wanted ones.
func (w *world) check(when string, want ...string) {
	w.t.Helper()
	if got := w.live(); !slices.Equal(got, want) {
		w.t.Errorf("%s: live: %q\nwant %q\n%s", when, got, want, w.describe())
	}
}

// settle waits for a minute and compares the live containers with the wanted ones.
func (w *world) settle(when string, want ...string) {
	w.t.Helper()
	w.after(time.Minute, when, want...)
}

// after waits and compares the live containers with the wanted ones.
func (w *world) after(d time.Duration, when string, want ...string) {
	w.t.Helper()
	wait(d)
	w.check(when, want...)
}

// checkCalls compares the number of calls of a method.
func (w *world) checkCalls(method string, want int) {
	w.t.Helper()
	if n := w.docker.Calls()[method]; n != want {
		w.t.Errorf("%d calls of %s, want %d\n%s", n, method, want, w.describe())
	}
}

// checkID checks whether the live container is still that of an earlier id.
func (w *world) checkID(podName, name, before string, same bool) {
	w.t.Helper()
	if got := w.id(podName, name); (got == before) != same {
		w.t.Errorf("container %q of pod %s is the same: %v, want %v\n%s", name, podName, !same, same, w.describe())
	}
}

// describe lists all containers on Docker.
func (w *world) describe() string {
	var b strings.Builder
	for _, c := range w.docker.Containers() {
		fmt.Fprintf(&b, "  %-60s %-8s exit %d %s\n", c.Name, c.ListState, c.Details.ExitCode, c.Details.Error)
	}
	return b.String()
}

// id is the id of the one live container of a pod by this name.
func (w *world) id(podName, name string) (id string) {
	w.t.Helper()
	for parts, c := range w.containers() {
		if c.ListState.Live() && parts.Name == name && parts.PodFullName == podName+".default.file" {
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

// statuses returns the statuses of all pods.
func (k *kubelet) statuses(w *world) []api.PodStatus {
	w.t.Helper()
	statuses, _, err := k.kl.Statuses()
	w.must(err)
	return statuses
}

// main returns the status of the first container of the first pod.
func (k *kubelet) main(w *world) api.ContainerStatus {
	w.t.Helper()
	return k.statuses(w)[0].Containers[0]
}

// lastIs checks how the first container of the first pod ended before: the reason and parts of the message.
func (k *kubelet) lastIs(w *world, reason string, parts ...string) {
	w.t.Helper()
	last := k.main(w).Last
	missing := func(part string) bool { return !strings.Contains(last.Message, part) }
	if last == nil || last.Reason != reason || slices.ContainsFunc(parts, missing) {
		w.t.Errorf("it ended before with %+v, want %s with %q", last, reason, parts)
	}
}

// healthIs checks a part of the error of Health; an empty part is no error.
func (k *kubelet) healthIs(t *testing.T, when, part string) {
	t.Helper()
	err := k.kl.Health()
	if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
		t.Errorf("%s: the health is %v, want %q", when, err, part)
	}
}

// checkVolumes compares the UIDs with volumes on disk with those of the pods.
func (w *world) checkVolumes(pods ...api.Pod) {
	w.t.Helper()
	want := map[string]bool{}
	for _, p := range pods {
		want[p.UID] = true
	}
	got := map[string]bool{}
	entries, _ := os.ReadDir(filepath.Join(w.rootDir, "pods")) // which may not be there
	for _, e := range entries {
		got[e.Name()] = true
	}
	if !maps.Equal(got, want) {
		w.t.Errorf("there are volumes of the uids %v, want %v", got, want)
	}
	if trash, err := os.ReadDir(filepath.Join(w.rootDir, "trash")); err == nil && len(trash) > 0 {
		w.t.Errorf("the trash is not empty: %v", trash)
	}
}

// execs records events and their times, such as the commands that run in containers.
type execs struct {
	mu    sync.Mutex
	begun time.Time
	at    []string
}

// asNow makes commands in every container end as outcome returns for the time since now.
func (w *world) asNow(outcome func(since time.Duration) dockertest.ExecOutcome) *execs {
	e := &execs{begun: time.Now()}
	w.program = func(string) dockertest.Program {
		return dockertest.Program{Exec: func(command []string) dockertest.ExecOutcome {
			e.mu.Lock()
			defer e.mu.Unlock()
			since := time.Since(e.begun)
			e.at = append(e.at, strings.Join(command, " ")+"@"+since.String())
			return outcome(since)
		}}
	}
	return e
}

func (e *execs) check(t *testing.T, want ...string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.at, want) {
		t.Errorf("got  %v\nwant %v", e.at, want)
	}
}

func succeed(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{} }

// importPause spares the kubelet the creation that finds its image missing.
func (w *world) importPause() {
	w.t.Helper()
	w.must(dockertools.EnsureBuiltin(w.t.Context(), w.docker.ByHand(), dockertools.PauseImage))
}

// logged returns what is logged at a level while do runs.
func (w *world) logged(level string, do func()) string {
	w.t.Helper()
	return unittest.Logged(w.t, level, do)
}

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	dockerclient "kubelet14/kubelet/dockertools/client"
	"kubelet14/volume"
)

// BenchmarkStart starts pods of two containers with the kubelet, and then makes
// the very same calls of Docker with a bare program that knows nothing but the
// order they need, for several numbers of pods at a time. The ratio is the
// kubelet's best time over the bare program's best.
func BenchmarkStart(b *testing.B) {
	for _, pods := range []int{1, 20, 100} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			rounds := max(2, 10/pods)
			var ours, bare time.Duration
			for range b.N {
				for range rounds {
					took, specs := startWithKubelet(b, pods, nil)
					ours = best(ours, took)
					for _, atOnce := range concurrencies(pods) {
						took := startBare(b, specs, atOnce)
						b.Logf("%d pods, bare, %d at a time: %v", pods, atOnce, took)
						bare = best(bare, took)
					}
					b.Logf("%d pods, kubelet: %v", pods, ours)
				}
			}
			b.ReportMetric(ours.Seconds()/bare.Seconds(), "kubelet/bare")
			b.ReportMetric(ours.Seconds()/float64(pods), "s/pod")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkIdle lets 100 pods be looked at while nothing happens.
func BenchmarkIdle(b *testing.B) {
	const syncs = 10
	for range b.N {
		startWithKubelet(b, 100, func(m *meter) {
			m.waitForLists(syncs) // until the workers have seen what they have done
			before, cpu := m.total(), cpuTime()
			m.waitForLists(syncs)
			b.ReportMetric(float64(m.total()-before)/syncs, "calls/sync")
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/1000/syncs, "cpu-ms/sync")
		})
	}
	b.ReportMetric(0, "ns/op")
}

func best(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

func concurrencies(pods int) []int {
	if pods == 1 {
		return []int{1}
	}
	return []int{2, 4, 8, pods}
}

// meter is Docker with a record of the calls that are made of it.
type meter struct {
	dockertools.Interface

	mu      sync.Mutex
	calls   int
	lists   int
	specs   []dockertools.ContainerSpec
	started int
	changed sync.Cond
}

func newMeter(docker dockertools.Interface) *meter {
	m := &meter{Interface: docker}
	m.changed.L = &m.mu
	return m
}

func (m *meter) count(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	f()
	m.changed.Broadcast()
}

func (m *meter) total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// waitFor waits until enough containers were started.
func (m *meter) waitFor(started int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.started < started {
		m.changed.Wait()
	}
}

// waitForLists waits for so many lists from now.
func (m *meter) waitForLists(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for goal := m.lists + n; m.lists < goal; {
		m.changed.Wait()
	}
}

func (m *meter) ListContainers(ctx context.Context, labels map[string]string) ([]dockertools.Container, error) {
	list, err := m.Interface.ListContainers(ctx, labels)
	m.count(func() { m.lists++ })
	return list, err
}

func (m *meter) InspectContainer(ctx context.Context, id string) (dockertools.Details, error) {
	details, err := m.Interface.InspectContainer(ctx, id)
	m.count(func() {})
	return details, err
}

func (m *meter) CreateContainer(ctx context.Context, spec dockertools.ContainerSpec) (string, error) {
	id, err := m.Interface.CreateContainer(ctx, spec)
	m.count(func() { m.specs = append(m.specs, spec) })
	return id, err
}

func (m *meter) StartContainer(ctx context.Context, id string) error {
	err := m.Interface.StartContainer(ctx, id)
	m.count(func() { m.started++ })
	return err
}

// startWithKubelet starts pods and says how long that took, from the moment they
// are wanted, and what was created for each pod, its network container first.
// While they run it calls then, and afterwards it removes them.
func startWithKubelet(b *testing.B, pods int, then func(*meter)) (time.Duration, [][]dockertools.ContainerSpec) {
	b.Helper()
	prepared(b)
	client, err := dockerclient.New("")
	if err != nil {
		b.Fatal(err)
	}
	root, err := volume.OpenRootDir(filepath.Join(b.TempDir(), "root"))
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	m := newMeter(client)
	hostname := fmt.Sprintf("%s%d-%d", hostnamePrefix, syscall.Getpid(), hosts.Add(1))
	kl := kubelet.NewMainKubelet(kubelet.Options{
		Identity: dockertools.Identity{Hostname: hostname, RootDir: root.Path()},
		Docker:   m, Volumes: root, NetworkContainerImage: dockertools.PauseImage,
		SyncFrequency: time.Second, MaxRestartBackoff: time.Minute, MaxDeadContainers: 2,
		Credentials:   func(context.Context, string) (dockertools.Auth, error) { return dockertools.Auth{}, nil },
		RegistryBurst: 10,
		SourceErrors:  func() map[string]string { return nil },
		SyncDone:      func(time.Duration, bool) {}, PullDone: func(time.Duration, bool) {},
		ContainerLog: dockertools.LogLimit{MaxSize: 10e6, MaxFiles: 3},
	})
	ctx, cancel := context.WithCancel(b.Context())
	updates := make(chan api.PodUpdate)
	var run sync.WaitGroup
	run.Go(func() {
		if err := kl.Run(ctx, updates); err != nil {
			b.Error(err)
		}
	})
	update := api.PodUpdate{Op: api.SET}
	for i := range pods {
		update.Pods = append(update.Pods, benchPod(i))
	}
	updates <- update
	begun := time.Now()
	m.waitFor(3 * pods)
	took := time.Since(begun)
	if then != nil {
		then(m)
	}
	cancel()
	run.Wait()
	if err := kl.Cleanup(b.Context()); err != nil {
		b.Error(err)
	}
	if left, err := client.ListContainers(b.Context(), map[string]string{dockertools.LabelHostname: hostname}); err != nil || len(left) > 0 {
		b.Fatalf("%d containers are left, which would slow down all that follows; %v", len(left), err)
	}

	byPod := map[string][]dockertools.ContainerSpec{}
	for _, spec := range m.specs {
		name, _ := dockertools.ParseContainerName(spec.Name)
		byPod[name.PodFullName] = append(byPod[name.PodFullName], spec)
	}
	var specs [][]dockertools.ContainerSpec
	for _, pod := range byPod {
		specs = append(specs, pod)
	}
	return took, specs
}

func benchPod(i int) api.Pod {
	name := fmt.Sprintf("p%d", i)
	pod := api.Pod{Name: name, Namespace: "default", UID: name, Source: "file", Origin: name + ".yaml"}
	pod.Manifest = api.ContainerManifest{Version: "v1beta1", ID: name}
	for _, c := range []string{"one", "two"} {
		pod.Manifest.Containers = append(pod.Manifest.Containers, api.Container{Name: c, Image: helloImage, Command: []string{"/hello", "sleep"}})
	}
	return pod
}

// makeMounts makes the files that containers mount anew: they went with the
// kubelet's containers.
func makeMounts(b *testing.B, specs [][]dockertools.ContainerSpec) {
	b.Helper()
	for _, spec := range slices.Concat(specs...) {
		for _, mount := range spec.Mounts {
			err := os.MkdirAll(filepath.Dir(mount.HostPath), 0o755)
			if err == nil {
				err = os.WriteFile(mount.HostPath, nil, 0o666)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// startBare makes the calls of specs, some pods at a time, and removes what they
// made.
func startBare(b *testing.B, specs [][]dockertools.ContainerSpec, atOnce int) time.Duration {
	b.Helper()
	docker, err := dockerclient.New("")
	if err != nil {
		b.Fatal(err)
	}
	var (
		mu  sync.Mutex
		ids []string
		wg  sync.WaitGroup
	)
	create := func(spec dockertools.ContainerSpec, net string) string {
		spec.Name = "bare-" + spec.Name
		if spec.NetworkContainer != "" {
			spec.NetworkContainer = net
		}
		id, err := docker.CreateContainer(b.Context(), spec)
		if err != nil {
			b.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, id)
		return id
	}
	start := func(id string) {
		if err := docker.StartContainer(b.Context(), id); err != nil {
			b.Error(err)
		}
	}
	makeMounts(b, specs)
	places := make(chan struct{}, atOnce)
	begun := time.Now()
	for _, pod := range specs {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			net := create(pod[0], "")
			var creations sync.WaitGroup
			apps := make([]string, len(pod)-1)
			creations.Go(func() { start(net) })
			for i, spec := range pod[1:] {
				creations.Go(func() { apps[i] = create(spec, net) })
			}
			creations.Wait()
			var starts sync.WaitGroup
			for _, id := range apps {
				starts.Go(func() { start(id) })
			}
			starts.Wait()
		})
	}
	wg.Wait()
	took := time.Since(begun)
	removeAll(b, docker, ids)
	return took
}

func removeAll(b *testing.B, docker dockertools.Interface, ids []string) {
	places := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if err := docker.RemoveContainer(b.Context(), id); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

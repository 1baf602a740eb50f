package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/config"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/trace"
	"kubelet14/volume"
)

// host is a machine of then or of today, with a Docker in memory.
type host struct {
	docker *dockertest.Fake
	starts map[string]int // by pod; guarded by the lock of docker
	notes  []string       // what else to print of a step
}

func newHost() *host {
	h := &host{docker: dockertest.NewFake(), starts: map[string]int{}}
	for version := range 5 {
		h.docker.AddImage(fmt.Sprint("shop:", version), func(spec dockertools.ContainerSpec) dockertest.Program {
			h.starts[podName(spec.Name)]++
			return dockertest.Program{}
		})
	}
	return h
}

// podName returns the name of the pod of a container, which has the same place in its name then as now.
func podName(container string) string {
	name, _, _ := strings.Cut(strings.Split(container, "_")[2], ".")
	return name
}

// live returns the containers that run, without network containers, which only today's pods have here.
func (h *host) live() []dockertest.FakeContainer {
	other := func(c dockertest.FakeContainer) bool {
		return !c.ListState.Live() || !strings.HasPrefix(c.Image, "shop:")
	}
	return slices.DeleteFunc(h.docker.Containers(), other)
}

func (h *host) running() (pods []string) {
	for _, c := range h.live() {
		pods = append(pods, fmt.Sprintf("%s runs %s in container %d", podName(c.Name), c.Image, h.starts[podName(c.Name)]))
	}
	slices.Sort(pods)
	return append(pods, "nothing runs")[:max(len(pods), 1)]
}

// kill is docker kill of the container of a pod.
func (h *host) kill(pod string) {
	for _, c := range h.live() {
		if podName(c.Name) == pod {
			must(h.docker.Kill(c.ID, 137))
		}
	}
}

// pod returns a pod with one container.
func pod(name, image string) api.Pod {
	return podOf(api.ContainerManifest{ID: name, Containers: []api.Container{{Name: "main", Image: image}}})
}

func podOf(m api.ContainerManifest) api.Pod {
	return api.Pod{Name: m.ID, Namespace: api.NamespaceDefault, UID: m.ID, Manifest: m}
}

// kubelet2014 is what the exhibits need of the kubelet of 2014. A pod has one container here. Docker is
// the memory: k8s_<container>.<hash>_<full name of the pod>_<uid>_<random, here a number>.
type kubelet2014 struct{ *host }

// SyncPods starts what is missing, and then stops what belongs to no pod, by full name or UID.
func (kl *kubelet2014) SyncPods(pods []api.Pod) {
	for _, pod := range pods {
		kl.syncPod(pod)
	}
	for _, c := range kl.live() {
		parts := strings.Split(c.Name, "_")
		if !slices.ContainsFunc(pods, func(pod api.Pod) bool { return pod.FullName() == parts[2] || pod.UID == parts[3] }) {
			must(kl.docker.StopContainer(context.Background(), c.ID, 0))
		}
	}
}

// syncPod makes the container of a pod run. One with another hash is stopped before.
func (kl *kubelet2014) syncPod(pod api.Pod) {
	ctx, spec := context.Background(), pod.Manifest.Containers[0]
	name := fmt.Sprintf("k8s_%s.%x_%s_%s_", spec.Name, hash2014(spec), pod.FullName(), pod.UID)
	for _, c := range kl.live() {
		if strings.HasPrefix(c.Name, name) {
			return
		}
		if strings.Split(c.Name, "_")[2] == pod.FullName() {
			must(kl.docker.StopContainer(ctx, c.ID, 0))
		}
	}
	name += fmt.Sprint(len(kl.docker.Containers()))
	id, err := kl.docker.CreateContainer(ctx, dockertools.ContainerSpec{Name: name, Image: spec.Image})
	must(err)
	must(kl.docker.StartContainer(ctx, id))
}

// today is today's PodConfig and Kubelet, put together as by the main.go of kubelet14.
type today struct {
	*host
	dir    string // for files
	root   *volume.RootDir
	ctx    context.Context // of a kubelet between start and end
	cancel func()
	wg     sync.WaitGroup
	pods   *config.PodConfig
	kl     *kubelet.Kubelet
}

// start starts a kubelet that has read neither of its two sources.
func (t *today) start() {
	var err error
	t.root, err = volume.OpenRootDir(t.dir + "/root")
	must(err)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.pods = config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates)
	t.pods.Channel(t.ctx, "file")
	t.pods.Channel(t.ctx, "http")
	t.kl = kubelet.NewMainKubelet(kubelet.Options{
		Trace:                 &trace.Trace{},
		Identity:              dockertools.Identity{Hostname: "museum", RootDir: t.root.Path()},
		Docker:                t.docker,
		Volumes:               t.root,
		NetworkContainerImage: dockertools.PauseImage,
		SyncFrequency:         time.Hour, // so no tick helps
		Sources:               func() []api.SourceStatus { return nil },
		SyncDone:              func(time.Duration, bool) {}, // the rest is for pulls and limits, which no exhibit has
	})
	t.wg.Go(func() { must(t.kl.Run(t.ctx, t.pods.Updates())) })
}

// end ends the kubelet. Its pods go on running.
func (t *today) end() {
	t.cancel()
	t.wg.Wait()
	t.pods.Wait()
	t.root.Close()
}

// set makes these the pods of a source, and settles.
func (t *today) set(source string, pods ...api.Pod) {
	t.pods.Merge(t.ctx, source, api.PodUpdate{Op: api.SET, Pods: pods})
	t.settle()
}

// follow runs a source. Each call of next waits for its next update, merges that and settles.
func (t *today) follow(source config.Source) (next func()) {
	updates := make(chan api.PodUpdate)
	t.wg.Go(func() { source.Run(t.ctx, updates) })
	return func() {
		update, of := <-updates, source.Status()
		if update.Err != nil {
			t.notes = []string{strings.ReplaceAll(update.Err.Error(), of.Place, of.Source)}
		}
		t.pods.Merge(t.ctx, of.Source, update)
		t.settle()
	}
}

// settle waits until the kubelet has seen all that was sent or happened, and has finished.
func (t *today) settle() {
	t.pods.Sync(t.ctx)
	t.pods.Sync(t.ctx) // the loop receives it when it has done what the one before led to
	t.finish()
}

// finish waits until the kubelet has nothing more to do with what it has seen.
func (t *today) finish() {
	for {
		_, newer, _ := t.kl.Statuses()
		if load := t.kl.Load(); load.Workers+load.Waiting == 0 {
			return
		}
		<-newer
	}
}

package kubelet

import (
	"cmp"
	"context"
	"io"
	"maps"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/trace"
)

// publish replaces the snapshot, and then tells what is up, so that the log is not ahead of the status.
func (kl *Kubelet) publish() {
	s := &status.Snapshot{Complete: len(kl.desired.unsynced) == 0, At: time.Now(), Newer: make(chan struct{})}
	records := kl.records()
	for _, p := range records {
		seen := p.Pod
		s.Pods = append(s.Pods, &seen)
	}
	close(kl.snapshot.Swap(s).Newer)
	kl.news.Held(s.Pods, kl.desired.unsynced)
	for _, p := range records {
		if p.work == nil {
			kl.news.State(&p.Pod, kl.status)
		}
	}
}

// Statuses returns the status of every pod as of the last list, ordered by full name, and a channel that is closed when there
// are newer ones. It does not call Docker. The error says why Docker does not answer now.
func (kl *Kubelet) Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error) {
	s, err := kl.synced()
	if err != nil {
		return nil, nil, err
	}
	err = kl.dockerError()
	errs := map[string]string{}
	for _, source := range kl.opts.Sources() {
		maps.Copy(errs, source.Stale)
	}
	for _, p := range s.Pods {
		pod := kl.status(p)
		pod.SourceError = errs[p.Name]
		pods = append(pods, pod)
	}
	return pods, s.Newer, err
}

// status returns the status of a pod at this moment.
func (kl *Kubelet) status(p *status.Pod) api.PodStatus {
	return status.Of(p, status.Now{Doing: kl.doing.Of(p.Name), PullProgress: kl.images.Progress, ProbeResult: kl.probes.Result, Stale: kl.configs.Stale})
}

// synced returns the snapshot, or an error before the first sync.
func (kl *Kubelet) synced() (*status.Snapshot, error) {
	if s := kl.snapshot.Load(); !s.At.IsZero() {
		return s, nil
	}
	return nil, cmp.Or(kl.Health(), errNoSyncYet)
}

// Pods returns the desired pods, ordered by full name; none before the first sync.
func (kl *Kubelet) Pods() (pods []api.Pod) {
	for _, pod := range kl.snapshot.Load().Desired() {
		pods = append(pods, pod.Pod)
	}
	return pods
}

// NeededImages returns the images of the desired pods. complete is false until every source has been read.
func (kl *Kubelet) NeededImages() (images []string, complete bool) {
	s, err := kl.synced()
	if err != nil {
		return nil, false
	}
	return append(s.Images(), kl.opts.NetworkContainerImage), s.Complete
}

// Load returns how much work there is.
func (kl *Kubelet) Load() api.Load {
	busy := kl.workers.Busy()
	last := kl.snapshot.Load()
	load := api.Load{Workers: len(busy), Waiting: last.Waiting(busy), Listed: last.At}
	load.Pulls, load.Queued = kl.images.Load()
	return load
}

// Comparisons returns the desired state, the observed state and the plan of each pod, by full name.
func (kl *Kubelet) Comparisons() map[string][]trace.Row {
	return kl.opts.Trace.CompareAll(kl.snapshot.Load().Pods)
}

// Note records an event of the node.
func (kl *Kubelet) Note(reason, message string) { kl.events.Add("", "", reason, message) }

// Events returns the events after a sequence number, oldest first.
func (kl *Kubelet) Events(after uint64) []api.Event { return kl.events.After(after) }

// ContainerLogs, RunInContainer and ContainerStats are Read, Run and Stats of logs.Reader.
func (kl *Kubelet) ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error {
	return kl.logs.Read(ctx, podFullName, container, opts, out)
}

func (kl *Kubelet) RunInContainer(ctx context.Context, podFullName, container string, command []string, streams api.Streams) (exitCode int, err error) {
	return kl.logs.Run(ctx, podFullName, container, command, streams)
}

func (kl *Kubelet) ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	return kl.logs.Stats(ctx, podFullName, container)
}

package kubelet

import (
	"cmp"
	"context"
	"io"
	"maps"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/trace"
)

// snapshot is what a sync saw. It is never changed: each sync publishes a new one.
type snapshot struct {
	pods     []*status.Pod // ordered by full name
	complete bool          // every source was read
	at       time.Time
	newer    chan struct{} // closed when there is a newer snapshot
}

// publish replaces the snapshot, and then tells what is up, so that the log is not ahead of the status.
func (kl *Kubelet) publish() {
	s := &snapshot{complete: len(kl.desired.unsynced) == 0, at: time.Now(), newer: make(chan struct{})}
	for _, p := range kl.records() {
		seen := p.Pod
		s.pods = append(s.pods, &seen)
	}
	if old := kl.snapshot.Swap(s); old != nil {
		close(old.newer)
	}
	kl.news.Held(s.pods, kl.desired.unsynced)
	for _, p := range kl.records() {
		if p.work == nil {
			kl.news.State(&p.Pod, kl.status)
		}
	}
}

// currentSnapshot returns the snapshot of the last sync.
func (kl *Kubelet) currentSnapshot() (*snapshot, error) {
	if s := kl.snapshot.Load(); s != nil {
		return s, nil
	}
	return nil, cmp.Or(kl.Health(), errNoSyncYet)
}

// Statuses returns the status of every pod, ordered by full name, and a channel that is closed when there
// are newer ones. It does not call Docker. The error says why Docker does not answer.
func (kl *Kubelet) Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil, nil, err
	}
	if err := kl.dockerError(); err != nil {
		return nil, s.newer, err
	}
	errs := map[string]string{}
	for _, source := range kl.opts.Sources() {
		maps.Copy(errs, source.Stale)
	}
	for _, p := range s.pods {
		pod := kl.status(p)
		pod.SourceError = errs[p.Name]
		pods = append(pods, pod)
	}
	return pods, s.newer, nil
}

// Pods returns the desired pods, ordered by full name; none before the first sync.
func (kl *Kubelet) Pods() (pods []api.Pod) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil
	}
	for _, p := range s.pods {
		if pod := p.Desired; pod != nil {
			pods = append(pods, pod.Pod)
		}
	}
	return pods
}

// NeededImages returns the images of the desired pods. complete is false until every source has been read.
func (kl *Kubelet) NeededImages() (images []string, complete bool) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil, false
	}
	images = []string{kl.opts.NetworkContainerImage}
	for _, p := range s.pods {
		if pod := p.Desired; pod != nil {
			for _, c := range pod.Manifest.All() {
				images = append(images, c.Image)
			}
		}
	}
	return images, s.complete
}

// Note records an event of the node.
func (kl *Kubelet) Note(reason, message string) { kl.events.Add("", "", reason, message) }

// Events returns the events after a sequence number, oldest first.
func (kl *Kubelet) Events(after uint64) []api.Event { return kl.events.After(after) }

// Load returns how much work there is.
func (kl *Kubelet) Load() api.Load {
	busy := kl.workers.Busy()
	load := api.Load{Workers: len(busy)}
	load.Pulls, load.Queued = kl.images.Load()
	if s := kl.snapshot.Load(); s != nil {
		for _, p := range s.pods {
			hasWork := len(p.Plan.Steps) > 0 || !p.Plan.Next.IsZero()
			if hasWork && !busy[p.Name] && p.Wait.Reason != api.ReasonSourceNotReady { // nobody knows whether it is wanted
				load.Waiting++
			}
		}
	}
	return load
}

// status returns the status of a pod at this moment.
func (kl *Kubelet) status(p *status.Pod) api.PodStatus {
	return status.Of(p, status.Now{Doing: kl.doing.Of(p.Name), PullProgress: kl.images.Progress, ProbeResult: kl.probes.Result})
}

// pod returns a pod of the last snapshot, or nil, and a channel that is closed when there is a newer one.
func (kl *Kubelet) pod(fullName string) (*status.Pod, <-chan struct{}, error) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil, nil, err
	}
	for _, p := range s.pods {
		if p.Name == fullName {
			return p, s.newer, nil
		}
	}
	return nil, s.newer, nil
}

// container returns a container that the last sync has seen, or nil.
func (kl *Kubelet) container(id string) *plan.Observed {
	if s := kl.snapshot.Load(); s != nil {
		for _, p := range s.pods {
			for i := range p.Observed {
				if c := &p.Observed[i]; c.ID == id {
					return c
				}
			}
		}
	}
	return nil
}

// Comparisons returns the desired state, the observed state and the plan of each pod, by full name.
func (kl *Kubelet) Comparisons() map[string][]trace.Row {
	rows := map[string][]trace.Row{}
	if s := kl.snapshot.Load(); s != nil {
		for _, p := range s.pods {
			rows[p.Name], _ = kl.opts.Trace.Compare(p)
		}
	}
	return rows
}

// ContainerLogs, RunInContainer and ContainerStats are Read, Run and Stats of logs.Reader.
func (kl *Kubelet) ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error {
	return kl.logs.Read(ctx, podFullName, container, opts, out)
}

func (kl *Kubelet) RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error) {
	return kl.logs.Run(ctx, podFullName, container, command, out)
}

func (kl *Kubelet) ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	return kl.logs.Stats(ctx, podFullName, container)
}

package kubelet

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"kubelet14/api"
	"kubelet14/kubelet/configmaps"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/execute"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/logs"
	"kubelet14/kubelet/observe"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/probes"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/watch"
	"kubelet14/kubelet/wishes"
	"kubelet14/volume"
)

// Options are the settings of a Kubelet and what it works with. Every field must be set.
type Options struct {
	Identity dockertools.Identity
	Docker   dockertools.Interface
	Volumes  *volume.RootDir // at Identity.RootDir; may be nil for DryRun, and for Cleanup if there is none

	plan.Limits           // PodNetwork may be empty, see dns.DefaultNetwork
	NetworkContainerImage string
	SyncFrequency         time.Duration // longest time between two syncs
	RemovalWait           time.Duration // before the pods of a source that is not in Sources are removed; 0: none

	// Credentials returns those for an image, or the zero Auth. After an error, which is logged, the image is pulled without any.
	Credentials   func(ctx context.Context, image string) (dockertools.Auth, error)
	RegistryQPS   float64              // average number of pulls begun per second; 0: no limit
	RegistryBurst int                  // number of pulls begun at once before RegistryQPS counts
	ContainerLog  dockertools.LogLimit // for each container; zero: Docker's default

	Sources  func() []api.SourceStatus // as they are now
	Trace    *trace.Trace              // of what happens
	Step     *step.Stepper             // lets a person decide when a plan is carried out; may be nil
	Eviction *eviction.Manager         // decides which pods wait or end while the host runs short; may be nil
	Wishes   *wishes.Wishes            // of people who stop and restart pods; may be nil

	// SyncDone and PullDone are called after each piece of work on a pod and each pull of an image, unless the end of the
	// kubelet interrupted it. ok is false if something failed. They are called concurrently and must not block.
	SyncDone, PullDone func(took time.Duration, ok bool)
}

// Kubelet runs the pods of one host. It has no exported field (PR #551). Its methods for the
// info server may be called concurrently with Run, and with each other.
type Kubelet struct {
	// Written before the sync loop begins, and then only read.
	opts    Options
	removes bool                  // removes pods and volumes that are not desired; false in RunOnce
	isFinal func(*podRecord) bool // reports a final outcome; always false outside RunOnce

	// These need no lock, or have their own.
	observer *observe.Observer
	executor *execute.Executor
	images   *images.Puller
	probes   *probes.Probers
	logs     *logs.Reader
	configs  *configmaps.Store
	watcher  watch.Watcher
	news     *watch.News // used by the sync loop alone
	events   *watch.Events
	workers  *podWorkers
	health   healthState
	doing    status.Doing
	snapshot atomic.Pointer[status.Snapshot] // of the last sync; empty before it
	wakeup   chan struct{}                   // 1-slot: a sync is needed
	trash    chan struct{}                   // 1-slot: there may be volumes to delete
	errors   watch.Errors                    // logs each error once

	// The sync loop owns the rest.
	desired desired
	pods    map[string]*podRecord // those desired, being removed or busy; by full name
}

// NewMainKubelet returns a Kubelet. It does not call Docker, which may not be up yet.
func NewMainKubelet(opts Options) *Kubelet {
	opts.Eviction = cmp.Or(opts.Eviction, eviction.NewManager(eviction.Options{})) // without readings there is no pressure
	kl := &Kubelet{
		opts:    opts,
		removes: true,
		isFinal: func(*podRecord) bool { return false },
		events:  &watch.Events{},
		health:  healthState{docker: errNoSyncYet, events: errNoEventsYet},
		wakeup:  make(chan struct{}, 1),
		trash:   make(chan struct{}, 1),
		desired: desired{pods: map[string]*plan.Pod{}},
		pods:    map[string]*podRecord{},
	}
	wake := func(by watch.Cause) func() { return func() { kl.wake(by) } }
	limit := rate.Inf
	if opts.RegistryQPS > 0 {
		limit = rate.Limit(opts.RegistryQPS)
	}
	kl.watcher = watch.All{watch.Log{}, kl.events, opts.Trace}
	kl.news = &watch.News{Watcher: kl.watcher}
	kl.observer = &observe.Observer{Docker: opts.Docker, Identity: opts.Identity, Volumes: opts.Volumes, LogOnce: kl.errors.Log}
	kl.workers = &podWorkers{ended: wake(watch.EndOfWork), busy: map[string]bool{}}
	kl.images = &images.Puller{Pull: opts.Docker.PullImage, Credentials: opts.Credentials, Limiter: rate.NewLimiter(limit, opts.RegistryBurst),
		Done: opts.PullDone, Note: kl.events.Add, Wake: wake(watch.EndOfPull)}
	kl.probes = &probes.Probers{Period: opts.SyncFrequency, Exec: opts.Docker.Exec, Note: kl.events.Add, Wake: wake(watch.Probe)}
	kl.configs = configmaps.NewStore(opts.Volumes, opts.Sources, kl.events.Add, kl.errors.Log)
	kl.executor = &execute.Executor{Docker: opts.Docker, Identity: opts.Identity, Volumes: opts.Volumes, Configs: kl.configs, Images: kl.images,
		NetworkImage: opts.NetworkContainerImage, PodNetwork: opts.PodNetwork, Observer: kl.observer, Doing: &kl.doing, Watcher: kl.watcher}
	kl.snapshot.Store(&status.Snapshot{Newer: make(chan struct{})})
	kl.logs = &logs.Reader{Docker: opts.Docker, Snapshot: kl.synced}
	opts.Wishes.Tell(kl.events.Add, wake(watch.Person))
	if opts.Step != nil {
		opts.Step.Wake, opts.Step.Compare = wake(watch.Person), opts.Trace.Compare
	}
	return kl
}

// wake asks for a sync. It never blocks, and a thousand calls may be one sync.
func (kl *Kubelet) wake(by watch.Cause) {
	kl.watcher.Woken(by)
	notify(kl.wakeup)
}

// notify fills a 1-slot channel.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

package kubelet

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"kubelet14/kubelet/dockertools"
	"kubelet14/volume"
)

// Options is all that a Kubelet is made of. Every field must be set.
type Options struct {
	Identity dockertools.Identity
	Docker   dockertools.Interface
	Volumes  *volume.RootDir // nil for a kubelet that only does a DryRun

	NetworkContainerImage string
	AllowPrivileged       bool
	SyncFrequency         time.Duration // longest time between two syncs
	MaxRestartBackoff     time.Duration
	MaxDeadContainers     int // to keep of each container, 0 = all
	MinContainerTTL       time.Duration

	Credentials   func(ctx context.Context, image string) (dockertools.Auth, error)
	RegistryQPS   float64 // 0 = no limit
	RegistryBurst int
	ContainerLog  dockertools.LogLimit // the zero LogLimit leaves logs to Docker

	SourceErrors func() map[string]string // by source, what of it cannot be read now

	// SyncDone and PullDone are metrics hooks. They must not block.
	SyncDone, PullDone func(took time.Duration, ok bool)
}

// Kubelet runs the pods of one host. It has no exported field (PR #551).
type Kubelet struct {
	opts       Options
	docker     dockertools.Interface
	limits     limits
	observer   *observer
	podWorkers *podWorkers
	wake       *wakeup
	images     *images
	probes     *probes
	events     *events
	health     healthState
	slots      chan struct{} // bounds the creations and starts that Docker does at a time
	pauseImage sync.Mutex    // held while the built-in network container image is imported
	logLimit   dockertools.LogLimit
	trash      chan struct{}        // 1-slot: something may have been set aside
	view       atomic.Pointer[view] // what the last sync saw; for everyone but the sync loop

	// The rest belongs to the goroutine of the sync loop.
	desired    desired
	pods       map[string]*podState // every pod that is wanted, has containers or has a busy worker
	removes    bool                 // unwanted pods and volumes are removed; RunOnce does not
	complaints map[string]string    // errors that were logged, by what they are about
}

// NewMainKubelet makes a Kubelet. It asks nothing of Docker, which may not be up yet.
func NewMainKubelet(opts Options) *Kubelet {
	wake, events := &wakeup{ready: make(chan struct{}, 1)}, &events{}
	kl := &Kubelet{
		opts:       opts,
		docker:     opts.Docker,
		limits:     limits{opts.MaxRestartBackoff, opts.MaxDeadContainers, opts.MinContainerTTL},
		observer:   newObserver(opts.Docker, opts.Identity, opts.Volumes),
		wake:       wake,
		events:     events,
		health:     healthState{docker: errNotBegun, events: errNotBegun, turned: time.Now()},
		slots:      make(chan struct{}, max(8, 4*runtime.NumCPU())),
		trash:      make(chan struct{}, 1),
		desired:    desired{pods: map[string]*wantedPod{}},
		pods:       map[string]*podState{},
		removes:    true,
		complaints: map[string]string{},
	}
	qps := rate.Inf
	if opts.RegistryQPS > 0 {
		qps = rate.Limit(opts.RegistryQPS)
	}
	kl.podWorkers = newPodWorkers(wake.sync)
	kl.images = &images{opts: &kl.opts, limiter: rate.NewLimiter(qps, opts.RegistryBurst), events: events, wake: wake.retry, pulls: map[string]*pull{}}
	kl.probes = &probes{period: opts.SyncFrequency, events: events, unhealthy: wake.sync, probers: map[string]*prober{}}
	return kl
}

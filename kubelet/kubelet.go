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
	// Volumes is where EmptyDirs live; its path is Identity.RootDir. It may be nil
	// for a kubelet that does nothing but a DryRun.
	Volumes *volume.RootDir

	NetworkContainerImage string        // of every pod's network container
	AllowPrivileged       bool          // a manifest may ask for privileged containers
	SyncFrequency         time.Duration // longest time between two looks at every pod
	MaxRestartBackoff     time.Duration // longest wait before a crashing container is started again
	MaxDeadContainers     int           // dead containers to keep of each container of a pod, 0 = all
	MinContainerTTL       time.Duration // youngest age at which a dead container may be removed

	// Credentials finds what a registry is asked with for an image; the zero Auth
	// when nothing is known. An error is logged, and the pull goes on.
	Credentials   func(ctx context.Context, image string) (dockertools.Auth, error)
	RegistryQPS   float64              // pulls begun in a second on average, 0 = no limit
	RegistryBurst int                  // pulls begun at once before that counts
	ContainerLog  dockertools.LogLimit // of each container; the zero LogLimit leaves logs to Docker

	// SourceErrors says by source what of it cannot be read now.
	SourceErrors func() map[string]string

	// SyncDone is told of each piece of work on a pod: how long it took, and whether
	// nothing of it failed; what only has to wait has not. PullDone is told of each
	// pull of an image. Neither is told of what the end of the kubelet cuts short.
	// They are called by any number of goroutines and must not block.
	SyncDone, PullDone func(took time.Duration, ok bool)
}

// Kubelet runs the pods of one host. It has no exported field (PR #551): it is
// made by NewMainKubelet, whole, and nobody changes it from outside.
type Kubelet struct {
	opts   Options
	docker dockertools.Interface
	lister *dockertools.Lister
	limits limits
	hints  *hints
	// slots bounds the creations and starts that are asked of Docker at a time. A
	// start mostly waits, so there are more of them than cores; with many more the
	// host is no faster, and everything else on it slower.
	slots chan struct{}
	// pauseImage is held while the built-in network container image is imported.
	pauseImage sync.Mutex
	images     *images
	probes     *probes
	events     *events
	vitals     *vitals
	logDriver  struct { // of this Docker
		sync.Mutex
		name string // empty: not known
	}
	// reported is what Statuses tells about; the sync loop replaces it as a whole.
	reported atomic.Pointer[[]reported]

	trash      chan struct{} // 1-slot: something may have been set aside
	podWorkers *podWorkers   // set when the sync loop begins

	// The rest belongs to the goroutine of the sync loop.
	desired    desired
	podStates  map[string]*podState // by pod full name: every pod that is wanted, or has a worker
	anyBlocked bool                 // a pod waits for a port
	complaints map[string]string    // the trouble that was logged, by what it is about
}

// NewMainKubelet makes a Kubelet. It asks nothing of Docker, which may not be up
// yet.
func NewMainKubelet(opts Options) *Kubelet {
	qps := rate.Inf
	if opts.RegistryQPS > 0 {
		qps = rate.Limit(opts.RegistryQPS)
	}
	hints, events := newHints(), &events{}
	return &Kubelet{
		images: &images{
			opts:    &opts,
			limiter: rate.NewLimiter(qps, opts.RegistryBurst),
			events:  events,
			hint:    hints.add,
			pulls:   map[string]*pull{},
			asked:   map[asker]*request{},
		},
		probes: &probes{
			period:    opts.SyncFrequency,
			events:    events,
			unhealthy: hints.add,
			probers:   map[string]*prober{},
		},
		events: events,
		vitals: newVitals(),
		opts:   opts,
		docker: opts.Docker,
		lister: dockertools.NewLister(opts.Docker, opts.Identity),
		limits: limits{
			restartBackoff: opts.MaxRestartBackoff,
			deadContainers: opts.MaxDeadContainers,
			deadTTL:        opts.MinContainerTTL,
		},
		hints:      hints,
		slots:      make(chan struct{}, max(8, 4*runtime.NumCPU())),
		trash:      make(chan struct{}, 1),
		desired:    desired{pods: map[string]*wantedPod{}},
		podStates:  map[string]*podState{},
		complaints: map[string]string{},
	}
}

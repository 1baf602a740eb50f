package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/health"
)

// probeLimit is how long a container may take to answer a liveness probe.
const probeLimit = 5 * time.Second

// probes are the probers of all pods: a goroutine for each container that has a
// liveness probe and runs. So a slow answer delays nobody, and a container is
// never asked twice at a time. In 2014 the pod's worker asked by itself, and waited
// for the answer.
//
// The pod's worker says by sync which containers are to be probed, and learns by
// verdict what came of it.
type probes struct {
	period    time.Duration
	events    *events
	unhealthy func() // a probe has failed

	wg      sync.WaitGroup // of the probers
	mu      sync.Mutex
	probers map[string]*prober // by container id
}

// prober probes one container, until it is unhealthy or nobody wants to know.
type prober struct {
	pod, container string
	probe          *api.LivenessProbe
	target         health.Target
	started        time.Time     // of the life it probes: somebody may restart the container
	initialDelay   time.Duration // from then on
	cancel         context.CancelFunc
	verdict        string // why it is unhealthy; empty when it is not. Guarded by probes.mu.
}

// sync makes the given containers of a pod, and no others of it, be probed until ctx
// is done.
func (p *probes) sync(ctx context.Context, podFullName string, wanted map[string]*prober) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, running := range p.probers {
		if now := wanted[id]; running.pod == podFullName && (now == nil || now.target.PodIP != running.target.PodIP || !now.started.Equal(running.started)) {
			running.cancel()
			delete(p.probers, id)
		}
	}
	for id, prober := range wanted {
		if p.probers[id] == nil {
			ctx, cancel := context.WithCancel(ctx)
			prober.cancel = cancel
			p.probers[id] = prober
			p.wg.Go(func() { p.run(ctx, prober) })
		}
	}
}

// verdict says why a container is unhealthy; empty when it is not, or not known to be.
func (p *probes) verdict(c *seenContainer) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if prober := p.probers[c.ID]; prober != nil && prober.started.Equal(c.StartedAt) {
		return prober.verdict
	}
	return ""
}

// run probes until the first failure, as in 2014. A probe that could not be run
// says nothing about its container; why it could not is told once.
func (p *probes) run(ctx context.Context, prober *prober) {
	defer prober.cancel()
	said := ""
	for wait := time.Until(prober.started.Add(prober.initialDelay)); ; wait = p.period {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		err := p.probe(ctx, prober)
		if err == nil || ctx.Err() != nil {
			continue
		}
		problem := plainWords(err.Error())
		if _, unhealthy := errors.AsType[health.Unhealthy](err); unhealthy {
			p.events.add(prober.pod, prober.container, "unhealthy", "%s", problem)
			p.mu.Lock()
			prober.verdict = "its liveness probe failed: " + problem
			p.mu.Unlock()
			p.unhealthy()
			return
		}
		if problem != said {
			said = problem
			p.events.add(prober.pod, prober.container, "probe not run", "%s", said)
		}
	}
}

func (p *probes) probe(ctx context.Context, prober *prober) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeLimit, fmt.Errorf("no answer within %v", probeLimit))
	defer cancel()
	return health.Probe(ctx, prober.probe, prober.target)
}

// initialDelay is how long after its start a container is first probed. One that
// names no delay has a period to come up, as in 2014, when the sync that started a
// container did not probe it yet.
func (kl *Kubelet) initialDelay(p *api.LivenessProbe) time.Duration {
	if p.InitialDelaySeconds == 0 {
		return kl.opts.SyncFrequency
	}
	return time.Duration(p.InitialDelaySeconds) * time.Second
}

// syncProbes has those containers of a pod probed that are to be.
func (kl *Kubelet) syncProbes(ctx context.Context, podFullName string, want *wantedPod, seen []seenContainer) {
	wanted := map[string]*prober{}
	if want != nil {
		ip := podIP(seen)
		for i := range want.apps {
			app := &want.apps[i]
			c := newestOf(seen, want.UID, app.name)
			if app.spec.LivenessProbe == nil || c == nil || !c.probable(app.hash) {
				continue
			}
			wanted[c.ID] = &prober{
				pod:       podFullName,
				container: app.name,
				probe:     app.spec.LivenessProbe,
				target:    health.Target{PodIP: ip, Ports: app.spec.Ports, Exec: kl.execIn(c.ID)},

				started:      c.StartedAt,
				initialDelay: kl.initialDelay(app.spec.LivenessProbe),
			}
		}
	}
	kl.probes.sync(ctx, podFullName, wanted)
}

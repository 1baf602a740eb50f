package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/health"
	"kubelet14/kubelet/plan"
)

// probeLimit is how long a liveness probe may take.
const probeLimit = 5 * time.Second

// probes runs a goroutine for each running container with a liveness probe. So a slow probe
// delays nothing else, and a container is never probed twice at a time. In 2014 the worker of
// the pod probed, and waited for the answer.
type probes struct {
	period    time.Duration
	events    *events
	unhealthy func() // called when a probe has failed

	wg      sync.WaitGroup
	mu      sync.Mutex
	probers map[string]*prober // by container id
}

// prober probes one container until the first failure.
type prober struct {
	pod, container string
	probe          *api.LivenessProbe
	target         health.Target
	startedAt      time.Time // of the life it probes: somebody may restart the container
	initialDelay   time.Duration
	cancel         context.CancelFunc
	failure        string // why the container is unhealthy; guarded by probes.mu
}

// syncProbes starts and stops the probers of a pod so that they match its containers.
func (kl *Kubelet) syncProbes(ctx context.Context, p *podRecord) {
	wanted := map[string]*prober{}
	if p.pod != nil {
		for i := range p.pod.Apps {
			app := &p.pod.Apps[i]
			c := newestOf(p.containers, p.pod.UID, app.Name)
			if app.Spec.LivenessProbe == nil || c == nil || c.State != dockertools.StateRunning || c.Of.Hash != app.Hash {
				continue
			}
			delay := time.Duration(app.Spec.LivenessProbe.InitialDelaySeconds) * time.Second
			if delay == 0 { // as in 2014, when the sync that started a container did not probe it
				delay = kl.opts.SyncFrequency
			}
			target := health.Target{PodIP: podIP(p.containers), Ports: app.Spec.Ports, Exec: kl.execIn(c.ID)}
			wanted[c.ID] = &prober{
				pod: p.name, container: app.Name, probe: app.Spec.LivenessProbe, target: target, startedAt: c.StartedAt, initialDelay: delay,
			}
		}
	}
	kl.probes.sync(ctx, p.name, wanted)
}

// sync replaces the probers of a pod. One that would stay the same goes on.
func (p *probes) sync(ctx context.Context, podFullName string, wanted map[string]*prober) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, old := range p.probers {
		if old.pod != podFullName {
			continue
		}
		if w := wanted[id]; w == nil || w.target.PodIP != old.target.PodIP || !w.startedAt.Equal(old.startedAt) {
			old.cancel()
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

// unhealthyReason returns why a container is unhealthy, or "".
func (p *probes) unhealthyReason(c *plan.Observed) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if prober := p.probers[c.ID]; prober != nil && prober.startedAt.Equal(c.StartedAt) {
		return prober.failure
	}
	return ""
}

// run probes a container until the first failure, as in 2014. A probe that could not be run
// is no failure; its error is an event.
func (p *probes) run(ctx context.Context, prober *prober) {
	defer prober.cancel()
	logged := ""
	for wait := time.Until(prober.startedAt.Add(prober.initialDelay)); sleep(ctx, wait); wait = p.period {
		probeCtx, cancel := context.WithTimeoutCause(ctx, probeLimit, fmt.Errorf("no answer within %v", probeLimit))
		err := health.Probe(probeCtx, prober.probe, prober.target)
		cancel()
		if err == nil || ctx.Err() != nil {
			continue
		}
		problem := plan.TrimLayers(err.Error())
		if _, unhealthy := errors.AsType[health.Unhealthy](err); unhealthy {
			p.events.add(prober.pod, prober.container, "unhealthy", "%s", problem)
			p.mu.Lock()
			prober.failure = "its liveness probe failed: " + problem
			p.mu.Unlock()
			p.unhealthy()
			return
		}
		if problem != logged {
			logged = problem
			p.events.add(prober.pod, prober.container, "probe not run", "%s", problem)
		}
	}
}

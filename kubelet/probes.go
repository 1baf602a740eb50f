package kubelet

import (
	"cmp"
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

// probeLimit is how long a probe of a manifest of 2014 may take.
const probeLimit = 5 * time.Second

// probes runs a goroutine for each running container with probes, and one more for a readiness
// probe. So a slow probe delays nothing else, and no probe asks twice at a time. In 2014 the
// worker of the pod probed, and waited for the answer.
type probes struct {
	period  time.Duration // of a manifest of 2014
	events  *events
	changed func() // called when a result has changed

	wg      sync.WaitGroup
	mu      sync.Mutex
	probers map[string]*prober // by container id
}

// prober probes one container until it is unhealthy.
type prober struct {
	pod       string
	spec      *api.Container
	target    health.Target
	startedAt time.Time // of the life it probes: somebody may restart the container
	cancel    context.CancelFunc

	// Guarded by probes.mu:
	failure string // why the container is unhealthy
	ready   bool
}

// syncProbes starts and stops the probers of a pod so that they match its containers.
func (kl *Kubelet) syncProbes(ctx context.Context, p *podRecord) {
	wanted := map[string]*prober{}
	if p.pod != nil {
		for i := range p.pod.Apps {
			app := &p.pod.Apps[i]
			c := p.newest(app.Name)
			hasProbes := app.Spec.LivenessProbe != nil || saysReady(app.Spec)
			if !hasProbes || c == nil || c.State != dockertools.StateRunning || c.Of.Hash != app.Hash {
				continue
			}
			target := health.Target{PodIP: podIP(p.containers), Ports: app.Spec.Ports, Exec: kl.execIn(c.ID)}
			wanted[c.ID] = &prober{pod: p.name, spec: app.Spec, target: target, startedAt: c.StartedAt}
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

// saysReady reports whether the probes of a container decide when it is ready.
func saysReady(c *api.Container) bool { return c.StartupProbe != nil || c.ReadinessProbe != nil }

// result returns why a container is unhealthy, or "", and whether its startup and readiness
// probes have succeeded.
func (p *probes) result(c *plan.Observed) (unhealthy string, ready bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if prober := p.probers[c.ID]; prober != nil && prober.startedAt.Equal(c.StartedAt) {
		return prober.failure, prober.ready
	}
	return "", false
}

// run probes a container: until its startup probe has succeeded with that alone, then with
// its readiness probe, and with its liveness probe until that fails.
func (p *probes) run(ctx context.Context, prober *prober) {
	defer prober.cancel()
	startup, readiness, liveness := prober.spec.StartupProbe, prober.spec.ReadinessProbe, prober.spec.LivenessProbe
	if startup != nil {
		started := false
		p.ask(ctx, prober, "startup", startup, func(failure string) (done bool) {
			started = failure == ""
			p.set(prober, failure, started && readiness == nil)
			return true
		})
		if !started {
			return
		}
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	if readiness != nil {
		failed := false
		wg.Go(func() {
			p.ask(ctx, prober, "readiness", readiness, func(failure string) (done bool) {
				if failure != "" && !failed {
					p.events.add(prober.pod, prober.spec.Name, "not ready", "%s", failure)
				}
				failed = failure != ""
				p.set(prober, "", !failed)
				return false
			})
		})
	}
	if liveness != nil {
		p.ask(ctx, prober, "liveness", liveness, func(failure string) (done bool) {
			if failure != "" {
				p.set(prober, failure, false)
			}
			return failure != ""
		})
	}
}

// set records a result. An unhealthy container stays so.
func (p *probes) set(prober *prober, failure string, ready bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if prober.failure != "" || failure == "" && ready == prober.ready {
		return
	}
	prober.failure, prober.ready = failure, ready
	if failure != "" {
		p.events.add(prober.pod, prober.spec.Name, "unhealthy", "%s", failure)
	}
	p.changed()
}

// ask runs a probe again and again. After each answer that is good, or bad, often enough in a
// row, it calls decide with "" or with how the probe failed, and ends if that returns true. A
// probe that could not be run is neither; its error is an event.
func (p *probes) ask(ctx context.Context, prober *prober, kind string, probe *api.Probe, decide func(failure string) (done bool)) {
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	delay, period, limit := seconds(probe.InitialDelaySeconds), seconds(probe.PeriodSeconds), seconds(probe.TimeoutSeconds)
	if period == 0 { // of 2014, when a sync probed, and not the one that started the container
		delay, period, limit = cmp.Or(delay, p.period), p.period, probeLimit
	}
	good, bad, logged := int64(0), int64(0), ""
	for wait := time.Until(prober.startedAt.Add(delay)); sleep(ctx, wait); wait = period {
		probeCtx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
		err := health.Probe(probeCtx, probe, prober.target)
		cancel()
		_, unhealthy := errors.AsType[health.Unhealthy](err)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if good, bad = good+1, 0; good >= probe.SuccessThreshold && decide("") {
				return
			}
		case unhealthy:
			good, bad = 0, bad+1
			failure := fmt.Sprintf("its %s probe failed: ", kind)
			if bad > 1 {
				failure = fmt.Sprintf("its %s probe failed %d times in a row: ", kind, bad)
			}
			if bad >= probe.FailureThreshold && decide(failure+plan.TrimLayers(err.Error())) {
				return
			}
		case err.Error() != logged:
			logged = err.Error()
			p.events.add(prober.pod, prober.spec.Name, "probe not run", "%s", plan.TrimLayers(logged))
		}
	}
}

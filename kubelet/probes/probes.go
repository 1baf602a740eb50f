// Package probes runs the probes of containers: one goroutine for each running container that
// has any, and one more for a readiness probe. So a slow probe delays nothing else, and no
// probe runs twice at the same time. In 2014 the pod's worker probed, and waited for the answer.
//
// Sync tells it what to probe. A changed result wakes the sync loop, which reads it with
// Result. Package health sends the probes and judges the answers.
package probes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/health"
	"kubelet14/kubelet/plan"
)

// probeLimit is how long a probe in a manifest of 2014 may take.
const probeLimit = 5 * time.Second

// Probers probe containers. Every exported field must be set. Their methods may be called concurrently.
type Probers struct {
	Period time.Duration // of the probes in manifests of 2014
	Exec   func(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error)
	Note   func(podFullName, container, reason, message string) // records an event
	Wake   func()                                               // called when a result has changed

	wg   sync.WaitGroup
	mu   sync.Mutex
	byID map[string]*prober // guarded by mu; by container id
}

// Wait waits until no prober is running. The contexts of all probers must be done.
func (p *Probers) Wait() { p.wg.Wait() }

// prober probes one container until it is unhealthy.
type prober struct {
	pod       string
	spec      *api.Container
	target    health.Target
	startedAt time.Time // of the process it probes: somebody may restart the container
	begun     time.Time // when it started to probe
	cancel    context.CancelFunc

	// Probers.mu guards the rest.
	started   bool   // its startup probe has succeeded
	unhealthy string // how the startup or liveness probe failed; empty: it did not
	notReady  string // how the startup or readiness probe last failed; empty: the container is ready
	logged    bool   // whether it was logged that the container is not ready
}

// Sync starts and stops the probers of a pod so that they match its containers, which are
// ordered by name and attempt. A prober that still fits is left running. A nil pod is no
// longer desired. Until an edit replaces a container, it is probed as before the edit.
func (p *Probers) Sync(ctx context.Context, podFullName string, pod *plan.Pod, containers []plan.Observed, podIP string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := map[string]*prober{}
	if pod != nil {
		wanted = p.wanted(pod, containers, podIP)
	}
	if p.byID == nil {
		p.byID = map[string]*prober{}
	}
	maps.DeleteFunc(p.byID, func(id string, old *prober) bool {
		w := wanted[id]
		if old.pod != podFullName || w != nil && w.target.PodIP == old.target.PodIP && w.startedAt.Equal(old.startedAt) {
			delete(wanted, id)
			return false
		}
		old.cancel()
		return true
	})
	for id, prober := range wanted {
		ctx, cancel := context.WithCancel(ctx)
		prober.cancel = cancel
		p.byID[id] = prober
		p.wg.Go(func() { p.run(ctx, prober) })
	}
}

// wanted returns the probers of a pod by container id, one for each newest attempt that is
// running. The caller holds p.mu.
func (p *Probers) wanted(pod *plan.Pod, containers []plan.Observed, podIP string) map[string]*prober {
	newest := map[string]*plan.Observed{}
	for i := range containers {
		if c := &containers[i]; c.Of.UID == pod.UID && c.State != dockertools.StateRemoving {
			newest[c.Of.Name] = c
		}
	}
	wanted := map[string]*prober{}
	for _, app := range pod.Staying() {
		c := newest[app.Name]
		if c == nil || c.State != dockertools.StateRunning {
			continue
		}
		spec := app.Spec
		if c.Of.Hash != app.Hash {
			old := p.byID[c.ID]
			if old == nil {
				continue
			}
			spec = old.spec
		}
		if spec.LivenessProbe == nil && !decideReady(spec) {
			continue
		}
		prober := &prober{pod: pod.FullName(), spec: spec, startedAt: c.StartedAt, begun: time.Now()}
		prober.target = health.Target{PodIP: podIP, Ports: spec.Ports, ID: c.ID, Exec: p.Exec}
		if decideReady(spec) {
			prober.notReady = notProbed
		}
		wanted[c.ID] = prober
	}
	return wanted
}

// decideReady reports whether a container's probes decide when it is ready.
func decideReady(c *api.Container) bool {
	return c != nil && (c.StartupProbe != nil || c.ReadinessProbe != nil)
}

const notProbed = "it has not been probed yet"

// Result returns why a container is unhealthy and why it is not ready; "" means that it is not unhealthy, or that it is
// ready. If it is not probed yet, the manifest's container want says whether it has to be. started reports whether its startup
// probe has succeeded.
func (p *Probers) Result(c *plan.Observed, want *api.Container) (unhealthy, notReady string, started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if prober := p.byID[c.ID]; prober != nil && prober.startedAt.Equal(c.StartedAt) {
		return prober.unhealthy, prober.notReady, prober.started
	}
	if decideReady(want) {
		notReady = notProbed
	}
	return "", notReady, false
}

// run probes a container: with its startup probe alone until that succeeds, then with its
// readiness probe, and with its liveness probe until that fails.
func (p *Probers) run(ctx context.Context, prober *prober) {
	defer prober.cancel()
	startup, readiness, liveness := prober.spec.StartupProbe, prober.spec.ReadinessProbe, prober.spec.LivenessProbe
	if startup != nil && !p.ask(ctx, prober, "startup", startup) {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	if readiness != nil {
		wg.Go(func() { p.ask(ctx, prober, "readiness", readiness) })
	}
	if liveness != nil {
		p.ask(ctx, prober, "liveness", liveness)
	}
}

// answered records the answer to a probe, and reports whether the probe is done. failure is empty if the answer was
// good. enough means that the threshold of equal answers in a row was reached.
func (p *Probers) answered(prober *prober, kind, failure string, enough bool) (done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	note := func(reason, message string) {
		if reason != "unhealthy" { // that is logged as the reason of the stop
			glog.Infof("pod %s: container %q is %s: %s", prober.pod, prober.spec.Name, reason, message)
		}
		p.Note(prober.pod, prober.spec.Name, reason, message)
		p.Wake()
	}
	switch {
	case prober.unhealthy != "": // it stays unhealthy
	case failure != "" && enough && kind != "readiness":
		prober.unhealthy, prober.notReady = failure, failure
		note("unhealthy", failure)
	case kind == "liveness":
	case failure != "" && (enough || prober.notReady != ""):
		prober.notReady = failure
		if enough && !prober.logged {
			prober.logged = true
			note("not ready", failure)
		}
	case enough && kind == "startup" && prober.spec.ReadinessProbe != nil:
		prober.notReady, prober.started = notProbed, true
		p.Wake()
	case enough && prober.notReady != "":
		prober.notReady, prober.logged, prober.started = "", false, true
		note("ready", "its "+kind+" probe succeeded")
	}
	return enough && (kind == "startup" || kind == "liveness" && failure != "")
}

// firstAsk returns the time of the first probe: after the initial delay. If a new kubelet finds the container running,
// the first probe follows the old schedule; otherwise all containers of the host would be probed at once.
func (p *prober) firstAsk(delay, period time.Duration) time.Time {
	since := max(p.begun.Sub(p.startedAt), 0) // the clock may have been set back
	late := since - delay
	if late > 0 && since >= period {
		return p.begun.Add(period - late%period)
	}
	return p.begun.Add(-late)
}

// ask runs a probe periodically until it is done, and reports whether the last answer was
// good. A probe that could not be run has no answer; its error becomes an event.
func (p *Probers) ask(ctx context.Context, prober *prober, kind string, probe *api.Probe) (good bool) {
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	delay, period, limit := seconds(probe.InitialDelaySeconds), seconds(probe.PeriodSeconds), seconds(probe.TimeoutSeconds)
	if period == 0 { // of 2014, when each sync probed, except the one that started the container
		delay, period, limit = cmp.Or(delay, p.Period), p.Period, probeLimit
	}
	successes, failures, logged := int64(0), int64(0), ""
	for wait := time.Until(prober.firstAsk(delay, period)); ; wait = period {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		probeCtx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
		err := health.Probe(probeCtx, probe, prober.target)
		cancel()
		_, unhealthy := errors.AsType[health.Unhealthy](err)
		done := false
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			successes, failures = successes+1, 0
			done = p.answered(prober, kind, "", successes >= probe.SuccessThreshold)
		case unhealthy:
			successes, failures = 0, failures+1
			failure := fmt.Sprintf("its %s probe failed: ", kind)
			if failures > 1 {
				failure = fmt.Sprintf("its %s probe failed %d times in a row: ", kind, failures)
			}
			done = p.answered(prober, kind, failure+dockertools.TrimLayers(err.Error()), failures >= probe.FailureThreshold)
		case err.Error() != logged:
			logged = err.Error()
			glog.V(2).Infof("pod %s: container %q: probe not run: %s", prober.pod, prober.spec.Name, dockertools.TrimLayers(logged))
			p.Note(prober.pod, prober.spec.Name, "probe not run", dockertools.TrimLayers(logged))
		}
		if done {
			return err == nil
		}
	}
}

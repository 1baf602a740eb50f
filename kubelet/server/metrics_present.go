package server

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"kubelet14/api"
)

// present is what there is at one scrape. It is read anew each time and nothing of it
// is counted, so nothing of it can go astray.
type present struct {
	factory promauto.Factory // puts what it makes into the registry of this scrape
}

// present looks at everything. When Docker does not say what has become of the pods,
// their families and those of the containers are left out, and kubelet_docker_up is 0.
func (s *Server) present(ctx context.Context) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	p := present{promauto.With(registry)}
	p.gauge("kubelet_build_info", "Always 1; the labels say which kubelet this is and which Go built it.", "version", "goversion").
		WithLabelValues(s.opts.Version, runtime.Version()).Set(1)
	p.set("kubelet_healthy", "1 while /healthz answers ok, and 0 otherwise.", one(s.opts.Kubelet.Health() == nil))
	load := s.opts.Kubelet.Load()
	p.set("kubelet_pod_workers", "Pods that have a worker, at work or waiting for its time.", float64(load.Workers))
	p.set("kubelet_pod_work_queue_length", "Pods with work that has not begun.", float64(load.Waiting))
	p.set("kubelet_image_pulls_in_progress", "Images that are being pulled, or wait for that.", float64(load.Pulls))
	p.set("kubelet_image_pull_queue_length", "Images that wait for their turn by -registry_qps.", float64(load.Queued))
	total := p.counter("kubelet_events_total", "What /events has told of since the kubelet has begun.").WithLabelValues()
	if events, _ := s.opts.Kubelet.Events(0); len(events) > 0 {
		total.Add(float64(events[len(events)-1].Seq)) // only the last ones are remembered
	}
	sources := s.sources()
	p.sources(sources)

	statuses, err := s.statuses(ctx, lookPatience)
	p.set("kubelet_docker_up", "1 when Docker could be asked about the pods at this scrape, and 0 otherwise.", one(err == nil))
	if err == nil {
		p.pods(statuses, sources)
		p.containers(statuses)
		p.restarts(statuses)
	}
	return registry
}

// set tells one number.
func (p *present) set(name, help string, value float64) {
	p.gauge(name, help).WithLabelValues().Set(value)
}

func (p *present) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return p.factory.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (p *present) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return p.factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// sources tells an age rather than a point in time, which is right by any clock.
func (p *present) sources(sources []api.SourceStatus) {
	age := p.gauge("kubelet_source_age_seconds", "Time since all of a source was last read and good; absent while it never was.", "source")
	failing := p.gauge("kubelet_source_failing", "1 while something of a source cannot be read, and 0 otherwise.", "source")
	wanted := p.gauge("kubelet_source_pods", "Pods that a source wants.", "source")
	for _, s := range sources {
		if !s.LastSuccess.IsZero() {
			age.WithLabelValues(s.Source).Set(time.Since(s.LastSuccess).Seconds())
		}
		failing.WithLabelValues(s.Source).Set(one(!s.FailingSince.IsZero()))
		wanted.WithLabelValues(s.Source).Set(float64(s.Pods))
	}
}

// pods tells of every phase of every source: what is absent cannot be told from what
// is not measured.
func (p *present) pods(statuses []api.PodStatus, sources []api.SourceStatus) {
	pods := p.gauge("kubelet_pods", "Pods that are wanted or being removed, by source and phase.", "source", "phase")
	for _, s := range sources {
		for _, phase := range []api.PodPhase{api.PodPending, api.PodRunning, api.PodSucceeded, api.PodFailed} {
			pods.WithLabelValues(s.Source, string(phase))
		}
	}
	for _, pod := range statuses {
		pods.WithLabelValues(pod.Source, string(pod.Phase)).Inc()
	}
}

func (p *present) containers(statuses []api.PodStatus) {
	containers := p.gauge("kubelet_containers", "Containers of all pods, network containers too, by state: waiting, running or terminated.", "state")
	waiting, running, terminated := containers.WithLabelValues("waiting"), containers.WithLabelValues("running"), containers.WithLabelValues("terminated")
	for _, pod := range statuses {
		for _, c := range pod.Containers {
			switch {
			case c.State.Running != nil:
				running.Inc()
			case c.State.Terminated != nil:
				terminated.Inc()
			default:
				waiting.Inc()
			}
		}
	}
}

// restarts tells the number of a container's attempt, which Docker keeps: it goes on
// where it was when the kubelet is started anew.
func (p *present) restarts(statuses []api.PodStatus) {
	restarts := p.counter("kubelet_container_restarts_total", "Attempts of a container before the newest, those for an edit included.", "source", "namespace", "pod", "container")
	for _, pod := range statuses {
		for _, c := range pod.Containers {
			restarts.WithLabelValues(pod.Source, pod.Namespace, pod.Name, c.Name).Add(float64(c.RestartCount))
		}
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

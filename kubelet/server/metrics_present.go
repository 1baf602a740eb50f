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
	registry *prometheus.Registry // of this scrape
	factory  promauto.Factory     // puts what it makes into the registry
}

// present looks at everything. When Docker does not say what has become of the pods,
// their families and those of the containers are left out, and kubelet_docker_up is 0.
func (s *Server) present(ctx context.Context) *prometheus.Registry {
	p := present{registry: prometheus.NewRegistry()}
	p.factory = promauto.With(p.registry)
	p.build(s.opts.Version)
	p.gauge("kubelet_healthy", "1 while /healthz answers ok, and 0 otherwise.").WithLabelValues().Set(one(s.opts.Kubelet.Health() == nil))
	p.load(s.opts.Kubelet.Load())
	events, _ := s.opts.Kubelet.Events(0)
	p.events(events)
	sources := s.opts.Sources()
	p.sources(sources)

	statuses, err := s.opts.Kubelet.Statuses(ctx)
	p.gauge("kubelet_docker_up", "1 when Docker could be asked about the pods at this scrape, and 0 otherwise.").WithLabelValues().Set(one(err == nil))
	if err == nil {
		p.pods(statuses, sources)
		p.containers(statuses)
		p.restarts(statuses)
	}
	return p.registry
}

func (p *present) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return p.factory.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (p *present) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return p.factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (p *present) build(version string) {
	p.gauge("kubelet_build_info", "Always 1; the labels say which kubelet this is and which Go built it.", "version", "goversion").
		WithLabelValues(version, runtime.Version()).Set(1)
}

func (p *present) load(load api.Load) {
	p.gauge("kubelet_pod_workers", "Pods that have a worker, at work or waiting for its time.").WithLabelValues().Set(float64(load.Workers))
	p.gauge("kubelet_pod_work_queue_length", "Pods with work that has not begun.").WithLabelValues().Set(float64(load.Waiting))
	p.gauge("kubelet_image_pulls_in_progress", "Images that are being pulled, or wait for that.").WithLabelValues().Set(float64(load.Pulls))
	p.gauge("kubelet_image_pull_queue_length", "Images that wait for their turn by -registry_qps.").WithLabelValues().Set(float64(load.Queued))
}

// events counts by the number of the newest: only the last ones are remembered.
func (p *present) events(events []api.Event) {
	total := p.counter("kubelet_events_total", "What /events has told of since the kubelet has begun.").WithLabelValues()
	if len(events) > 0 {
		total.Add(float64(events[len(events)-1].Seq))
	}
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

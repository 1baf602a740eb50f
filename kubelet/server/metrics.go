package server

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kubelet14/api"
	"kubelet14/kubelet/features"
)

// Metrics counts what the program does. No label holds a container's id or text of a manifest. It is safe for concurrent use.
type Metrics struct {
	registry                    *prometheus.Registry
	syncs, pulls, docker        *prometheus.HistogramVec
	refused, removed, evictions *prometheus.CounterVec
}

// factory registers the metrics that it makes.
type factory struct{ promauto.Factory }

func (f factory) histogram(name, help string, firstBucket float64, labels ...string) *prometheus.HistogramVec {
	buckets := prometheus.ExponentialBuckets(firstBucket, 4, 9)
	return f.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (f factory) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// NewMetrics returns metrics that are all zero.
func NewMetrics() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f := factory{promauto.With(registry)}
	m := &Metrics{
		registry: registry,
		syncs:    f.histogram("kubelet_pod_sync_duration_seconds", "Syncs of a pod by outcome: ok or failed.", 0.001, "outcome"),
		pulls:    f.histogram("kubelet_image_pull_duration_seconds", "Pulls of images by outcome: ok or failed.", 0.25, "outcome"),
		docker: f.histogram("kubelet_docker_request_duration_seconds",
			"Requests to Docker, until the answer begins, by operation and outcome: ok, refused (by an error) or failed (no answer).",
			0.001, "operation", "outcome"),
		refused:   f.counter("kubelet_http_requests_refused_total", "Refused requests to the info server by reason: host, origin or token.", "reason"),
		removed:   f.counter("kubelet_image_garbage_collected_total", "Removed images by reason: space.", "reason"),
		evictions: f.counter("kubelet_evictions", "Evictions of pods by the signal of which less was available than the threshold.", "eviction_signal"),
	}
	m.removed.WithLabelValues("space")
	for _, ok := range []bool{true, false} { // present before the first one
		m.syncs.WithLabelValues(outcome[ok])
		m.pulls.WithLabelValues(outcome[ok])
	}
	return m
}

// SyncDone counts a sync of a pod.
func (m *Metrics) SyncDone(took time.Duration, ok bool) {
	m.syncs.WithLabelValues(outcome[ok]).Observe(took.Seconds())
}

// PullDone counts a pull of an image.
func (m *Metrics) PullDone(took time.Duration, ok bool) {
	m.pulls.WithLabelValues(outcome[ok]).Observe(took.Seconds())
}

// ImageRemoved counts an image that was removed.
func (m *Metrics) ImageRemoved() { m.removed.WithLabelValues("space").Inc() }

// Evicted counts an eviction.
func (m *Metrics) Evicted(signal string) { m.evictions.WithLabelValues(signal).Inc() }

// DockerCall counts a request to Docker. The operation must not name an object.
func (m *Metrics) DockerCall(operation, outcome string, took time.Duration) {
	m.docker.WithLabelValues(operation, outcome).Observe(took.Seconds())
}

var (
	outcome = map[bool]string{true: "ok", false: "failed"}
	oneIf   = map[bool]float64{true: 1, false: 0}
)

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(prometheus.Gatherers{s.opts.Metrics.registry, s.scrape()}, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// scrape returns the metrics that are read anew at each scrape. Those of pods are absent while Docker does not answer.
func (s *Server) scrape() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	f := factory{promauto.With(registry)}
	set := func(name, help string, value float64) { f.gauge(name, help).WithLabelValues().Set(value) }

	f.gauge("kubelet_build_info", "Always 1.", "version", "goversion").WithLabelValues(s.opts.Version, runtime.Version()).Set(1)
	gates := f.gauge("kubernetes_feature_enabled", "1 while a feature gate is on.", "name", "stage")
	for gate, stage := range features.Stages {
		gates.WithLabelValues(gate, stage).Set(oneIf[s.opts.Gates.Enabled(gate)])
	}
	expires := f.gauge("kubelet_certificate_expiration_timestamp_seconds", "Time at which a certificate of the kubelet expires.", "name")
	for _, c := range s.opts.Certificates {
		expires.WithLabelValues(c.Name).Set(float64(c.NotAfter.Unix()))
	}
	set("kubelet_healthy", "1 while /healthz answers ok.", oneIf[s.opts.Kubelet.Health() == nil])
	load := s.opts.Kubelet.Load()
	set("kubelet_pod_workers", "Pods that have a worker.", float64(load.Workers))
	set("kubelet_pod_work_queue_length", "Pods with work that has not begun.", float64(load.Waiting))
	set("kubelet_image_pulls_in_progress", "Images that are being pulled, or wait for that.", float64(load.Pulls))
	set("kubelet_image_pull_queue_length", "Images that wait for their turn by -registry_qps.", float64(load.Queued))
	condition := f.gauge("kubelet_node_condition", "1 while a condition of the node is true; absent when it is not known.", "type")
	available := f.gauge("kubelet_node_available", "Bytes, inodes or process numbers that are left; absent when they are not known.", "signal")
	n := s.opts.Node()
	for _, c := range n.Conditions {
		if c.Status != "Unknown" {
			condition.WithLabelValues(c.Type).Set(oneIf[c.Status == "True"])
		}
	}
	for signal, amount := range n.Reading() {
		available.WithLabelValues(string(signal)).Set(float64(amount.Available))
	}
	total := f.counter("kubelet_events_total", "Events since the start of the kubelet.").WithLabelValues()
	if events := s.opts.Kubelet.Events(0); len(events) > 0 {
		total.Add(float64(events[len(events)-1].Seq)) // only the last events are kept
	}

	pods := f.gauge("kubelet_pods", "Pods by source and phase.", "source", "phase")
	age := f.gauge("kubelet_source_age_seconds", "Time since a source was last read without errors; absent before the first time.", "source")
	failing := f.gauge("kubelet_source_failing", "1 while a source has errors.", "source")
	desired := f.gauge("kubelet_source_pods", "Desired pods of a source.", "source")
	statuses, _, err := s.opts.Kubelet.Statuses()
	set("kubelet_docker_up", "1 while Docker answers.", oneIf[err == nil])
	for _, source := range s.opts.Sources() {
		if !source.LastSuccess.IsZero() {
			age.WithLabelValues(source.Source).Set(time.Since(source.LastSuccess).Seconds())
		}
		failing.WithLabelValues(source.Source).Set(oneIf[!source.FailingSince.IsZero()])
		desired.WithLabelValues(source.Source).Set(float64(source.Pods))
		for _, phase := range []api.PodPhase{
			api.PodPending, api.PodRunning, api.PodFailing, api.PodSucceeded, api.PodFailed, api.PodStopped, api.PodRemoving,
		} {
			if err == nil {
				pods.WithLabelValues(source.Source, string(phase)) // 0, not absent
			}
		}
	}
	if err != nil {
		return registry
	}
	containers := f.gauge("kubelet_containers", "Containers of all pods, network containers included, by state.", "state")
	for state, n := range countStates(statuses) {
		containers.WithLabelValues(state).Set(float64(n))
	}
	restarts := f.counter("kubelet_container_restarts_total", "Restarts of a container since its manifest was edited.",
		"source", "namespace", "pod", "container")
	ready := f.gauge("kubelet_pod_ready", "1 while a pod is ready; absent for one that has succeeded, is stopped or is being removed.", "source", "namespace", "pod")
	for _, pod := range statuses {
		if pod.Phase != api.PodSucceeded && pod.Phase != api.PodStopped && pod.Phase != api.PodRemoving {
			ready.WithLabelValues(pod.Source, pod.Namespace, pod.Name).Set(oneIf[pod.Ready])
		}
		pods.WithLabelValues(pod.Source, string(pod.Phase)).Inc()
		for _, c := range pod.Containers { // a pod that is being replaced may have two of one name
			restarts.WithLabelValues(pod.Source, pod.Namespace, pod.Name, c.Name).Add(float64(c.RestartCount))
		}
	}
	return registry
}

// countStates counts the containers that are waiting, running and terminated.
func countStates(pods []api.PodStatus) map[string]int {
	count := map[string]int{"waiting": 0, "running": 0, "terminated": 0}
	for _, pod := range pods {
		for _, c := range pod.Containers {
			state, _, _ := Describe(c)
			count[state]++
		}
	}
	return count
}

package server

import (
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/golang/glog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kubelet14/api"
)

// Metrics counts what the program does. No label holds a container's id or text of a manifest. It is safe for concurrent use.
type Metrics struct {
	registry             *prometheus.Registry
	syncs, pulls, docker *prometheus.HistogramVec
	requests, refused    *prometheus.CounterVec
	inFlight             prometheus.Gauge
}

// NewMetrics returns metrics that are all zero.
func NewMetrics() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	factory := promauto.With(registry)
	histogram := func(name, help string, firstBucket float64, labels ...string) *prometheus.HistogramVec {
		buckets := prometheus.ExponentialBuckets(firstBucket, 4, 9)
		return factory.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		registry: registry,
		syncs:    histogram("kubelet_pod_sync_duration_seconds", "Syncs of a pod by outcome: ok or failed.", 0.001, "outcome"),
		pulls:    histogram("kubelet_image_pull_duration_seconds", "Pulls of images by outcome: ok or failed.", 0.25, "outcome"),
		docker: histogram("kubelet_docker_request_duration_seconds",
			"Requests to Docker, until the answer begins, by operation and outcome: ok, refused for an error of Docker, failed for no answer.",
			0.001, "operation", "outcome"),
		requests: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "kubelet_http_requests_total", Help: "Answered requests to the info server by path, method and status code.",
		}, []string{"path", "method", "code"}),
		refused: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "kubelet_http_requests_refused_total", Help: "Refused requests to the info server by reason: host, origin or token.",
		}, []string{"reason"}),
		inFlight: factory.NewGauge(prometheus.GaugeOpts{
			Name: "kubelet_http_requests_in_flight", Help: "Requests to the info server that are being answered.",
		}),
	}
	for _, outcome := range []string{"ok", "failed"} { // present before the first one
		m.syncs.WithLabelValues(outcome)
		m.pulls.WithLabelValues(outcome)
	}
	for _, reason := range []string{"host", "origin", "token"} {
		m.refused.WithLabelValues(reason)
	}
	return m
}

// SyncDone counts a sync of a pod.
func (m *Metrics) SyncDone(took time.Duration, ok bool) {
	m.syncs.WithLabelValues(outcome(ok)).Observe(took.Seconds())
}

// PullDone counts a pull of an image.
func (m *Metrics) PullDone(took time.Duration, ok bool) {
	m.pulls.WithLabelValues(outcome(ok)).Observe(took.Seconds())
}

// DockerCall counts a request to Docker. The operation must not name an object.
func (m *Metrics) DockerCall(operation, outcome string, took time.Duration) {
	m.docker.WithLabelValues(operation, outcome).Observe(took.Seconds())
}

func outcome(ok bool) string {
	if ok {
		return "ok"
	}
	return "failed"
}

// count counts the requests of a route.
func (m *Metrics) count(pattern string, next http.Handler) http.Handler {
	_, path, _ := strings.Cut(pattern, " ")
	requests := m.requests.MustCurryWith(prometheus.Labels{"path": path})
	return promhttp.InstrumentHandlerInFlight(m.inFlight, promhttp.InstrumentHandlerCounter(requests, next))
}

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(prometheus.Gatherers{s.opts.Metrics.registry, s.collect()}, promhttp.HandlerOpts{
		ErrorLog: metricsLog{}, ErrorHandling: promhttp.ContinueOnError,
	}).ServeHTTP(w, r)
	return nil
}

type metricsLog struct{}

func (metricsLog) Println(v ...any) {
	glog.Warning(append([]any{"info server: GET /metrics: "}, v...)...)
}

// collect returns the metrics that are read at each scrape. Those of pods are absent while Docker does not answer.
func (s *Server) collect() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	factory := promauto.With(registry)
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return factory.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, value float64) { gauges(name, help).WithLabelValues().Set(value) }
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}

	gauges("kubelet_build_info", "Always 1.", "version", "goversion").WithLabelValues(s.opts.Version, runtime.Version()).Set(1)
	gauge("kubelet_healthy", "1 while /healthz answers ok.", oneIf(s.opts.Kubelet.Health() == nil))
	load := s.opts.Kubelet.Load()
	gauge("kubelet_pod_workers", "Pods that have a worker.", float64(load.Workers))
	gauge("kubelet_pod_work_queue_length", "Pods with work that has not begun.", float64(load.Waiting))
	gauge("kubelet_image_pulls_in_progress", "Images that are being pulled, or wait for that.", float64(load.Pulls))
	gauge("kubelet_image_pull_queue_length", "Images that wait for their turn by -registry_qps.", float64(load.Queued))
	total := counters("kubelet_events_total", "Events since the start of the kubelet.").WithLabelValues()
	if events, _ := s.opts.Kubelet.Events(0); len(events) > 0 {
		total.Add(float64(events[len(events)-1].Seq)) // only the last events are kept
	}

	age := gauges("kubelet_source_age_seconds", "Time since a source was last read without errors; absent before the first time.", "source")
	failing := gauges("kubelet_source_failing", "1 while a source cannot be read whole.", "source")
	desired := gauges("kubelet_source_pods", "Desired pods of a source.", "source")
	sources := s.opts.Sources()
	for _, source := range sources {
		if !source.LastSuccess.IsZero() {
			age.WithLabelValues(source.Source).Set(time.Since(source.LastSuccess).Seconds())
		}
		failing.WithLabelValues(source.Source).Set(oneIf(!source.FailingSince.IsZero()))
		desired.WithLabelValues(source.Source).Set(float64(source.Pods))
	}

	statuses, _, err := s.opts.Kubelet.Statuses()
	gauge("kubelet_docker_up", "1 while Docker answers.", oneIf(err == nil))
	if err != nil {
		return registry
	}
	pods := gauges("kubelet_pods", "Pods by source and phase.", "source", "phase")
	for _, source := range sources {
		for _, phase := range []api.PodPhase{api.PodPending, api.PodRunning, api.PodSucceeded, api.PodFailed} {
			pods.WithLabelValues(source.Source, string(phase)) // 0, not absent
		}
	}
	containers := gauges("kubelet_containers", "Containers of all pods, network containers included, by state.", "state")
	for state, n := range countStates(statuses) {
		containers.WithLabelValues(state).Set(float64(n))
	}
	restarts := counters("kubelet_container_restarts_total", "Attempts of a container before the newest, those for edits included.",
		"source", "namespace", "pod", "container")
	for _, pod := range statuses {
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
			switch {
			case c.State.Running != nil:
				count["running"]++
			case c.State.Terminated != nil:
				count["terminated"]++
			default:
				count["waiting"]++
			}
		}
	}
	return count
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

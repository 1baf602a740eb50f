package server

import (
	"net/http"
	"time"

	"github.com/golang/glog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts what the whole program does. What it is told it adds to numbers and
// keeps nothing else, so no label holds the id of a container or a word of a manifest.
// Its methods may be called by any number of goroutines, and do not block.
type Metrics struct {
	registry *prometheus.Registry

	syncs, pulls, docker *prometheus.HistogramVec

	requests     *prometheus.CounterVec
	requestTimes *prometheus.HistogramVec
	inFlight     prometheus.Gauge
	refused      *prometheus.CounterVec
}

// Upper bounds of durations in seconds.
var (
	aMinute          = prometheus.ExponentialBuckets(0.001, 4, 9) // from a millisecond; a stop waits for its grace period
	aQuarterOfAnHour = prometheus.ExponentialBuckets(0.25, 4, 7)
)

// NewMetrics makes them, all zero.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		syncs: histogram("kubelet_pod_sync_duration_seconds",
			"Pieces of work on a pod, from its look at Docker to the end of its last action, by outcome: ok, or failed when something could not be done.",
			aMinute, "outcome"),
		pulls: histogram("kubelet_image_pull_duration_seconds",
			"Pulls of images, from the question to the registry on, by outcome: ok or failed.",
			aQuarterOfAnHour, "outcome"),
		docker: histogram("kubelet_docker_request_duration_seconds",
			"Requests to Docker, until the answer begins, by operation and outcome: ok, refused when Docker said no, failed when it did not answer.",
			aMinute, "operation", "outcome"),

		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubelet_http_requests_total", Help: "Requests to the info server that were answered, by the pattern of their path, method and status code.",
		}, []string{"path", "method", "code"}),
		requestTimes: histogram("kubelet_http_request_duration_seconds",
			"Requests to the info server, to the end of the answer, by the pattern of their path; a log that is followed takes as long as somebody follows it.",
			aMinute, "path"),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kubelet_http_requests_in_flight", Help: "Requests to the info server that are being answered now.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubelet_http_requests_refused_total", Help: "Requests to the info server that were not let in, by what was wrong: host, origin or token.",
		}, []string{"reason"}),
	}
	m.registry.MustRegister(m.syncs, m.pulls, m.docker, m.requests, m.requestTimes, m.inFlight, m.refused,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// A counter that is there from the beginning shows its first step.
	for _, outcome := range []string{"ok", "failed"} {
		m.syncs.WithLabelValues(outcome)
		m.pulls.WithLabelValues(outcome)
	}
	for _, reason := range []string{"host", "origin", "token"} {
		m.refused.WithLabelValues(reason)
	}
	return m
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// SyncDone counts a piece of work on a pod.
func (m *Metrics) SyncDone(took time.Duration, ok bool) {
	m.syncs.WithLabelValues(outcome(ok)).Observe(took.Seconds())
}

// PullDone counts a pull of an image.
func (m *Metrics) PullDone(took time.Duration, ok bool) {
	m.pulls.WithLabelValues(outcome(ok)).Observe(took.Seconds())
}

// DockerCall counts a request to Docker. The operation must not say of which object.
func (m *Metrics) DockerCall(operation, outcome string, took time.Duration) {
	m.docker.WithLabelValues(operation, outcome).Observe(took.Seconds())
}

func outcome(ok bool) string {
	if ok {
		return "ok"
	}
	return "failed"
}

// serveMetrics adds to what was counted what is there now.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(prometheus.Gatherers{s.metrics.registry, s.present(r.Context())}, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{}, ErrorHandling: promhttp.ContinueOnError,
	}).ServeHTTP(w, r)
	return nil
}

type scrapeLog struct{}

func (scrapeLog) Println(v ...any) {
	glog.Warning(append([]any{"info server: GET /metrics: "}, v...)...)
}

package server

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"kubelet14/api"
)

// metrics returns the kubelet's own samples, without the buckets of histograms.
func (s *testServer) metrics(t testing.TB) string {
	t.Helper()
	got := s.ask(t, "GET /metrics", withToken)
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("it answers %d, %s\n%s", got.status, got.header.Get("Content-Type"), got.body)
	}
	var samples strings.Builder
	for line := range strings.Lines(got.body) {
		if strings.HasPrefix(line, "kubelet_") && !strings.Contains(line, "_bucket{") {
			samples.WriteString(line)
		}
	}
	return samples.String()
}

// everyMetric is a kubelet with something of everything. What Prometheus must not show is a secret.
func everyMetric() *fakeKubelet {
	web := []api.ContainerStatus{ // two of one name while a pod of the same name is replaced
		{Name: "main", State: runningState(noon, ""), RestartCount: 7}, {Name: "main", State: waitingState(api.ReasonBackOff, "secret"), RestartCount: 1},
	}
	job := []api.ContainerStatus{{Name: "main", State: terminatedState(0, "secret", noon), Image: "secret", ImageID: "sha256:secret"}}
	return &fakeKubelet{
		load: api.Load{Workers: 4, Waiting: 3, Pulls: 2, Queued: 1},
		statuses: []api.PodStatus{
			{Name: "job", Namespace: "default", UID: "secret", Source: "http", Origin: "http://u:secret@host/", Phase: api.PodSucceeded, Containers: job},
			{Name: "web", Namespace: "default", UID: "secret", Source: "file", Phase: api.PodRunning, PodIP: "secret", Containers: web},
			{Name: "web", Namespace: "default", Source: "http", Phase: api.PodPending, Containers: []api.ContainerStatus{{Name: "main", RestartCount: 2}}},
		},
		events: []api.Event{{Seq: 41}, {Seq: 42, Message: "secret"}},
		sources: []api.SourceStatus{
			{Source: "file", Place: "/secret", Pods: 1, LastSuccess: time.Now().Add(-time.Hour), FailingSince: noon, LastError: "secret"},
			{Source: "http", Place: "http://u:secret@host/", Pods: 2},
		},
	}
}

const podMetrics = `kubelet_container_restarts_total{container="main",namespace="default",pod="job",source="http"} 0
kubelet_container_restarts_total{container="main",namespace="default",pod="web",source="file"} 8
kubelet_container_restarts_total{container="main",namespace="default",pod="web",source="http"} 2
kubelet_containers{state="running"} 1
kubelet_containers{state="terminated"} 1
kubelet_containers{state="waiting"} 2
`

const otherMetrics = `kubelet_docker_request_duration_seconds_sum{operation="POST /containers/{id}/start",outcome="ok"} 0.25
kubelet_docker_request_duration_seconds_count{operation="POST /containers/{id}/start",outcome="ok"} 1
kubelet_docker_up 1
kubelet_events_total 42
kubelet_healthy 1
kubelet_http_requests_refused_total{reason="host"} 1
kubelet_image_pull_duration_seconds_sum{outcome="failed"} 0
kubelet_image_pull_duration_seconds_count{outcome="failed"} 0
kubelet_image_pull_duration_seconds_sum{outcome="ok"} 60
kubelet_image_pull_duration_seconds_count{outcome="ok"} 1
kubelet_image_pull_queue_length 1
kubelet_image_pulls_in_progress 2
kubelet_pod_sync_duration_seconds_sum{outcome="failed"} 1
kubelet_pod_sync_duration_seconds_count{outcome="failed"} 1
kubelet_pod_sync_duration_seconds_sum{outcome="ok"} 5
kubelet_pod_sync_duration_seconds_count{outcome="ok"} 2
kubelet_pod_work_queue_length 3
kubelet_pod_workers 4
`

const podsByPhase = `kubelet_pods{phase="failed",source="file"} 0
kubelet_pods{phase="failed",source="http"} 0
kubelet_pods{phase="pending",source="file"} 0
kubelet_pods{phase="pending",source="http"} 1
kubelet_pods{phase="running",source="file"} 1
kubelet_pods{phase="running",source="http"} 0
kubelet_pods{phase="succeeded",source="file"} 0
kubelet_pods{phase="succeeded",source="http"} 1
`

const sourceMetrics = `kubelet_source_age_seconds{source="file"} AGE
kubelet_source_failing{source="file"} 1
kubelet_source_failing{source="http"} 0
kubelet_source_pods{source="file"} 1
kubelet_source_pods{source="http"} 2
`

func TestMetrics(t *testing.T) {
	k := everyMetric()
	s := serve(t, k)
	s.opts.Metrics.SyncDone(2*time.Second, true)
	s.opts.Metrics.SyncDone(3*time.Second, true)
	s.opts.Metrics.SyncDone(time.Second, false)
	s.opts.Metrics.PullDone(time.Minute, true)
	s.opts.Metrics.DockerCall("POST /containers/{id}/start", "ok", 250*time.Millisecond)
	for _, request := range []string{"GET /?secret=1", "GET /secret", "GET /stats/secret/secret", "GET /podInfo?podID=secret", "SECRET /pods"} {
		s.ask(t, request, withToken)
	}
	s.ask(t, "GET /pods", with("Host", "secret"))

	build := fmt.Sprintf("kubelet_build_info{goversion=%q,version=\"v-test\"} 1\n", runtime.Version())
	want := build + podMetrics + otherMetrics + podsByPhase + sourceMetrics
	age := regexp.MustCompile(`(?m)(source_age_seconds.*) 36\d\d\.\d+$`)
	if diff := cmp.Diff(want, age.ReplaceAllString(s.metrics(t), "$1 AGE")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	body := s.ask(t, "GET /metrics").body
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if len(problems) > 0 || err != nil {
		t.Errorf("Prometheus' linter finds %v, %v", problems, err)
	}
	if strings.Contains(strings.ToLower(body), "secret") || !strings.Contains(body, "go_goroutines ") || !strings.Contains(body, "process_resident_memory_bytes ") {
		t.Errorf("it holds a secret, or lacks the metrics of the process:\n%s", body)
	}

	// While Docker is away the metrics of pods are absent, which is not 0.
	k.set(func() { k.err, k.health = errors.New("Docker is away"), errors.New("Docker is away") })
	away := strings.NewReplacer("docker_up 1", "docker_up 0", "healthy 1", "healthy 0").Replace(build + otherMetrics + sourceMetrics)
	if diff := cmp.Diff(away, age.ReplaceAllString(s.metrics(t), "$1 AGE")); diff != "" {
		t.Errorf("while Docker is away (-want +got):\n%s", diff)
	}
}

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
	"kubelet14/api/unittest"
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
		if strings.HasPrefix(line, "kube") && !strings.Contains(line, "_bucket{") {
			samples.WriteString(line)
		}
	}
	return samples.String()
}

const allMetrics = `kubelet_container_restarts_total{container="c",namespace="default",pod="db",source="file"} 0
kubelet_container_restarts_total{container="c",namespace="default",pod="web",source="http"} 4
kubelet_container_restarts_total{container="net",namespace="default",pod="web",source="http"} 0
kubelet_containers{state="running"} 2
kubelet_containers{state="terminated"} 2
kubelet_containers{state="waiting"} 1
kubelet_docker_request_duration_seconds_sum{operation="POST /containers/{id}/start",outcome="ok"} 0.25
kubelet_docker_request_duration_seconds_count{operation="POST /containers/{id}/start",outcome="ok"} 1
kubelet_docker_up 1
kubelet_events_total 2
kubelet_healthy 1
kubelet_http_requests_refused_total{reason="host"} 1
kubelet_image_garbage_collected_total{reason="space"} 1
kubelet_image_pull_duration_seconds_sum{outcome="failed"} 0
kubelet_image_pull_duration_seconds_count{outcome="failed"} 0
kubelet_image_pull_duration_seconds_sum{outcome="ok"} 60
kubelet_image_pull_duration_seconds_count{outcome="ok"} 1
kubelet_image_pull_queue_length 1
kubelet_image_pulls_in_progress 2
kubelet_node_available{signal="memory.available"} 2e+09
kubelet_node_available{signal="nodefs.available"} 3e+09
kubelet_node_condition{type="MemoryPressure"} 1
kubelet_node_condition{type="PIDPressure"} 0
kubelet_node_condition{type="Ready"} 1
kubelet_pod_ready{namespace="default",pod="web",source="http"} 1
kubelet_pod_sync_duration_seconds_sum{outcome="failed"} 1
kubelet_pod_sync_duration_seconds_count{outcome="failed"} 1
kubelet_pod_sync_duration_seconds_sum{outcome="ok"} 2
kubelet_pod_sync_duration_seconds_count{outcome="ok"} 1
kubelet_pod_work_queue_length 3
kubelet_pod_workers 4
kubelet_pods{phase="failed",source="file"} 0
kubelet_pods{phase="failed",source="http"} 0
kubelet_pods{phase="failing",source="file"} 0
kubelet_pods{phase="failing",source="http"} 0
kubelet_pods{phase="pending",source="file"} 0
kubelet_pods{phase="pending",source="http"} 0
kubelet_pods{phase="removing",source="file"} 1
kubelet_pods{phase="removing",source="http"} 0
kubelet_pods{phase="running",source="file"} 0
kubelet_pods{phase="running",source="http"} 2
kubelet_pods{phase="stopped",source="file"} 0
kubelet_pods{phase="stopped",source="http"} 0
kubelet_pods{phase="succeeded",source="file"} 0
kubelet_pods{phase="succeeded",source="http"} 0
kubelet_source_age_seconds{source="file"} AGE
kubelet_source_failing{source="file"} 0
kubelet_source_failing{source="http"} 1
kubelet_source_pods{source="file"} 1
kubelet_source_pods{source="http"} 0
kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0
kubernetes_feature_enabled{name="Eviction",stage="ALPHA"} 1
kubernetes_feature_enabled{name="ImageGarbageCollection",stage="ALPHA"} 0
kubernetes_feature_enabled{name="NodeLogQuery",stage=""} 1
kubernetes_feature_enabled{name="Services",stage="BETA"} 1
`

// No label holds text of a client or a manifest.
func TestMetrics(t *testing.T) {
	k := twoOfEverything()
	k.load = api.Load{Workers: 4, Waiting: 3, Pulls: 2, Queued: 1}
	k.statuses = append(k.statuses, k.statuses[1]) // one name twice, as while a pod is replaced
	k.sources[0].LastSuccess = time.Now().Add(-time.Hour)
	k.node = underPressure
	s := serve(t, k, func(o *Options) { o.Certificates = []api.Certificate{{Name: "info server", NotAfter: noon}} })
	unittest.Must(t, s.opts.Gates.Set("Eviction=true"))
	s.opts.Metrics.SyncDone(2*time.Second, true)
	s.opts.Metrics.SyncDone(time.Second, false)
	s.opts.Metrics.PullDone(time.Minute, true)
	s.opts.Metrics.ImageRemoved()
	s.opts.Metrics.DockerCall("POST /containers/{id}/start", "ok", 250*time.Millisecond)
	s.ask(t, "GET /pods", with("Host", "evil.example"))
	build := fmt.Sprintf("kubelet_build_info{goversion=%q,version=\"v-test\"} 1\n", runtime.Version())
	build += fmt.Sprintf("kubelet_certificate_expiration_timestamp_seconds{name=\"info server\"} %v\n", float64(noon.Unix()))
	check := func(want string) {
		t.Helper()
		age := regexp.MustCompile(`(?m)(source_age_seconds.*) 36\d\d\.\d+$`)
		if diff := cmp.Diff(build+want, age.ReplaceAllString(s.metrics(t), "$1 AGE")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	check(allMetrics)

	body := s.ask(t, "GET /metrics").body
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if len(problems) > 0 || err != nil {
		t.Errorf("Prometheus' linter finds %v, %v", problems, err)
	}
	if !strings.Contains(body, "go_goroutines ") || !strings.Contains(body, "process_resident_memory_bytes ") {
		t.Errorf("it lacks the metrics of the process:\n%s", body)
	}

	// While Docker does not answer, the metrics of pods are absent and not 0.
	k.set(func() { k.err, k.health = errors.New("Docker is away"), errors.New("Docker is away") })
	away := regexp.MustCompile(`(?m)^kubelet_(pods|pod_ready|container_restarts_total|containers){.*\n`).ReplaceAllString(allMetrics, "")
	check(strings.NewReplacer("docker_up 1", "docker_up 0", "healthy 1", "healthy 0").Replace(away))
}

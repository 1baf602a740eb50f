package server

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"kubelet14/api"
)

// samples are what a scrape finds, such as kubelet_pods{phase="running",source="file"};
// of a histogram its count and its sum.
type samples map[string]float64

// scrape asks for /metrics, which must be such that Prometheus can read it.
func (s *testServer) scrape(t testing.TB, set ...func(*http.Request)) samples {
	t.Helper()
	got := s.ask(t, "GET /metrics", set...)
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("it answers %d, %s\n%s", got.status, got.header.Get("Content-Type"), got.body)
	}
	return parse(t, got.body)
}

func parse(t testing.TB, body string) samples {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil {
		t.Fatalf("Prometheus cannot read it: %v\n%s", err, body)
	}
	got := samples{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			slices.Sort(labels)
			of := ""
			if len(labels) > 0 {
				of = "{" + strings.Join(labels, ",") + "}"
			}
			if h := m.GetHistogram(); h != nil {
				got[name+"_count"+of] = float64(h.GetSampleCount())
				got[name+"_sum"+of] = h.GetSampleSum()
				continue
			}
			got[name+of] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue() // one of them
		}
	}
	return got
}

// check compares some of the samples.
func (got samples) check(t *testing.T, want samples) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if value, ok := got[name]; !ok || value != want[name] {
			t.Errorf("%s is %v (told: %v), want %v", name, value, ok, want[name])
		}
	}
}

// has finds the samples of a family.
func (got samples) of(family string) (names []string) {
	for name := range got {
		if before, _, _ := strings.Cut(name, "{"); before == family {
			names = append(names, name)
		}
	}
	return names
}

// busy is a kubelet with something of everything.
func busy() *fakeKubelet {
	running, waiting, ended := runningState(noon, ""), waitingState(api.ReasonBackOff, "PASSWORD=secret"), terminatedState(0, "secret", noon)
	return &fakeKubelet{
		load: api.Load{Workers: 4, Waiting: 3, Pulls: 2, Queued: 1},
		statuses: []api.PodStatus{
			{Name: "job", Namespace: "default", UID: "uid-secret", Source: "http", Origin: "http://u:secret@host/", Phase: api.PodSucceeded, Containers: []api.ContainerStatus{
				{Name: "main", State: ended, Image: "image-secret", ImageID: "sha256:secret"}, {Name: "net", State: ended},
			}},
			{Name: "web", Namespace: "default", UID: "uid-secret", Source: "file", Phase: api.PodRunning, PodIP: "secret", Containers: []api.ContainerStatus{
				{Name: "main", State: running, RestartCount: 7}, {Name: "log", State: waiting}, {Name: "net", State: running, RestartCount: 1},
			}},
			{Name: "web", Namespace: "default", Source: "http", Phase: api.PodPending, Containers: []api.ContainerStatus{{Name: "main", RestartCount: 2}}},
		},
		events: []api.Event{{Seq: 41}, {Seq: 42, Message: "secret"}},
	}
}

func busyWith(sources ...api.SourceStatus) *fakeKubelet {
	k := busy()
	k.sources = sources
	return k
}

func TestMetricsPassPrometheusLinter(t *testing.T) {
	s := serve(t, busyWith(api.SourceStatus{Source: "file", LastSuccess: time.Now()}))
	s.opts.Metrics.DockerCall("GET /info", "ok", time.Second)
	s.ask(t, "GET /metrics")
	problems, err := promlint.New(strings.NewReader(s.ask(t, "GET /metrics").body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestMetricsTellWhatThereIs(t *testing.T) {
	now := time.Now()
	s := serve(t, busyWith(
		api.SourceStatus{Source: "file", Place: "/secret", Pods: 1, LastSuccess: now.Add(-time.Hour), FailingSince: now, LastError: "secret"},
		api.SourceStatus{Source: "http", Pods: 2, LastSuccess: now},
		api.SourceStatus{Source: "etcd"},
	))
	got := s.scrape(t)
	got.check(t, samples{
		`kubelet_pods{phase="pending",source="file"}`:   0,
		`kubelet_pods{phase="running",source="file"}`:   1,
		`kubelet_pods{phase="pending",source="http"}`:   1,
		`kubelet_pods{phase="succeeded",source="http"}`: 1,
		`kubelet_pods{phase="failed",source="etcd"}`:    0,

		`kubelet_containers{state="waiting"}`:    2,
		`kubelet_containers{state="running"}`:    2,
		`kubelet_containers{state="terminated"}`: 2,

		// Pods of one name in two sources are two.
		`kubelet_container_restarts_total{container="main",namespace="default",pod="web",source="file"}`: 7,
		`kubelet_container_restarts_total{container="net",namespace="default",pod="web",source="file"}`:  1,
		`kubelet_container_restarts_total{container="main",namespace="default",pod="web",source="http"}`: 2,
		`kubelet_container_restarts_total{container="log",namespace="default",pod="web",source="file"}`:  0,

		`kubelet_source_failing{source="file"}`: 1,
		`kubelet_source_failing{source="http"}`: 0,
		`kubelet_source_pods{source="file"}`:    1,
		`kubelet_source_pods{source="http"}`:    2,

		`kubelet_pod_workers`:             4,
		`kubelet_pod_work_queue_length`:   3,
		`kubelet_image_pulls_in_progress`: 2,
		`kubelet_image_pull_queue_length`: 1,
		`kubelet_events_total`:            42,
		`kubelet_healthy`:                 1,
		`kubelet_docker_up`:               1,
		fmt.Sprintf(`kubelet_build_info{goversion=%q,version="v-test"}`, runtime.Version()): 1,
	})
	if age := got[`kubelet_source_age_seconds{source="file"}`]; age < 3600 || age > 7200 {
		t.Errorf("a source that was read an hour ago has the age %v", age)
	}
	if age, ok := got[`kubelet_source_age_seconds{source="etcd"}`]; ok {
		t.Errorf("a source that never was read has the age %v", age)
	}
	for _, family := range []string{"go_goroutines", "process_resident_memory_bytes"} {
		if len(got.of(family)) == 0 {
			t.Errorf("%s is missing", family)
		}
	}
}

func TestMetricsCountWork(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	s.scrape(t).check(t, samples{ // they are there before there was any
		`kubelet_pod_sync_duration_seconds_count{outcome="ok"}`:       0,
		`kubelet_pod_sync_duration_seconds_count{outcome="failed"}`:   0,
		`kubelet_image_pull_duration_seconds_count{outcome="ok"}`:     0,
		`kubelet_image_pull_duration_seconds_count{outcome="failed"}`: 0,
	})
	s.opts.Metrics.SyncDone(2*time.Second, true)
	s.opts.Metrics.SyncDone(3*time.Second, true)
	s.opts.Metrics.SyncDone(time.Second, false)
	s.opts.Metrics.PullDone(time.Minute, true)
	s.opts.Metrics.PullDone(time.Second, false)
	s.opts.Metrics.PullDone(time.Second, false)
	s.opts.Metrics.DockerCall("POST /containers/{id}/start", "ok", 250*time.Millisecond)
	s.opts.Metrics.DockerCall("GET /images/{name}/json", "refused", 500*time.Millisecond)
	s.scrape(t).check(t, samples{
		`kubelet_pod_sync_duration_seconds_count{outcome="ok"}`:                                                2,
		`kubelet_pod_sync_duration_seconds_sum{outcome="ok"}`:                                                  5,
		`kubelet_pod_sync_duration_seconds_count{outcome="failed"}`:                                            1,
		`kubelet_image_pull_duration_seconds_count{outcome="ok"}`:                                              1,
		`kubelet_image_pull_duration_seconds_sum{outcome="ok"}`:                                                60,
		`kubelet_image_pull_duration_seconds_count{outcome="failed"}`:                                          2,
		`kubelet_docker_request_duration_seconds_sum{operation="POST /containers/{id}/start",outcome="ok"}`:    0.25,
		`kubelet_docker_request_duration_seconds_count{operation="GET /images/{name}/json",outcome="refused"}`: 1,
		`kubelet_docker_request_duration_seconds_sum{operation="GET /images/{name}/json",outcome="refused"}`:   0.5,
	})
}

func TestMetricsGoOnWithoutDocker(t *testing.T) {
	k := busyWith(api.SourceStatus{Source: "file", Pods: 1})
	k.err, k.health = errors.New("Docker is away"), errors.New("Docker is away")
	s := serve(t, k)
	got := s.scrape(t)
	got.check(t, samples{
		`kubelet_docker_up`: 0, `kubelet_healthy`: 0, `kubelet_pod_workers`: 4, `kubelet_source_pods{source="file"}`: 1,
		`kubelet_pod_sync_duration_seconds_count{outcome="ok"}`: 0,
	})
	for _, family := range []string{"kubelet_pods", "kubelet_containers", "kubelet_container_restarts_total"} {
		if names := got.of(family); names != nil {
			t.Errorf("nothing is known of the pods, and there is %v", names)
		}
	}
}

// Two pods of one name, one after the other, may both be on their way out.
func TestMetricsBearTwoContainersOfOneName(t *testing.T) {
	k := &fakeKubelet{statuses: []api.PodStatus{{Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning, Containers: []api.ContainerStatus{
		{Name: "main", RestartCount: 2}, {Name: "main", RestartCount: 1},
	}}}}
	serve(t, k).scrape(t).check(t, samples{
		`kubelet_containers{state="waiting"}`: 2,
		`kubelet_container_restarts_total{container="main",namespace="default",pod="web",source="file"}`: 3,
	})
}

func TestMetricsHoldNoSecrets(t *testing.T) {
	s := serve(t, busyWith(api.SourceStatus{Source: "file", Place: "http://u:secret@host/", LastError: "secret", FailingSince: time.Now()}))
	for _, request := range []string{"GET /?token=secret", "GET /secret", "GET /stats/secret/secret", "GET /podInfo?podID=secret", "SECRET /pods"} {
		s.ask(t, request, withToken)
	}
	s.ask(t, "GET /pods", with("Host", "secret"))
	body := s.ask(t, "GET /metrics").body
	for line := range strings.Lines(body) {
		if strings.Contains(strings.ToLower(line), "secret") || strings.Contains(line, testToken) {
			t.Errorf("it says %s", line)
		}
	}
}

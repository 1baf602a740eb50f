package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestMetricsCountRequests(t *testing.T) {
	k := &fakeKubelet{}
	s := serve(t, k)
	for _, request := range []string{
		"GET /pods", "GET /pods", "HEAD /pods", "GET /pods?pretty=maybe", "POST /pods", "BREW /pods", "GET /nosuch",
	} {
		ask(t, s, request)
	}
	ask(t, s, "GET /pods", with("Host", "evil.example"))
	ask(t, s, "GET /pods", with("Origin", "http://evil.example"))
	k.change(func() { k.health = errors.New("Docker is away") })
	ask(t, s, "GET /healthz")
	scrape(t, s).check(t, samples{
		`kubelet_http_requests_total{code="200",method="GET",path="/pods"}`:    2,
		`kubelet_http_requests_total{code="200",method="HEAD",path="/pods"}`:   1,
		`kubelet_http_requests_total{code="400",method="GET",path="/pods"}`:    1,
		`kubelet_http_requests_total{code="503",method="GET",path="/healthz"}`: 1,
		// No route has these.
		`kubelet_http_requests_total{code="405",method="POST",path="none"}`:  1,
		`kubelet_http_requests_total{code="405",method="other",path="none"}`: 1,
		`kubelet_http_requests_total{code="404",method="GET",path="none"}`:   1,
		`kubelet_http_requests_total{code="421",method="GET",path="none"}`:   1,
		`kubelet_http_requests_total{code="403",method="GET",path="none"}`:   1,

		`kubelet_http_requests_refused_total{reason="host"}`:   1,
		`kubelet_http_requests_refused_total{reason="origin"}`: 1,
		`kubelet_http_requests_refused_total{reason="token"}`:  0,

		`kubelet_http_request_duration_seconds_count{path="/pods"}`: 4,
		`kubelet_http_requests_in_flight`:                           1, // the scrape itself
	})
}

// read is what Prometheus reads of metrics that no server serves.
func (m *Metrics) read(t *testing.T) samples {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return parse(t, answer.Body.String())
}

func TestMetricsTellOfRequestsInFlight(t *testing.T) {
	m := NewMetrics()
	request := func(serve http.HandlerFunc) {
		m.count(serve).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	}
	request(func(http.ResponseWriter, *http.Request) {
		request(func(http.ResponseWriter, *http.Request) {
			m.read(t).check(t, samples{`kubelet_http_requests_in_flight`: 2})
		})
	})
	func() {
		defer func() { recover() }()
		request(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}()
	m.read(t).check(t, samples{`kubelet_http_requests_in_flight`: 0, `kubelet_http_request_duration_seconds_count{path="none"}`: 3})
}

func TestCountedAnswersCanBeFlushedAndHaveDeadlines(t *testing.T) {
	errs := make(chan error, 1)
	server := httptest.NewServer(NewMetrics().count(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		errs <- errors.Join(c.SetWriteDeadline(time.Time{}), c.Flush())
	})))
	defer server.Close()
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := <-errs; err != nil {
		t.Error(err)
	}
}

package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// BenchmarkHealthz asks /healthz, and in turn a bare handler that writes ok, over
// connections that stay open. The ratio is that of the medians.
func BenchmarkHealthz(b *testing.B) {
	const rounds = 5000
	ours := serve(b, &fakeKubelet{}).URL() + "healthz"
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	defer bare.Close()
	var took, bareTook []time.Duration
	for range b.N {
		for range rounds {
			took = append(took, timeOf(b, ours))
			bareTook = append(bareTook, timeOf(b, bare.URL))
		}
	}
	b.ReportMetric(median(took).Seconds()/median(bareTook).Seconds(), "server/bare")
	b.ReportMetric(median(took).Seconds()*1000, "ms-median")
	b.ReportMetric(0, "ns/op")
}

// timeOf is how long a request takes, with all of its answer.
func timeOf(b *testing.B, url string) time.Duration {
	b.Helper()
	began := time.Now()
	resp, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s answers %s, %v", url, resp.Status, err)
	}
	return time.Since(began)
}

func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

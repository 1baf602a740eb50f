package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"
)

func TestIntegrationMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("good")
	p := h.Start()
	p.AwaitUp("good")
	h.Write("bad", hosttest.Job("bad", `/hello, exit, "3"`))
	p.AwaitShows("bad", "failed")
	h.Mend("good")
	h.Await("the metrics", func() error {
		page, err := p.Metrics()
		for words, want := range map[string]float64{
			`kubelet_pods{ source="file" phase="running"`: 1,
			`kubelet_pods{ source="file" phase="failed"`:  1,
			`kubelet_containers{ state="running"`:         2, // with the network container
			`kubelet_container_restarts_total{`:           1,
			`kubelet_docker_up `:                          1,
		} {
			if got := page.Sum(strings.Fields(words)...); err == nil && got != want {
				err = fmt.Errorf("%s: %v, want %v", words, got, want)
			}
		}
		if page.Sum(`kubelet_pod_sync_duration_seconds_count{outcome="ok"`) < 3 {
			err = errors.Join(err, errors.New("no work of the pods is counted"))
		}
		return err
	})
}

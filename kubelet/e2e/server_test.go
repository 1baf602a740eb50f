package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// The table is printed to standard output, and problems to standard error. /metrics has the same numbers.
func TestIntegrationStatusAndMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	await := func(exit int, wrong string, words ...string) {
		t.Helper()
		h.Await(fmt.Sprintf("-status exits with %d and prints %q", exit, words), func() error {
			r := h.Run("-status")
			if err := errors.Join(unittest.HasWords(r.Stdout, words...), unittest.HasWords(r.Stderr, wrong)); r.Exit != exit || err != nil {
				return fmt.Errorf("exit %d, %v", r.Exit, err)
			}
			return nil
		})
	}
	h.Run("-status").MustExit(t, 1, "unix:"+h.Socket, "no kubelet answers")
	h.WriteSleepers("good")
	p := h.Start()
	p.AwaitUp("good")
	await(0, "", "good.default.file", "running", "main")
	h.Write("bad", hosttest.Job("bad", `/hello, exit, "3"`))
	await(1, "1 of 2 pods", "bad.default.file", "failed", "terminated", "Error (exit code 3)")
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

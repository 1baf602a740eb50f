package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"kubelet14/kubelet/e2e/hosttest"
)

// viewers is the number of browsers that have the page open. With none only the trace is kept, and without a server not
// even that.
var viewers = []struct {
	name     string
	browsers int
	flags    []string
}{
	{"no-server", 0, []string{"-enable_server=false"}}, {"no-browser", 0, nil}, {"1-browser", 1, nil}, {"20-browsers", 20, nil},
}

// browse opens the live page as soon as there is one, in some browsers until close is called.
func (h *host) browse(browsers int) (close func()) {
	ctx, cancel := context.WithCancel(h.T.Context())
	var all sync.WaitGroup
	for range browsers {
		all.Go(func() {
			for ctx.Err() == nil {
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/stream", nil)
				if answer, err := h.Client().Do(request); err == nil {
					io.Copy(io.Discard, answer.Body)
				}
				time.Sleep(10 * time.Millisecond) // until the kubelet listens
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// cpu returns the CPU time that a kubelet has used.
func cpu(p *hosttest.Process) (spent time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Cmd.Process.Pid))
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		var ns time.Duration
		fmt.Sscan(string(text), &ns)
		spent += ns
	}
	return spent
}

// BenchmarkPage measures the CPU time of the trace and the page: while pods start, and when they are up, with a sync
// each second.
func BenchmarkPage(b *testing.B) {
	const pods = 20
	v := versions(b)[0]
	for _, name := range []string{"starting", "idle"} {
		b.Run(name, func(b *testing.B) {
			took, spent := samples{}, samples{}
			for round := range b.N * len(viewers) {
				for _, viewer := range slices.Concat(viewers[round%len(viewers):], viewers[:round%len(viewers)]) { // the first start is the fastest of all
					h := newBenchHost(b, v)
					stop := h.browse(viewer.browsers)
					p, seconds := h.startAtOnce(b, pods, append(viewer.flags, "-sync_frequency=1s")...)
					used := cpu(p)
					if name == "idle" {
						time.Sleep(3 * time.Second) // until the work of the start is done
						began, before := time.Now(), cpu(p)
						time.Sleep(15 * time.Second) // what is measured
						seconds, used = time.Since(began), cpu(p)-before
					}
					took.add(viewer.name, seconds)
					spent.add(viewer.name, used)
					stop()
					p.Stop()
					h.MustRun("-cleanup")
				}
			}
			b.Log(took, spent)
			for _, viewer := range viewers {
				b.ReportMetric(100*spent.median(viewer.name)/took.median(viewer.name), viewer.name+"-%-of-a-core")
				b.ReportMetric(took.median(viewer.name)/took.median(viewers[0].name), viewer.name+"-time-ratio")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

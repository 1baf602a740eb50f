package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkFollow follows the logs of 50 containers that print about 20 lines a second
// each. It reports the part of a core that each version uses for 1,000 lines a second,
// beside that of an idle one.
func BenchmarkFollow(b *testing.B) {
	const followers, linesASecond = 50, 20
	all := versions(b)
	h := newBenchHost(b, all[0])
	var ids []string
	for i := range followers {
		ids = append(ids, fmt.Sprintf("p%d", i))
		h.write(ids[i], job(ids[i], fmt.Sprintf(`/hello, flood, -lines, "1000000", -every, %v`, time.Second/linesASecond)))
	}
	used := map[string]float64{}
	for range b.N {
		for _, v := range all {
			h.binary = v.binary
			p := h.start()
			p.awaitUp(ids...)
			idle := cpuShare(p.cpuSeconds)
			share, rate := p.follow(b, ids)
			used[v.name] = (share - idle) * 1000 / rate
			b.ReportMetric(100*used[v.name], v.name+"-%-of-a-core")
			b.ReportMetric(100*idle, v.name+"-%-idle")
			p.kill()
		}
	}
	b.ReportMetric(used["new"]/used["last"], "new/last")
	b.ReportMetric(0, "ns/op")
}

// follow follows the logs of pods, and returns the part of a core that this takes and
// the lines that come in a second.
func (p *process) follow(b *testing.B, ids []string) (share, rate float64) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var lines atomic.Int64
	var all, begun sync.WaitGroup
	for _, id := range ids {
		begun.Add(1)
		all.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/containerLogs/default/"+id+"/main?follow=1&tail=0", nil)
			var resp *http.Response
			if err == nil {
				resp, err = p.h.client().Do(req)
			}
			begun.Done()
			if err != nil || resp.StatusCode != http.StatusOK {
				b.Errorf("the log of %s: %v, %v", id, resp, err)
				return
			}
			defer resp.Body.Close()
			for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
				lines.Add(1)
			}
		})
	}
	begun.Wait()
	before, began := lines.Load(), time.Now()
	share = cpuShare(p.cpuSeconds)
	rate = float64(lines.Load()-before) / time.Since(began).Seconds()
	cancel()
	all.Wait()
	return share, rate
}

package fleet

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

var (
	hosts   = flag.Int("hosts", 100, "hosts of the benchmark")
	members = flag.Int("members", 1, "etcd servers of the benchmark")
	access  = flag.String("access", "none", "how hosts get in: none, passwords or certificates")
)

// BenchmarkFleet prints a table.
func BenchmarkFleet(b *testing.B) {
	for range b.N {
		fmt.Printf("%d hosts of %d pods, %d etcd servers, access: %s\n", *hosts, podsOfHost, *members, *access)
		newFleet(b, *hosts, *members, *access, true, os.Stdout).live(true)
	}
	b.ReportMetric(0, "ns/op")
}

// A small fleet goes through everything that the benchmark does. No pod is lost or started again.
func TestFleetOnEtcd(t *testing.T) {
	for access, members := range map[string]int{"passwords": 3, "certificates": 1} {
		t.Run(access, func(t *testing.T) {
			t.Parallel()
			newFleet(t, 5, members, access, false, t.Output()).live(false)
		})
	}
}

const (
	sampling = 250 * time.Millisecond // of etcd's metrics
	outage   = 10 * time.Second
	idle     = time.Minute
)

// live lets the fleet pass through good and bad events, and prints how long each took. What only a measurement shows is
// left out unless it measures.
func (f *fleet) live(measured bool) {
	const start, everywhere, one = "start until all containers run", "an edit on every node, put to create", "an edit on one node, put to create"
	f.row("", "", etcdtest.LoadColumns)
	goroutines := runtime.NumGoroutine()
	load, began := f.cluster.Measure(sampling), time.Now()
	for _, h := range f.hosts {
		f.running.Go(h.run)
	}
	f.await(start, 2*podsOfHost*len(f.hosts))
	f.row(start, fmt.Sprintf("%.1f s", time.Since(began).Seconds()), load())

	load = f.cluster.Measure(sampling)
	took := f.edit(everywhere, f.hosts...)
	p := func(percent int) int64 { return took[(len(took)-1)*percent/100].Milliseconds() }
	f.row(everywhere, fmt.Sprintf("p50 %d, p99 %d, max %d ms", p(50), p(99), p(100)), load())
	before := quiet(f.hosts[1:])
	took = f.edit(one, f.hosts[0])
	calls := quiet(f.hosts[1:]) - before
	f.row(one, fmt.Sprintf("%d ms, other Dockers: %d calls", took[0].Milliseconds(), calls), "")
	if calls != 0 {
		f.Errorf("an edit on one node makes the others call Docker %d times", calls)
	}
	if measured {
		load := f.cluster.Measure(idle)
		time.Sleep(idle)
		used := load()
		f.row(fmt.Sprintf("idle for %v", idle), fmt.Sprintf("%.1f lists, %.1f kB a second", used.Lists/idle.Seconds(), used.Sent/1e3/idle.Seconds()), used)
	}

	if leader := f.cluster.Leader(); len(f.cluster) == 1 {
		f.survive("a restart of etcd", func() { leader.Kill(); leader.Restart() })
	} else {
		f.survive("the death of etcd's leader", func() { leader.Kill(); f.cluster.Leader() })
		leader.Restart()
	}
	if measured {
		f.cluster.Kill()
		time.Sleep(outage)
		f.survive(fmt.Sprintf("an outage of %v", outage), f.cluster.Restart)
	}
	put, err := f.client.Put(f.ctx, "/registry/other", "")
	unittest.Must(f, err)
	_, err = f.client.Compact(f.ctx, put.Header.Revision) // watches cannot go on where they were
	unittest.Must(f, err)
	f.cluster.Kill()
	f.survive("a compaction and a restart", f.cluster.Restart)
	if measured {
		f.cluster.Kill()
		time.Sleep(outage)
		load := f.cluster.Measure(sampling)
		f.cluster.Restart()
		time.Sleep(idle)
		f.await("an outage without edits", 0)
		f.row(fmt.Sprintf("%v after an outage, without edits", idle), "", load())
		with := memory()
		goroutines = runtime.NumGoroutine() - goroutines
		f.end()
		for _, h := range f.hosts {
			h.run = nil
		}
		n := len(f.hosts)
		f.row("a kubelet", fmt.Sprintf("%d goroutines, %.2f MB", goroutines/n, float64(with-memory())/1e6/float64(n)), "")
	}
}

// survive lets something bad begin, and prints how long an edit on every node then takes to run.
func (f *fleet) survive(what string, bad func()) {
	f.Helper()
	what = "return after " + what
	load, began := f.cluster.Measure(sampling), time.Now()
	bad()
	f.client = f.cluster.Client() // which does not wait, as one does that has lost its servers
	f.edit(what, f.hosts...)
	f.row(what, fmt.Sprintf("%.1f s", time.Since(began).Seconds()), load())
}

// memory returns the bytes of the heap and of stacks that are in use.
func memory() uint64 {
	runtime.GC()
	runtime.GC() // frees what the first has finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func (f *fleet) row(what, result string, load any) {
	fmt.Fprintf(f.out, "%-42s %-36s %v\n", what, result, load)
}

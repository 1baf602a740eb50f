package fleet

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	hosts   = flag.Int("hosts", 100, "hosts of the benchmark")
	members = flag.Int("members", 1, "etcd servers of the benchmark")
	access  = flag.String("access", "none", "how they get in: none, passwords or certificates")
)

// BenchmarkFleet prints a table of what a fleet takes.
func BenchmarkFleet(b *testing.B) {
	for range b.N {
		fmt.Printf("\n%d hosts of %d pods, %d etcd members, access: %s\n", *hosts, podsOfHost, *members, *access)
		newFleet(b, *hosts, *members, *access, true, os.Stdout).live(10*time.Second, time.Minute)
	}
	b.ReportMetric(0, "ns/op")
}

// A small fleet goes through all that the benchmark does, and does what it must.
func TestFleet(t *testing.T) {
	for access, members := range map[string]int{"none": 3, "passwords": 1, "certificates": 1} {
		t.Run(access, func(t *testing.T) {
			t.Parallel()
			newFleet(t, 6, members, access, false, t.Output()).live(0, 0)
		})
	}
}

// live lets the fleet live through good days and bad ones. outage and idle are the lengths of an outage and of
// a look at what goes on when nothing changes.
func (f *fleet) live(outage, idle time.Duration) {
	const start, everywhere, one = "start until all containers run", "an edit on every node, put to create", "an edit on one node, put to create"
	goroutines := runtime.NumGoroutine()
	began, load := time.Now(), f.measure(sampling)
	for _, h := range f.hosts {
		h.expect(2 * podsOfHost)
		f.running.Go(func() { h.run(f.ctx) })
	}
	f.await(start, len(f.hosts))
	f.row(start, "%s; %s", seconds(time.Since(began)), load())
	f.quiet(f.hosts)
	f.check(start)

	took := f.edit(everywhere, f.hosts...)
	f.row(everywhere, "p50 %s, p99 %s, max %s", seconds(took[len(took)/2]), seconds(took[len(took)*99/100]), seconds(took[len(took)-1]))
	others := f.hosts[1:]
	before := f.quiet(others)
	took = f.edit(one, f.hosts[0])
	calls := f.quiet(others) - before
	f.row(one, "%s; %d calls of the Dockers of other nodes", seconds(took[0]), calls)
	if calls != 0 {
		f.Errorf("after an edit on one node the others called Docker %d times", calls)
	}
	f.check(one)
	if idle > 0 {
		load := f.measure(idle)
		time.Sleep(idle)
		used, s := load(), idle.Seconds()
		f.row("idle", "%.1f lists and %.1f kB a second, etcd takes %.1f %% of a core", used.lists/s, used.sent/1e3/s, 100*used.cpu/s)
		f.row("a kubelet", "%d goroutines", (runtime.NumGoroutine()-goroutines)/len(f.hosts))
	}

	leader := f.cluster.Leader(f.client)
	if len(f.cluster) == 1 {
		f.fail("a restart of etcd", func() { leader.Kill(); leader.Restart() })
	} else {
		f.fail("the leader's death", func() {
			leader.Kill()
			for _, s := range f.cluster {
				if s != leader {
					s.AwaitHealth()
				}
			}
		})
		leader.Restart()
	}
	f.kill()
	time.Sleep(outage)
	f.fail(fmt.Sprintf("an outage of %v", outage), f.cluster.Restart)
	f.compact()
	f.kill()
	f.fail("a compaction and a restart of all", f.cluster.Restart)
	if idle > 0 {
		f.kill()
		time.Sleep(outage)
		load := f.measure(sampling)
		f.cluster.Restart()
		time.Sleep(idle)
		f.row(fmt.Sprintf("after an outage of %v, without edits", outage), "in %v %s", idle, load())
	}

	with := memory()
	f.end()
	for _, h := range f.hosts {
		h.run, h.status = nil, nil
	}
	f.row("a kubelet", "%.2f MB beside its Docker", float64(with-memory())/1e6/float64(len(f.hosts)))
}

// fail waits until an edit on every node has arrived after something bad.
func (f *fleet) fail(what string, bad func()) {
	f.Helper()
	what = "return after " + what
	load, began := f.measure(sampling), time.Now()
	bad()
	f.connect()
	f.edit(what, f.hosts...)
	f.row(what, "%s; %s", seconds(time.Since(began)), load())
	f.check(what)
}

func (f *fleet) kill() {
	for _, s := range f.cluster {
		s.Kill()
	}
}

// compact makes the revisions unreadable at which the sources would go on to watch.
func (f *fleet) compact() {
	f.Helper()
	f.connect()
	put, err := f.client.Put(f.ctx, "/registry/other", "")
	f.must(err)
	_, err = f.client.Compact(f.ctx, put.Header.Revision)
	f.must(err)
}

// load is what the members of etcd did in some time.
type load struct {
	lists           float64
	listsInASecond  float64 // in the second in which they were most
	authentications float64
	sent            float64 // bytes
	cpu             float64 // seconds
}

func (l load) String() string {
	return fmt.Sprintf("%.0f lists, at most %.0f in a second; %.0f authentications", l.lists, l.listsInASecond, l.authentications)
}

const sampling = 250 * time.Millisecond

// measure begins to look at the members' metrics at the interval. The function that it
// returns ends this.
func (f *fleet) measure(interval time.Duration) (end func() load) {
	type sample struct {
		time.Time
		lists float64
	}
	var total load
	var samples []sample
	last := make([]map[string]float64, len(f.cluster))
	look := func(count float64) {
		for i, s := range f.cluster {
			now, err := s.Metrics()
			if err != nil { // it is down
				continue
			}
			add := func(sum *float64, names string) {
				for name, value := range now {
					if strings.HasPrefix(name, names) {
						if last[i]["process_start_time_seconds"] == now["process_start_time_seconds"] {
							value -= last[i][name]
						}
						*sum += count * value
					}
				}
			}
			add(&total.lists, `grpc_server_started_total{grpc_method="Range"`)
			add(&total.authentications, `grpc_server_started_total{grpc_method="Authenticate"`)
			add(&total.sent, "etcd_network_client_grpc_sent_bytes_total")
			add(&total.cpu, "process_cpu_seconds_total")
			last[i] = now
		}
		samples = append(samples, sample{time.Now(), total.lists})
		for i, s := range slices.Backward(samples) {
			if took := time.Since(s.Time); took >= time.Second || i == 0 {
				total.listsInASecond = max(total.listsInASecond, (total.lists-s.lists)/max(1, took.Seconds()))
				break
			}
		}
	}
	look(0)
	ended, ticker := make(chan struct{}), time.NewTicker(interval)
	var looking sync.WaitGroup
	looking.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				look(1)
			case <-ended:
				return
			}
		}
	})
	return func() load {
		close(ended)
		looking.Wait()
		look(1)
		return total
	}
}

// memory returns the bytes of the heap and of stacks in use.
func memory() uint64 {
	runtime.GC()
	runtime.GC() // what the first has finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func seconds(d time.Duration) string {
	if d < 2*time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

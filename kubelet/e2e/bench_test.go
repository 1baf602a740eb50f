package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// version is a program that a benchmark measures. Both versions are measured in the same run, since a single number
// says little about an unknown machine.
type version struct {
	name, binary string
	network      string // of its pods, made before
}

func versions(b *testing.B) []version {
	b.Helper()
	hosttest.Prepare(b)
	earlier := earlierVersions()
	_, last, err := buildVersion(earlier[len(earlier)-1])
	unittest.Must(b, err)
	client, err := hosttest.Connect("")
	unittest.Must(b, err)
	network := hosttest.MakeNetwork(b, client, "bench")
	return []version{{"new", hosttest.Binary(), network.Name}, {"last", last, network.Name}}
}

// newBenchHost makes a host on which a version of the program runs.
func newBenchHost(b *testing.B, v version) *host {
	b.Helper()
	h := newSourcesHost(b)
	h.Binary, h.Network = v.binary, v.network
	return h
}

// startAtOnce starts a kubelet, gives it pods at once and returns how
// long it takes until Docker has started the last container. The kubelet runs then.
func (h *host) startAtOnce(b *testing.B, pods int, flags ...string) (*hosttest.Process, time.Duration) {
	b.Helper()
	next := h.events(b)
	h.web.Answer(0, "") // the kubelet waits for the answer
	p := h.StartWith(slices.Concat(h.from("http"), []string{"-http_check_frequency=1h"}, flags)...)
	h.web.AwaitRequests(1)
	for i := range pods {
		id := fmt.Sprintf("p%d", i)
		h.put(id+".default.http", hosttest.Sleeper(id))
	}
	began := time.Now()
	h.web.Serve()
	var last time.Time
	for range 2 * pods {
		last = next("start")
	}
	return p, last.Sub(began)
}

// events returns a function that waits for an action of Docker on a container of this
// host, and returns its time.
func (h *host) events(b *testing.B) func(action string) time.Time {
	b.Helper()
	next, stop := h.listen(b)
	b.Cleanup(stop)
	return func(action string) time.Time { return next(action, nil) }
}

// listen is events whose function waits until a deadline, which may be nil, and one that ends the listening.
func (h *host) listen(b *testing.B) (next func(action string, deadline <-chan time.Time) time.Time, stop func()) {
	b.Helper()
	events := make(chan *docker.APIEvents, 4096)
	h.Must(h.Docker.AddEventListener(events))
	next = func(action string, deadline <-chan time.Time) time.Time {
		for {
			select {
			case event, open := <-events:
				if !open {
					b.Fatal("Docker's events have ended")
				}
				if event.Action == action && event.Actor.Attributes["kubelet14.hostname"] == h.Hostname {
					return time.Unix(0, event.TimeNano)
				}
			case <-deadline:
				b.Fatalf("Docker does not report: %s", action)
			}
		}
	}
	return next, func() { h.Docker.RemoveEventListener(events) }
}

// samples are measurements by what was measured.
type samples map[string][]time.Duration

func (s samples) add(name string, took time.Duration) { s[name] = append(s[name], took) }

func (s samples) best(name string) float64 { return slices.Min(s[name]).Seconds() }

func (s samples) median(name string) float64 {
	return slices.Sorted(slices.Values(s[name]))[len(s[name])/2].Seconds()
}

// BenchmarkStart starts pods at once with both versions of the kubelet, and by Docker calls alone, eight pods at a time.
// The ratio is that of the best times.
func BenchmarkStart(b *testing.B) {
	for _, pods := range []int{1, 20, 100} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			took, all := samples{}, versions(b)
			for range b.N * max(3, 10/pods) {
				for _, v := range all {
					h := newBenchHost(b, v)
					p, t := h.startAtOnce(b, pods)
					took.add(v.name, t)
					p.Stop()
					h.MustRun("-cleanup") // the containers would slow down what follows
				}
				bare := newBareSide(&stage{b: b, host: newBenchHost(b, all[0]), dir: b.TempDir()})
				began := time.Now()
				bare.start(podNames(pods))
				took.add("bare", time.Since(began))
				bare.stop(podNames(pods))
			}
			b.Log(took)
			for _, name := range []string{"new", "last"} {
				b.ReportMetric(took.best(name)/took.best("bare"), name+"/bare")
				b.ReportMetric(took.best(name)/float64(pods), name+"-s/pod")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkEdit measures from the moment a changed manifest is in its place to the
// moment Docker creates the container for it. 50 ms of that are the time in which a
// file must not change.
func BenchmarkEdit(b *testing.B) {
	const rounds = 20
	took := samples{}
	var steps []func(round int)
	edited := func(round int) string {
		return hosttest.Block("b", "/hello, sleep") + fmt.Sprintf("    env: [{name: ROUND, value: \"%d\"}]\n", round)
	}
	for _, v := range versions(b) {
		h := newBenchHost(b, v)
		next := h.events(b)
		h.Write("b", edited(0))
		h.Start()
		next("start") // the network container
		next("start")
		steps = append(steps, func(round int) {
			h.Write("b", edited(round))
			changed := time.Now()
			took.add(v.name, next("create").Sub(changed))
			next("start")
		})
	}
	for n := range b.N {
		for round := range rounds {
			for _, step := range steps {
				step(1 + n*rounds + round)
			}
		}
	}
	for name := range took {
		b.ReportMetric(1000*took.median(name), name+"-ms")
		b.ReportMetric(1000*slices.Max(took[name]).Seconds(), name+"-ms-worst")
	}
	b.ReportMetric(took.median("new")/took.median("last"), "new/last")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle measures kubelets whose 100 pods are up, with a sync each second. The
// versions look after the same containers in turn.
func BenchmarkIdle(b *testing.B) {
	const pods = 100
	all := versions(b)
	h := newBenchHost(b, all[0])
	p, _ := h.startAtOnce(b, pods)
	ids := make([]string, pods)
	for i := range ids {
		ids[i] = fmt.Sprintf("p%d.default.http", i)
	}
	for range b.N {
		for _, v := range all {
			p.Kill()
			h.Binary, h.Network = v.binary, v.network
			p = h.StartWith(append(h.from("http"), "-http_check_frequency=1h", "-sync_frequency=1s")...)
			p.AwaitUp(ids...)
			time.Sleep(2 * time.Second) // until the work of the start is done
			used := h.measureIdle(p, 30*time.Second)
			b.ReportMetric(used.calls, v.name+"-calls/sync")
			b.ReportMetric(used.cpu, v.name+"-%-of-a-core")
			b.ReportMetric(used.megabytes, v.name+"-MB")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// usage is what a kubelet uses: calls of Docker in a second, CPU time in percent of a core, and memory.
type usage struct{ calls, cpu, megabytes float64 }

func (h *host) measureIdle(p *hosttest.Process, span time.Duration) usage {
	before, err := p.Metrics()
	h.Must(err)
	began := time.Now()
	time.Sleep(span) // what is measured
	after, err := p.Metrics()
	h.Must(err)
	seconds := time.Since(began).Seconds()
	const cpu = "process_cpu_seconds_total "
	return usage{
		(after.DockerCalls() - before.DockerCalls()) / seconds, 100 * (after.Sum(cpu) - before.Sum(cpu)) / seconds,
		after.Sum("process_resident_memory_bytes ") / 1e6,
	}
}

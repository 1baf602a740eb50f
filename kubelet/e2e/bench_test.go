package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// version is a program that a benchmark measures. Both versions run in the same run,
// since a number of its own says little about a machine that nobody knows.
type version struct{ name, binary string }

func versions(b *testing.B) []version {
	b.Helper()
	prepared(b)
	last, err := lastBinary()
	if err != nil {
		b.Fatal(err)
	}
	return []version{{"new", kubeletBinary()}, {"last", last}}
}

// newBenchHost makes a host on which a version of the program runs.
func newBenchHost(b *testing.B, v version) *host {
	b.Helper()
	h := newSourcesHost(b)
	h.binary = v.binary
	return h
}

// startAtOnce starts a kubelet, gives it pods of two containers at once and returns how
// long it takes until Docker has started the last container. The kubelet runs then.
func (h *host) startAtOnce(b *testing.B, pods int, flags ...string) (*process, time.Duration) {
	b.Helper()
	next := h.events(b)
	h.web.answers(&answer{}) // the kubelet waits for the answer
	p := h.startWith(append(h.from("http"), append(flags, "-http_check_frequency=1h")...)...)
	h.web.awaitRequests(1)
	began := time.Now()
	h.web.change(func() {
		h.web.instead = nil
		for i := range pods {
			id := fmt.Sprintf("p%d", i)
			h.web.pods[id] = strings.ReplaceAll(twoContainers(id), "HELLO", helloImage)
		}
	})
	var last time.Time
	for range 3 * pods {
		last, _ = next("start")
	}
	return p, last.Sub(began)
}

// events returns a function that waits for an action of Docker on a container of this
// host. It returns its time and the origin of the container.
func (h *host) events(b *testing.B) func(action string) (time.Time, string) {
	b.Helper()
	events := make(chan *docker.APIEvents, 4096)
	h.must(h.docker.AddEventListener(events))
	b.Cleanup(func() { h.docker.RemoveEventListener(events) })
	return func(action string) (time.Time, string) {
		for event := range events {
			if event.Action == action && event.Actor.Attributes["kubelet14.hostname"] == h.hostname {
				return time.Unix(0, event.TimeNano), event.Actor.Attributes["kubelet14.origin"]
			}
		}
		b.Fatal("Docker's events have ended")
		panic("unreachable")
	}
}

// cpuShare returns the part of a core that a process uses in a while.
func cpuShare(cpuSeconds func() float64) float64 {
	before, began := cpuSeconds(), time.Now()
	time.Sleep(15 * time.Second) // what is measured
	return (cpuSeconds() - before) / time.Since(began).Seconds()
}

// metric returns the sum of the samples of /metrics that hold a word.
func (p *process) metric(word string) float64 {
	p.t.Helper()
	page, err := p.metrics()
	p.h.must(err)
	return page.sum(word)
}

func (p *process) cpuSeconds() float64 { return p.metric("process_cpu_seconds_total ") }

// samples are measurements by what was measured.
type samples map[string][]time.Duration

func (s samples) add(name string, took time.Duration) { s[name] = append(s[name], took) }

func (s samples) best(name string) float64 { return slices.Min(s[name]).Seconds() }

func (s samples) median(name string) float64 {
	return slices.Sorted(slices.Values(s[name]))[len(s[name])/2].Seconds()
}

// reportMedians reports in milliseconds the median and the worst sample of each name, and
// the ratios of the medians to that of the name against.
func (s samples) reportMedians(b *testing.B, against string) {
	for name := range s {
		b.ReportMetric(1000*s.median(name), name+"-ms")
		b.ReportMetric(1000*slices.Max(s[name]).Seconds(), name+"-ms-worst")
		if name != against {
			b.ReportMetric(s.median(name)/s.median(against), name+"/"+against)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkEdit measures from the moment a changed manifest is in its place to the
// moment Docker creates the container for it. 50 ms of that are the time in which a
// file must not change.
func BenchmarkEdit(b *testing.B) {
	const rounds = 20
	took := samples{}
	var steps []func(round int)
	for _, v := range versions(b) {
		h := newBenchHost(b, v)
		next := h.events(b)
		h.write("b", goodB(0))
		h.start()
		next("start") // the network container
		next("start")
		steps = append(steps, func(round int) {
			h.write("b", goodB(round))
			changed := time.Now()
			created, _ := next("create")
			took.add(v.name, created.Sub(changed))
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
	took.reportMedians(b, "last")
}

// BenchmarkRunning measures kubelets whose 100 pods are up: an idle one, requests for
// /pods, polls of the web server that bring nothing new, and -runonce. The versions look
// after the same containers in turn.
func BenchmarkRunning(b *testing.B) {
	const pods, syncs = 100, 15
	all := versions(b)
	h := newBenchHost(b, all[0])
	p, _ := h.startAtOnce(b, pods)
	ids := make([]string, pods)
	for i := range ids {
		ids[i] = fmt.Sprintf("p%d.default.http", i)
	}
	for range b.N {
		took, polls := samples{}, samples{}
		for _, v := range all {
			p.kill()
			h.binary = v.binary
			p = h.startWith(append(h.from("http"), "-http_check_frequency=1h", "-sync_frequency=1s")...)
			p.awaitUp(ids...)

			page, err := p.metrics()
			h.must(err)
			before := page.dockerCalls()
			share := cpuShare(p.cpuSeconds) // for as many seconds as there are syncs
			page, err = p.metrics()
			h.must(err)
			b.ReportMetric((page.dockerCalls()-before)/syncs, v.name+"-calls/sync")
			b.ReportMetric(100*share, v.name+"-%-of-a-core")
			b.ReportMetric(p.metric("process_resident_memory_bytes ")/1e6, v.name+"-MB")

			for range 200 {
				began := time.Now()
				p.mustAsk("GET", "/pods")
				took.add(v.name, time.Since(began))
			}
			p.kill()
			p = h.startWith(append(h.from("http"), "-http_check_frequency=1ns", "-sync_frequency=1h")...)
			p.awaitUp(ids...)
			for name, etag := range map[string]bool{"304": true, "same-body": false} {
				h.web.change(func() { h.web.noETag = !etag })
				h.web.awaitRequests(100)
				cpu, requests, began := p.cpuSeconds(), h.web.count(), time.Now()
				h.web.awaitRequests(2100)
				n := float64(h.web.count() - requests)
				polls.add(v.name+"-"+name, time.Duration(float64(time.Since(began))/n))
				b.ReportMetric(1e6*(p.cpuSeconds()-cpu)/n, v.name+"-"+name+"-cpu-µs")
			}
			p.kill()
			for _, mode := range []string{"-runonce", "-dry_run"} {
				began := time.Now()
				h.mustRun(append(h.from("http"), mode)...)
				b.ReportMetric(time.Since(began).Seconds(), v.name+mode+"-s")
			}
		}
		took.reportMedians(b, "last")
		for name := range polls {
			b.ReportMetric(1e6*polls.median(name), name+"-µs")
		}
	}
}

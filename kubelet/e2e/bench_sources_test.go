package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/config"
	"kubelet14/config/etcdtest"
	"kubelet14/kubelet/dockertools"
	dockerclient "kubelet14/kubelet/dockertools/client"
)

// BenchmarkEtcdPut measures from the moment a put of a changed manifest has returned
// to the moment Docker creates the container for it. In turn with that it measures
// a bare program that watches another key and, whatever is put there, asks Docker
// for such a container.
func BenchmarkEtcdPut(b *testing.B) {
	const rounds = 20
	h := newSourcesHost(b)
	h.etcd = etcdtest.Start(b)
	client := h.etcd.Client()
	put := func(key string, round int) time.Time {
		text := strings.ReplaceAll(fmt.Sprintf(goodB, round), "HELLO", helloImage)
		if _, err := client.Put(b.Context(), key, text); err != nil {
			b.Fatal(err)
		}
		return time.Now()
	}
	events := make(chan *docker.APIEvents, 1024)
	if err := h.docker.AddEventListener(events); err != nil {
		b.Fatal(err)
	}
	defer h.docker.RemoveEventListener(events)
	next := func(action, key string) time.Time {
		for event := range events {
			if event.Action == action && event.Actor.Attributes[dockertools.LabelOrigin] == key {
				return time.Unix(0, event.TimeNano)
			}
		}
		b.Fatal("Docker's events have ended")
		return time.Time{}
	}
	put(h.key("b"), 0)
	h.startWith(h.from("etcd")...)
	next("start", h.key("b")) // the network container
	next("start", h.key("b"))
	stop := bareOnEtcd(b, h.etcd.Client(), "/bare", dockertools.ContainerSpec{
		Labels: map[string]string{dockertools.LabelOrigin: "/bare", dockertools.LabelHostname: h.hostname + "-bare"},
		Image:  helloImage, Command: []string{"/hello", "sleep"}, NetworkContainer: h.live("b.default.etcd", "net").id,
	})
	defer stop()

	var ours, bare []time.Duration
	for range b.N {
		for i := range rounds {
			changed := put(h.key("b"), i+1)
			ours = append(ours, next("create", h.key("b")).Sub(changed))
			next("start", h.key("b"))
			changed = put("/bare", i+1)
			bare = append(bare, next("create", "/bare").Sub(changed))
		}
	}
	slices.Sort(ours)
	slices.Sort(bare)
	b.ReportMetric(float64(ours[len(ours)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(ours[len(ours)-1].Microseconds())/1000, "ms-worst")
	b.ReportMetric(float64(bare[len(bare)/2].Microseconds())/1000, "bare-ms-median")
	b.ReportMetric(ours[len(ours)/2].Seconds()/bare[len(bare)/2].Seconds(), "kubelet/bare")
	b.ReportMetric(0, "ns/op")
}

// bareOnEtcd creates a container for each change of a key, until it is stopped.
func bareOnEtcd(b *testing.B, client *clientv3.Client, key string, spec dockertools.ContainerSpec) (stop func()) {
	b.Helper()
	docker, err := dockerclient.New("")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var ids []string
	var watch sync.WaitGroup
	changes := client.Watch(ctx, key)
	watch.Go(func() {
		for change := range changes {
			for range change.Events {
				spec.Name = fmt.Sprintf("%s-%d", spec.Labels[dockertools.LabelHostname], len(ids))
				id, err := docker.CreateContainer(b.Context(), spec)
				if err != nil {
					b.Error(err)
					return
				}
				ids = append(ids, id)
			}
		}
	})
	return func() {
		cancel()
		watch.Wait()
		removeAll(b, docker, ids)
	}
}

// BenchmarkHTTPPoll is the source of a URL that asks again and again for a body of
// 100 manifests that does not change, against a bare client that does the same. The
// allocations are those that the source makes beyond the client's.
func BenchmarkHTTPPoll(b *testing.B) {
	var manifests strings.Builder
	for i := range 100 {
		fmt.Fprintf(&manifests, "---\n%s", strings.ReplaceAll(sleeper(fmt.Sprint("pod-", i)), "HELLO", helloImage))
	}
	for _, answer := range []struct{ name, etag string }{{"304", `"1"`}, {"same body", ""}} {
		b.Run(answer.name, func(b *testing.B) {
			polls := &pollMeter{etag: answer.etag, body: manifests.String()}
			server := httptest.NewServer(polls)
			defer server.Close()
			for range b.N {
				ours, updates := polls.ofSource(b, server.URL)
				bare := polls.ofBareClient(b, server.URL)
				b.ReportMetric(float64(ours.time.Nanoseconds())/measuredPolls, "ns/poll")
				b.ReportMetric(ours.time.Seconds()/bare.time.Seconds(), "source/bare")
				b.ReportMetric((float64(ours.allocations)-float64(bare.allocations))/measuredPolls, "allocs/poll")
				b.ReportMetric(float64(updates-1), "updates") // beside the first
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

const (
	firstPolls    = 100 // are not measured
	measuredPolls = 5000
)

// pollMeter is a web server that measures what happens between two requests.
type pollMeter struct {
	etag, body string
	requests   int
	begun, end cost
	done       chan struct{} // closed at the last request
}

// cost is a moment, or what has passed since one.
type cost struct {
	at          time.Time
	time        time.Duration
	allocations uint64
}

func costNow() cost {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return cost{at: time.Now(), allocations: memory.Mallocs}
}

// ServeHTTP implements http.Handler, for one client that asks once at a time.
func (p *pollMeter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch p.requests++; p.requests {
	case firstPolls:
		p.begun = costNow()
	case firstPolls + measuredPolls:
		p.end = costNow()
		close(p.done)
	}
	if p.etag != "" {
		w.Header().Set("ETag", p.etag)
	}
	http.ServeContent(w, r, "pods.yaml", time.Time{}, strings.NewReader(p.body))
}

// measure returns what the polls cost that a client makes until it is stopped.
func (p *pollMeter) measure(b *testing.B, client func(ctx context.Context)) cost {
	b.Helper()
	p.requests, p.done = 0, make(chan struct{})
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { client(ctx) })
	<-p.done
	stop()
	running.Wait()
	return cost{time: p.end.at.Sub(p.begun.at), allocations: p.end.allocations - p.begun.allocations}
}

// ofSource also says how many updates the source has sent.
func (p *pollMeter) ofSource(b *testing.B, url string) (took cost, updates int) {
	b.Helper()
	source, err := config.NewSourceHTTP(url, time.Nanosecond, config.Parser{Hostname: "host", Scheme: v1beta1.NewScheme()})
	if err != nil {
		b.Fatal(err)
	}
	sent := make(chan api.PodUpdate)
	var received sync.WaitGroup
	received.Go(func() {
		for range sent {
			updates++
		}
	})
	took = p.measure(b, func(ctx context.Context) { source.Run(ctx, sent) })
	close(sent)
	received.Wait()
	if status := source.Status(); status.LastError != "" || status.Pods != 100 {
		b.Fatal(status)
	}
	return took, updates
}

func (p *pollMeter) ofBareClient(b *testing.B, url string) cost {
	b.Helper()
	return p.measure(b, func(ctx context.Context) {
		for ctx.Err() == nil {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				b.Error(err)
				return
			}
			if p.etag != "" {
				request.Header.Set("If-None-Match", p.etag)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return // it was stopped
			}
			io.ReadAll(response.Body)
			response.Body.Close()
		}
	})
}

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	infoserver "kubelet14/kubelet/server"
	"kubelet14/volume"
)

// BenchmarkPods asks /pods of a kubelet with 200 pods of three containers on a Docker
// in memory, where nothing changes, and compares with the time that encoding/json
// takes for the same value. No request may cost a call of Docker.
func BenchmarkPods(b *testing.B) {
	const pods, rounds = 200, 200
	docker := dockertools.NewFake()
	docker.AddImage(helloImage, func(dockertools.ContainerSpec) dockertools.Program { return dockertools.Program{} })
	m := newMeter(docker)
	kl, url := serveKubelet(b, m, pods)
	var statuses []api.PodStatus
	for settled := false; !settled; { // until all that has begun was seen
		var err error
		if statuses, err = kl.Statuses(b.Context()); err != nil {
			b.Fatal(err)
		}
		before := m.total()
		fetch(b, url+"pods")
		settled = m.total() == before && !slices.ContainsFunc(statuses, func(p api.PodStatus) bool { return p.Phase != api.PodRunning })
	}

	var took, jsonTook []time.Duration
	size, calls := 0, m.total()
	for range b.N {
		for range rounds {
			began := time.Now()
			size = fetch(b, url+"pods")
			took = append(took, time.Since(began))

			began = time.Now()
			if _, err := json.Marshal(statuses); err != nil {
				b.Fatal(err)
			}
			jsonTook = append(jsonTook, time.Since(began))
		}
	}
	if more := m.total() - calls; more > 0 {
		b.Errorf("%d requests made %d calls of Docker, and nothing had changed", len(took), more)
	}
	b.ReportMetric(float64(m.total()-calls)/float64(len(took)), "calls/request")
	b.ReportMetric(medianOf(took).Seconds()*1000, "ms-median")
	b.ReportMetric(medianOf(took).Seconds()/medianOf(jsonTook).Seconds(), "server/json")
	b.ReportMetric(float64(size)/1000, "kB")
	b.ReportMetric(0, "ns/op")
}

// serveKubelet runs a kubelet that looks by itself only once, and its info server, and
// returns when its pods were started.
func serveKubelet(b *testing.B, m *meter, pods int) (kl *kubelet.Kubelet, url string) {
	b.Helper()
	root, err := volume.OpenRootDir(filepath.Join(b.TempDir(), "root"))
	if err != nil {
		b.Fatal(err)
	}
	metrics := infoserver.NewMetrics()
	kl = kubelet.NewMainKubelet(kubelet.Options{
		Identity: dockertools.Identity{Hostname: "bench", RootDir: root.Path()},
		Docker:   m, Volumes: root, NetworkContainerImage: dockertools.PauseImage,
		SyncFrequency: time.Hour, MaxRestartBackoff: time.Minute, MaxDeadContainers: 2,
		Credentials:   func(context.Context, string) (dockertools.Auth, error) { return dockertools.Auth{}, nil },
		RegistryBurst: 10,
		SourceErrors:  func() map[string]string { return nil },
		SyncDone:      metrics.SyncDone, PullDone: metrics.PullDone,
	})
	window, err := infoserver.New(infoserver.Options{
		Kubelet: kl, Sources: func() []api.SourceStatus { return nil }, Scheme: v1beta1.NewScheme(),
		Address: "127.0.0.1", Version: "bench", Metrics: metrics,
	})
	if err != nil {
		b.Fatal(err)
	}
	update := api.PodUpdate{Op: api.SET}
	for i := range pods {
		update.Pods = append(update.Pods, benchPod(i))
	}
	updates := make(chan api.PodUpdate, 1)
	updates <- update
	ctx, cancel := context.WithCancel(b.Context())
	var run sync.WaitGroup
	for _, part := range []func() error{
		func() error { return kl.Run(ctx, updates) },
		func() error { return window.Serve(ctx) },
	} {
		run.Go(func() {
			if err := part(); err != nil {
				b.Error(err)
			}
		})
	}
	b.Cleanup(func() {
		cancel()
		run.Wait()
		root.Close()
	})
	m.waitFor(3 * pods)
	return kl, window.URL()
}

// fetch reads a page and says how large it is.
func fetch(b *testing.B, url string) int {
	b.Helper()
	resp, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s answers %s, %v", url, resp.Status, err)
	}
	return int(n)
}

func medianOf(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

// BenchmarkFollow follows the logs of 50 containers that print about 20 lines a second
// each, and says what part of a core the kubelet uses for 1,000 lines a second, besides
// what it uses when nobody follows them.
func BenchmarkFollow(b *testing.B) {
	const followers, linesASecond, period = 50, 20, 15 * time.Second
	h := newHost(b)
	for i := range followers {
		h.write(fmt.Sprintf("p%d.yaml", i), job(fmt.Sprintf("p%d", i), fmt.Sprintf(`/hello, flood, -lines, "1000000", -every, %v`, time.Second/linesASecond)))
	}
	w := h.startServing()
	h.eventually("all pods run", func() error {
		page, err := w.p.scrape()
		if err == nil {
			err = page.says(map[string]float64{"kubelet_pods{ running": followers})
		}
		return err
	})
	for range b.N {
		idle := w.p.cpuShare(b, period)
		lines, stop := w.follow(followers)
		before := lines.Load()
		busy := w.p.cpuShare(b, period)
		rate := float64(lines.Load()-before) / period.Seconds()
		stop()
		b.ReportMetric(100*(busy-idle)*1000/rate, "%-of-a-core")
		b.ReportMetric(100*idle, "%-idle")
		b.ReportMetric(rate, "lines/s")
	}
	b.ReportMetric(0, "ns/op")
}

// follow follows the log of each pod until stop, and counts the lines. It returns when
// all stand.
func (w *window) follow(pods int) (lines *atomic.Int64, stop func()) {
	lines = &atomic.Int64{}
	ctx, cancel := context.WithCancel(w.h.t.Context())
	var wg, standing sync.WaitGroup
	for i := range pods {
		standing.Add(1)
		wg.Go(func() {
			resp, err := w.request(ctx, http.MethodGet, fmt.Sprintf("/containerLogs/default/p%d/main?follow=1&tail=0", i))
			standing.Done()
			if err != nil {
				w.h.t.Error(err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				w.h.t.Errorf("the log of pod p%d: %s", i, resp.Status)
			}
			for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
				lines.Add(1)
			}
		})
	}
	standing.Wait()
	return lines, func() {
		cancel()
		wg.Wait()
	}
}

// cpuShare is the part of a core that the kubelet uses.
func (p *process) cpuShare(b *testing.B, period time.Duration) float64 {
	b.Helper()
	before, began := p.cpuSeconds(b), time.Now()
	time.Sleep(period)
	return (p.cpuSeconds(b) - before) / time.Since(began).Seconds()
}

func (p *process) cpuSeconds(b *testing.B) float64 {
	b.Helper()
	page, err := p.scrape()
	if err != nil {
		b.Fatal(err)
	}
	return page.sum("process_cpu_seconds_total ")
}

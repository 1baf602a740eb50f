package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	infoserver "kubelet14/kubelet/server"
	"kubelet14/volume"
)

// BenchmarkPods asks /pods of a kubelet with 200 pods of three containers on a Docker
// in memory, where nothing changes, and compares with the time that encoding/json
// takes for the same value. No request may cost a call of Docker.
func BenchmarkPods(b *testing.B) {
	const pods, rounds = 200, 200
	docker := dockertest.NewFake()
	docker.AddImage(helloImage, func(dockertools.ContainerSpec) dockertest.Program { return dockertest.Program{} })
	m := newMeter(docker)
	kl, url := serveKubelet(b, m, pods)
	var statuses []api.PodStatus
	for settled := false; !settled; { // until all that has begun was seen
		var err error
		if statuses, _, err = kl.Statuses(); err != nil {
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

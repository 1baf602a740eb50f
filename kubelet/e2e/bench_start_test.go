package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// BenchmarkStart starts pods of two containers at once with both versions of the kubelet, and then makes the same calls
// with a bare program that knows only their order, for four or eight pods at a time. The ratio is that of the best
// times.
func BenchmarkStart(b *testing.B) {
	for _, pods := range []int{1, 20, 100} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			took, all := samples{}, versions(b)
			for range b.N {
				for range max(3, 10/pods) {
					var calls [][]docker.CreateContainerOptions
					for _, v := range all {
						h := newBenchHost(b, v)
						p, t := h.startAtOnce(b, pods)
						took.add(v.name, t)
						if v.name == "new" {
							calls = h.calls()
						}
						p.Stop()
						h.MustRun("-cleanup") // the containers would slow down what follows
					}
					for _, atOnce := range slices.Compact([]int{min(4, pods), min(8, pods)}) {
						took.add("bare", startBare(b, calls, atOnce))
					}
				}
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

// calls returns the calls that create the containers of each pod of this host again, the network container first.
func (h *host) calls() [][]docker.CreateContainerOptions {
	h.T.Helper()
	byPod := map[string][]docker.CreateContainerOptions{}
	for _, c := range h.Containers() {
		d := h.MustInspect(c.ID)
		d.Config.Labels["kubelet14.hostname"] += "-bare"
		call := docker.CreateContainerOptions{Name: "bare-" + c.Name, Config: d.Config, HostConfig: d.HostConfig}
		if c.Of == "net" {
			network := d.HostConfig.NetworkMode
			endpoint := &docker.EndpointConfig{Aliases: d.NetworkSettings.Networks[network].Aliases}
			call.NetworkingConfig = &docker.NetworkingConfig{EndpointsConfig: map[string]*docker.EndpointConfig{network: endpoint}}
			byPod[c.Pod] = slices.Insert(byPod[c.Pod], 0, call)
		} else {
			d.Config.Hostname = "" // it is that of the network container
			byPod[c.Pod] = append(byPod[c.Pod], call)
		}
	}
	return slices.Collect(maps.Values(byPod))
}

// startBare makes the calls for some pods at a time, returns how long that took, and removes the containers.
func startBare(b *testing.B, pods [][]docker.CreateContainerOptions, atOnce int) time.Duration {
	b.Helper()
	client, err := hosttest.Connect("")
	unittest.Must(b, err)
	check := func(err error) {
		if err != nil {
			b.Error(err)
		}
	}
	var mu sync.Mutex
	var ids []string
	create := func(call docker.CreateContainerOptions, network string) string {
		if network != "" {
			host := *call.HostConfig
			host.NetworkMode = "container:" + network
			call.HostConfig = &host
		}
		c, err := client.CreateContainer(call)
		if err != nil {
			b.Error(err)
			return ""
		}
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, c.ID)
		return c.ID
	}
	for _, call := range slices.Concat(pods...) { // the kubelet's files have gone with its pods
		for _, mount := range call.HostConfig.Mounts {
			check(os.MkdirAll(filepath.Dir(mount.Source), 0o755))
			check(os.WriteFile(mount.Source, nil, 0o666))
		}
	}
	began := time.Now()
	each(pods, atOnce, func(calls []docker.CreateContainerOptions) {
		network := create(calls[0], "")
		apps := make([]string, len(calls)-1)
		var creations, starts sync.WaitGroup
		creations.Go(func() { check(client.StartContainer(network, nil)) })
		for i, call := range calls[1:] {
			creations.Go(func() { apps[i] = create(call, network) })
		}
		creations.Wait()
		for _, id := range apps {
			starts.Go(func() { check(client.StartContainer(id, nil)) })
		}
		starts.Wait()
	})
	took := time.Since(began)
	each(ids, 8, func(id string) {
		check(client.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true, RemoveVolumes: true}))
	})
	return took
}

// each calls do for every item, some at a time, and waits.
func each[T any](items []T, atOnce int, do func(T)) {
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, item := range items {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			do(item)
		})
	}
	all.Wait()
}

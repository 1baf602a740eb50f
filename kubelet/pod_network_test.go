package kubelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

func (w *world) cleanup() {
	w.t.Helper()
	kl, closeRoot := w.newKubelet()
	defer closeRoot()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
	defer cancel()
	w.must(kl.Cleanup(ctx))
}

func (w *world) checkNetworks(when string, want map[string]bool) {
	w.t.Helper()
	maps.Copy(want, map[string]bool{"bridge": false, "host": false, "none": false})
	if got := w.docker.Networks(); !maps.Equal(got, want) {
		w.t.Errorf("%s: networks %v, want %v", when, got, want)
	}
}

func TestThePodNetworkIsMadeOnceAndRemovedByCleanup(t *testing.T) {
	inWorld(t, func(w *world) {
		var pods []api.Pod
		for i := range 20 {
			pods = append(pods, pod(fmt.Sprint("p", i), "main"))
		}
		k := w.run(pods...)
		w.checkCalls("MakeNetwork", 1)
		w.checkNetworks("when the pods run", map[string]bool{"pods": true})
		k.end()
		other, err := w.docker.RunStranger(dockertools.ContainerSpec{Name: "other", Image: "hello:1", Network: "pods"})
		w.must(err)
		w.cleanup()
		w.checkNetworks("while another kubelet uses it", map[string]bool{"pods": true})
		w.must(w.docker.Kill(other, 137))
		w.cleanup()
		w.checkNetworks("when nothing uses it", map[string]bool{})
		w.must(w.docker.AddNetwork("pods"))
		w.run(pod("web", "main")).end()
		w.cleanup()
		w.checkNetworks("if a user has made it", map[string]bool{"pods": false})
	})
}

func TestAnotherPodNetwork(t *testing.T) {
	inWorld(t, func(w *world) {
		host := pod("host", "main")
		host.Manifest.HostNetwork = true
		w.run(host, pod("web", "main")).end()
		before := w.id("host", "main")
		w.options = func(o *Options) { o.PodNetwork = "others" }
		w.run(host, pod("web", "main"))
		w.check("with another -pod_network", "host/main", "host/net", "web/main", "web/net")
		w.checkID("host", "main", before, true)
		for parts, c := range w.containers() {
			if parts.Name == "net" && parts.PodFullName == "web.default.file" && c.ListState.Live() && c.Spec.Network != "others" {
				t.Errorf("the network container is in %q", c.Spec.Network)
			}
		}
	})
}

func TestThePodNetworkIsMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(pod("web", "main"))
		removals := 2
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "StartContainer" && strings.HasPrefix(c.Container, "k8s_net") && removals > 0 {
				removals--
				w.must(w.docker.ByHand().RemoveNetwork(t.Context(), "pods"))
			}
			return dockertest.Fault{}
		})
		w.kill("web", "net", 137)
		w.settle("removed just before two starts", "web/main", "web/net")
		w.checkCalls("MakeNetwork", 3)
	})
}

func TestAPodNetworkThatCannotBeMade(t *testing.T) {
	inWorld(t, func(w *world) {
		refusal := errors.New("could not find an available, non-overlapping IPv4 address pool")
		w.docker.SetFault(on("MakeNetwork", dockertest.Fault{Before: refusal}))
		k := w.run(pod("web", "main"))
		s := k.statuses(w)[0].Containers[1].State.Waiting
		if s.Reason != api.ReasonCannotStart || !strings.Contains(s.Message, refusal.Error()) || !strings.Contains(s.Message, "-pod_network=bridge") {
			t.Errorf("the status of the network container: %+v", s)
		}
		k.end()
		made := w.docker.Calls()["MakeNetwork"]
		w.options = func(o *Options) { o.PodNetwork = dockertools.BridgeNetwork }
		w.run(pod("web", "main"), pod("new", "main"))
		w.checkCalls("MakeNetwork", made)
		w.check("with Docker's default network", "new/main", "new/net", "web/main", "web/net")
	})
}

// netOf returns the live network container of a pod.
func (w *world) netOf(podName string) (net dockertest.FakeContainer) {
	w.t.Helper()
	id := w.id(podName, "net")
	for _, c := range w.containers() {
		if c.ID == id {
			net = c
		}
	}
	return net
}

func TestEachKubeletHasANetworkOfItsOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.PodNetwork = "" }
		w.run(pod("web", "main")).end()
		if net := w.netOf("web").Spec; net.Network != "kubelet14-host" || !slices.Equal(net.Aliases, []string{"web.default"}) || net.DNS.Searches[0] != "default" {
			t.Errorf("the network container is in %q as %q with %+v", net.Network, net.Aliases, net.DNS)
		}
		w.options = func(o *Options) { o.PodNetwork = dockertools.BridgeNetwork }
		w.run(pod("web", "main")).end()
		if net := w.netOf("web").Spec; net.DNS != nil {
			t.Errorf("in Docker's default network it has %+v", net.DNS)
		}
		w.options = func(o *Options) { o.PodNetwork = "" }
		bridged := w.id("web", "net")
		w.run(pod("web", "main")).end()
		w.checkID("web", "net", bridged, true)
		w.cleanup()
		w.run(pod("web", "main")).end()
		w.cleanup()
		w.checkNetworks("after -cleanup", map[string]bool{})
	})
}

// Without -pod_network, pods stay in the network in which they are, and new ones join it.
func TestPodsStayInTheirNetwork(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.PodNetwork = "kubelet14" }
		w.run(pod("web", "main"), pod("db", "main")).end()
		w.must(w.docker.Kill(w.id("db", "net"), 137))
		before := w.id("web", "net")
		w.options = func(o *Options) { o.PodNetwork = "" }
		if plan := w.dryRun(pod("web", "main"), pod("db", "main")); !strings.Contains(plan, "pod web.default.file (web.yaml)\n  is as it should be") {
			t.Errorf("-dry_run prints\n%s", plan)
		}
		w.run(pod("web", "main"), pod("db", "main")).end()
		w.checkID("web", "net", before, true)
		if net := w.netOf("db").Spec; net.Network != "kubelet14" || net.DNS.Searches[0] != "default" {
			t.Errorf("the new network container is in %q as %q", net.Network, net.Aliases)
		}
		w.cleanup()
		w.checkNetworks("after -cleanup", map[string]bool{})
	})
}

func TestTwoPodsWithOneNameAreLogged(t *testing.T) {
	inWorld(t, func(w *world) {
		fromURL := pod("web", "main")
		fromURL.Source, fromURL.UID = "http", "other"
		other := pod("web", "main")
		other.Namespace, other.UID = "team", "third"
		k := w.run(pod("web", "main"), other)
		isLogged := func(want bool) {
			t.Helper()
			if text := k.kl.errors.Last("find pods by name"); (text != "") != want {
				t.Errorf("logged: %v", text)
			}
		}
		isLogged(false)
		k.set(pod("web", "main"), fromURL)
		settle()
		isLogged(true)
		k.set(fromURL)
		settle()
		isLogged(false)
	})
}

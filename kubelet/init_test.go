package kubelet

import (
	"errors"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
)

// withInit gives a pod init containers; each may have a tag after a colon.
func withInit(p api.Pod, containers ...string) api.Pod {
	p.Manifest.InitContainers = pod("", containers...).Manifest.Containers
	return p
}

// inTurn makes the init containers "one" and "two" take a second each, and checks that "two" begins after the end of
// "one", and "app" and "app2" after both. With fails, every third run fails.
func (w *world) inTurn(fails bool) {
	var mu sync.Mutex
	good, runs := map[string]time.Time{}, 0 // the ends of the last runs that succeed
	w.program = func(name string) dockertest.Program {
		mu.Lock()
		defer mu.Unlock()
		before := map[string]string{"two": "one", "app": "two", "app2": "two"}[name]
		if end := good[before]; before != "" && (end.IsZero() || end.After(time.Now())) {
			w.t.Errorf("%q begins before %q has succeeded", name, before)
		}
		if name != "one" && name != "two" {
			return dockertest.Program{}
		}
		end := dockertest.Program{Exits: true, After: time.Second}
		if runs++; fails && runs%3 == 0 {
			end.ExitCode = 1
		}
		delete(good, "two")
		delete(good, name)
		if end.ExitCode == 0 {
			good[name] = time.Now().Add(time.Second)
		}
		return end
	}
}

func TestInitContainers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.inTurn(true)
		web := func(one, app string) api.Pod { return withInit(pod("web", "app:"+app, "app2"), "one:"+one, "two") }
		app := "web/app:1"
		check := func(when string, one, two int) {
			t.Helper()
			w.settle(when, "web/app2", app, "web/net")
			if gotOne, gotTwo := w.newest("one"), w.newest("two"); gotOne != one || gotTwo != two {
				t.Errorf("%s: %d and %d attempts of the init containers, want %d and %d", when, gotOne, gotTwo, one, two)
			}
		}
		k := w.start(web("1", "1"))
		w.after(500*time.Millisecond, "at first", "web/net", "web/one:1")
		s := k.statuses(w)[0]
		two, waiting := s.Containers[1].State.Waiting, s.Containers[2].State.Waiting
		if s.Phase != api.PodPending || two == nil || waiting == nil || waiting.Reason != api.ReasonInitContainer {
			t.Errorf("at first the phase is %s, the second waits for %+v, and the app for %+v", s.Phase, two, waiting)
		}
		check("start", 1, 1)
		w.kill("web", "app", 1)
		check("a crash of the app", 1, 1)
		app = "web/app:2"
		k.set(web("1", "2"))
		check("an edit of the app", 1, 1)
		w.kill("web", "net", 0)
		check("a crash of the network container, and one of an init container", 3, 2)
		k.set(web("2", "2"))
		check("an edit of an init container, and a crash of it", 5, 3)

		for _, c := range w.docker.Containers() {
			if c.ListState.Ended() {
				w.must(w.docker.ByHand().RemoveContainer(t.Context(), c.ID))
			}
		}
		w.kill("web", "app2", 1)
		check("without the init containers", 0, 0)
		s = k.statuses(w)[0]
		if end := s.Containers[0].State.Terminated; end == nil || end.Reason != api.ReasonCompleted || s.Phase != api.PodRunning || !s.Ready {
			t.Errorf("without the init containers: %+v", s)
		}
	})
}

// A running container is not stopped for one that cannot be created.
func TestAnEditThatCannotBeCreatedStopsNothing(t *testing.T) {
	apps := pod("web", "app", "app2")
	for bad, web := range map[string]api.Pod{"net": apps, "one": withInit(apps, "one", "two"), "app": withInit(apps, "one", "two")} {
		inWorld(t, func(w *world) {
			w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "one" || name == "two"} }
			k := w.run(web)
			net, app, app2 := w.id("web", "net"), w.id("web", "app"), w.id("web", "app2")
			web.Manifest = web.Manifest.Clone()
			for _, c := range web.Manifest.All() {
				c.Env = nil
			}
			w.docker.SetFault(on("CreateContainer", dockertest.Fault{Before: errors.New("not now")}, "k8s_"+bad+"."))
			k.set(publish(web, 80))
			w.settle("edited", "web/app", "web/app2", "web/net")
			w.checkID("web", "app", app, true)
			w.checkID("web", "app2", app2, true)
			w.checkID("web", "net", net, true)
			w.docker.SetFault(nil)
			settle()
			w.checkID("web", "net", net, false)
		})
	}
}

// checkStart checks, before an app starts, that no init container runs and that they have succeeded, and before an init
// container starts, that no app runs.
func (c *random) checkStart(want *plan.Pod, name string) {
	parts, _ := dockertools.ParseContainerName(name)
	if want == nil || parts.Name == api.NetworkContainerName || len(want.Init) == 0 {
		return
	}
	started, succeeded := false, map[string]bool{}
	for of, other := range c.containers() {
		if of.Name == "side" { // a sidecar runs beside all
			continue
		}
		isInit, ran := want.IsInit(of.Name), !other.Details.StartedAt.IsZero()
		if of.Name != api.NetworkContainerName && other.ListState == dockertools.StateRunning && isInit != want.IsInit(parts.Name) && parts.Name != "side" {
			c.t.Errorf("%s starts while %s runs\n%s", name, other.Name, c.describe())
		}
		started = started || ran && !isInit
		if isInit && other.ListState.Ended() && other.Details.ExitCode == 0 {
			succeeded[of.Name] = true
		}
	}
	for _, before := range want.Init[:want.Container(parts.Name).Turn] {
		if want.IsInit(before.Name) && !succeeded[before.Name] && !started && !want.IsInit(parts.Name) {
			c.t.Errorf("%s starts, and of its init containers only %v have succeeded\n%s", name, succeeded, c.describe())
		}
	}
}

// The IP is that of the network container that the container joins, even after a replacement.
func TestAContainerIsCreatedWithTheIPOfItsPod(t *testing.T) {
	inWorld(t, func(w *world) {
		p := withInit(pod("web", "main"), "one")
		p.Manifest.InitContainers[0].Env = []api.EnvVar{{Name: "IP", FieldPath: api.FieldPodIP}}
		p.Manifest.Containers[0].Env = p.Manifest.InitContainers[0].Env
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "one"} }
		w.run(p)
		for range 2 {
			ip := ""
			for parts, c := range w.containers() {
				if parts.Name == "net" && c.ListState.Live() {
					ip = "IP=" + c.Details.IP
				}
			}
			for parts, c := range w.containers() {
				if parts.Name != "net" && parts.Attempt == w.newest(parts.Name) && (len(c.Spec.Env) != 1 || c.Spec.Env[0] != ip || ip == "IP=") {
					t.Errorf("container %q has %q, want %s", parts.Name, c.Spec.Env, ip)
				}
			}
			w.kill("web", "net", 0)
			settle()
		}
	})
}

package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestHealth(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.Down()
		kl, closeRoot := w.newKubelet()
		(&kubelet{kl: kl}).healthIs(t, "before Run", "not looked at Docker yet")
		closeRoot()
		k := w.run(pod("web", "main"))
		k.healthIs(t, "without Docker", "cannot reach Docker")
		if _, _, err := k.kl.Statuses(); err == nil || !strings.Contains(err.Error(), "cannot reach Docker") {
			t.Errorf("without Docker the statuses are %v", err)
		}
		w.docker.Up()
		settle()
		k.healthIs(t, "Docker has come", "")
		w.docker.Down()
		time.Sleep(time.Millisecond) // the end of the events is enough
		k.healthIs(t, "Docker has gone", "Docker")
		w.docker.Up()
		settle()
		k.healthIs(t, "Docker is back", "")
		w.docker.SetFault(on("ListContainers", dockertest.Fault{Delay: time.Hour}))
		time.Sleep(9 * time.Second)
		k.healthIs(t, "the loop hangs for at most 9 s", "")
		time.Sleep(25 * time.Second)
		k.healthIs(t, "the loop hangs for more than two periods", "the sync loop has been busy for")
		if _, newer, err := k.kl.Statuses(); newer == nil || err == nil || !strings.Contains(err.Error(), "no answer from Docker for") {
			t.Errorf("the statuses while Docker hangs: %v", err)
		}
		w.docker.SetFault(nil)
		time.Sleep(2 * time.Hour)
		k.healthIs(t, "the loop runs again", "")
		k.statuses(w)
	})
}

func TestPods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		k := w.start(pod("web", "main"), pod("db", "main"))
		check := func(want ...string) {
			t.Helper()
			var got []string
			for _, p := range k.kl.Pods() {
				got = append(got, p.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("the pods are %v, want %v", got, want)
			}
		}
		check() // before the first sync
		settle()
		check("db", "web")
		k.set(pod("web", "main"))
		time.Sleep(time.Second) // the containers of db are being stopped
		if n := len(k.statuses(w)); n != 2 {
			t.Errorf("%d pods have a status, want 2", n)
		}
		check("web")
	})
}

// TestStatusesFollowDocker: a snapshot shows an event at once, and no status costs a call.
func TestStatusesFollowDocker(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("a", "main"))
		w.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: time.Hour}))
		_, newer, _ := k.kl.Statuses()
		w.kill("a", "main", 3)
		<-newer
		before := w.docker.Calls()["ListContainers"]
		for k.main(w).State.Running != nil {
			_, newer, _ := k.kl.Statuses()
			<-newer
		}
		if lists := w.docker.Calls()["ListContainers"] - before; lists > 3 {
			t.Errorf("it took %d lists until the status showed the event", lists)
		}
	})
}

func TestLoad(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.RegistryQPS, o.RegistryBurst = 0.001, 1 }
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "PullImage" || strings.Contains(c.Container, "k8s_slow") && c.Method == "CreateContainer" {
				return dockertest.Fault{Delay: 10 * time.Minute}
			}
			return dockertest.Fault{}
		})
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "crashes"} }
		pods := []api.Pod{pod("slow", "slow"), pod("crashes", "crashes")}
		for i := range 3 {
			image := fmt.Sprint("remote:", i)
			w.docker.AddRemoteImage(image, dockertest.RemoteImage{})
			pods = append(pods, ofImage(pod(fmt.Sprint("pulls-", i), "main"), image, ""))
		}
		k := w.start(pods...)
		if load := k.kl.Load(); load != (api.Load{}) {
			t.Errorf("before the first sync: %+v", load)
		}
		settle()
		// One pod is being created, one backs off, three wait for pulls.
		if load := k.kl.Load(); load != (api.Load{Workers: 1, Waiting: 4, Pulls: 3, Queued: 2}) {
			t.Errorf("while it pulls and creates: %+v", load)
		}
		w.docker.SetFault(nil)
		time.Sleep(time.Hour)
		settle()
		if load := k.kl.Load(); load != (api.Load{Waiting: 1}) {
			t.Errorf("when all is done: %+v", load)
		}
	})
}

// observations collects the calls of SyncDone or PullDone.
type observations struct {
	mu   sync.Mutex
	took map[bool][]time.Duration // by ok
}

func (o *observations) done(took time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.took[ok] = append(o.took[ok], took)
}

// TestSyncDoneAndPullDone: durations and outcomes are observed. To wait is no failure, and
// what the end of the kubelet interrupts is not observed.
func TestSyncDoneAndPullDone(t *testing.T) {
	slow := dockertest.RemoteImage{Takes: 40 * time.Second}
	full := dockertest.Fault{Before: errors.New("the disk is full")}
	for name, test := range map[string]struct {
		pods                     []api.Pod
		fault                    func(dockertest.Call) dockertest.Fault
		syncs, pulls             map[bool]bool // outcomes that are observed
		longestSync, longestPull time.Duration
	}{
		"a pod comes up": {pods: []api.Pod{pod("web", "main")}, fault: on("StartContainer", dockertest.Fault{Delay: 3 * time.Second}),
			syncs: map[bool]bool{true: true}, longestSync: 6 * time.Second},
		"a pod cannot be created": {pods: []api.Pod{pod("web", "main")}, fault: on("CreateContainer", full), syncs: map[bool]bool{false: true}},
		"pods wait for an image and a port": {
			pods:  []api.Pod{ofImage(pod("p", "main"), "slow:1", ""), publish(pod("a", "main"), 80), publish(pod("b", "main"), 80)},
			syncs: map[bool]bool{true: true}, pulls: map[bool]bool{true: true}, longestPull: 40 * time.Second,
		},
		"an image is missing": {pods: []api.Pod{ofImage(pod("p", "main"), "missing:1", "")},
			syncs: map[bool]bool{true: true}, pulls: map[bool]bool{false: true}},
		"it ends in the middle": {pods: []api.Pod{pod("web", "main"), ofImage(pod("p", "main"), "slow:1", "")},
			fault: func(c dockertest.Call) dockertest.Fault {
				return dockertest.Fault{Delay: map[string]time.Duration{"StartContainer": time.Hour, "PullImage": time.Hour}[c.Method]}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.docker.AddRemoteImage("slow:1", slow)
				w.docker.SetFault(test.fault)
				syncs, pulls := observations{took: map[bool][]time.Duration{}}, observations{took: map[bool][]time.Duration{}}
				w.options = func(o *Options) { o.SyncDone, o.PullDone = syncs.done, pulls.done }
				k := w.run(test.pods...)
				k.end()
				for _, ok := range []bool{true, false} {
					if got := len(syncs.took[ok]) > 0; got != test.syncs[ok] {
						t.Errorf("syncs, ok %v: %v", ok, syncs.took[ok])
					}
					if got := len(pulls.took[ok]) > 0; got != test.pulls[ok] {
						t.Errorf("pulls, ok %v: %v", ok, pulls.took[ok])
					}
				}
				if longest := slices.Max(append(syncs.took[true], 0)); test.longestSync > 0 && longest != test.longestSync {
					t.Errorf("the longest sync took %v, want %v", longest, test.longestSync)
				}
				if longest := slices.Max(append(pulls.took[true], 0)); longest != test.longestPull {
					t.Errorf("the longest pull took %v, want %v", longest, test.longestPull)
				}
			})
		})
	}
}

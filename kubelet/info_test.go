package kubelet

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestHealth(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.SetFault(on("Info", dockertest.Fault{Delay: time.Hour}))
		if logged := w.logged("0", w.run().end); strings.Contains(logged, "connect to Docker") {
			t.Errorf("a stop during a request to Docker logs %s", logged)
		}
		w.docker.SetFault(nil)
		w.docker.Down()
		kl, closeRoot := w.newKubelet()
		(&kubelet{kl: kl}).healthIs(t, "before Run", "not looked at Docker yet")
		if pods, load := kl.Pods(), kl.Load(); len(pods) > 0 || load != (api.Load{}) {
			t.Errorf("before Run there are the pods %v, and there is to do: %+v", pods, load)
		}
		if err := kl.ContainerLogs(t.Context(), "web.default.file", "main", allOfLog, io.Discard); err == nil || errors.Is(err, api.ErrNotFound) {
			t.Errorf("before Run the log is %v, want that it is not known", err)
		}
		closeRoot()
		w.docker.Up()
		w.docker.SetFault(on("WatchEvents", dockertest.Fault{Delay: time.Hour}))
		k := w.run(pod("web", "main"))
		k.healthIs(t, "no event stream begins", "no events from Docker yet")
		k.end()
		w.docker.SetFault(nil)
		w.docker.Down()
		k = w.run(pod("web", "main"))
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
		k.healthIs(t, "the loop hangs for more than 20 s", "the sync loop has waited for Docker since")
		if pods, newer, err := k.kl.Statuses(); len(pods) != 1 || newer == nil || err == nil || !strings.Contains(err.Error(), "the sync loop has waited for Docker since") {
			t.Errorf("the statuses while Docker hangs: %v", err)
		}
		w.docker.SetFault(nil)
		time.Sleep(2 * time.Hour)
		k.healthIs(t, "the loop runs again", "")
		k.statuses(w)
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

// load returns how much the kubelet has to do, without the time of its last list.
func (k *kubelet) load() api.Load {
	load := k.kl.Load()
	load.Listed = time.Time{}
	return load
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
		settle()
		// One pod is being created, one backs off, three wait for pulls.
		if load := k.load(); load != (api.Load{Workers: 1, Waiting: 4, Pulls: 3, Queued: 2}) {
			t.Errorf("while it pulls and creates: %+v", load)
		}
		w.docker.SetFault(nil)
		time.Sleep(time.Hour)
		settle()
		if load := k.load(); load != (api.Load{Waiting: 1}) {
			t.Errorf("when all is done: %+v", load)
		}
	})
}

// TestSyncDoneAndPullDone: durations and outcomes are observed. A wait is not a failure, and what the end of the
// kubelet interrupts is not observed.
func TestSyncDoneAndPullDone(t *testing.T) {
	web := pod("web", "main")
	slow := ofImage(pod("slow", "main"), "slow:1", "")
	for name, test := range map[string]struct {
		pods  []api.Pod
		fault func(dockertest.Call) dockertest.Fault
		want  map[string]time.Duration // the longest of each kind and outcome
	}{
		"a pod comes up": {[]api.Pod{web}, on("StartContainer", dockertest.Fault{Delay: 3 * time.Second}),
			map[string]time.Duration{"sync true": 6 * time.Second}},
		"a pod cannot be created": {[]api.Pod{web}, on("CreateContainer", dockertest.Fault{Before: errors.New("the disk is full")}),
			map[string]time.Duration{"sync false": 0}},
		"pods wait for an image and a port": {[]api.Pod{slow, publish(pod("a", "main"), 80), publish(pod("b", "main"), 80)}, nil,
			map[string]time.Duration{"sync true": 0, "pull true": 40 * time.Second}},
		"an image is missing": {[]api.Pod{ofImage(pod("p", "main"), "missing:1", "")}, nil,
			map[string]time.Duration{"sync true": 0, "pull false": 0}},
		"it ends in the middle of a start": {[]api.Pod{web}, on("StartContainer", dockertest.Fault{Delay: time.Hour}),
			map[string]time.Duration{}},
		"it ends in the middle of a pull": {[]api.Pod{slow}, on("PullImage", dockertest.Fault{Delay: time.Hour}),
			map[string]time.Duration{"sync true": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.docker.AddRemoteImage("slow:1", dockertest.RemoteImage{Takes: 40 * time.Second})
				w.docker.SetFault(test.fault)
				var mu sync.Mutex
				got := map[string]time.Duration{}
				observe := func(kind string) func(time.Duration, bool) {
					return func(took time.Duration, ok bool) {
						mu.Lock()
						defer mu.Unlock()
						key := fmt.Sprintf("%s %v", kind, ok)
						got[key] = max(got[key], took)
					}
				}
				w.options = func(o *Options) { o.SyncDone, o.PullDone = observe("sync"), observe("pull") }
				k := w.run(test.pods...)
				begun := time.Now()
				if k.end(); time.Since(begun) > 0 || !maps.Equal(got, test.want) {
					t.Errorf("observed %v, want %v; and it ended after %v", got, test.want, time.Since(begun))
				}
			})
		})
	}
}

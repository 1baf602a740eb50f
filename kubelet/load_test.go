package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestPodsAreThoseThatAreWanted(t *testing.T) {
	inWorld(t, func(w *world) {
		kl, closeRoot := w.newKubelet()
		if pods := kl.Pods(); len(pods) > 0 {
			w.t.Errorf("before the first sync there are %v", pods)
		}
		closeRoot()

		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		k := w.start(pod("web", "main"), pod("db", "main"))
		check := func(want ...string) {
			w.t.Helper()
			var got []string
			for _, p := range k.kl.Pods() {
				got = append(got, p.FullName())
			}
			if !slices.Equal(got, want) {
				w.t.Errorf("the pods are %v, want %v", got, want)
			}
		}
		settle()
		check("db.default.file", "web.default.file")
		k.set(pod("web", "main"))
		time.Sleep(time.Second) // its containers are being stopped
		if statuses, _, err := k.kl.Statuses(); len(statuses) != 2 || err != nil {
			w.t.Errorf("%d pods have a status, %v; want 2", len(statuses), err)
		}
		check("web.default.file")
		settle()
		check("web.default.file")
	})
}

func TestLoadCountsWhatThereIsToDo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.RegistryQPS, o.RegistryBurst = 0.001, 1 }
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "PullImage" || strings.Contains(c.Container, "k8s_slow") && c.Method == "CreateContainer" {
				return dockertest.Fault{Delay: 10 * time.Minute}
			}
			return dockertest.Fault{}
		})
		kl, closeRoot := w.newKubelet()
		if load := kl.Load(); load != (api.Load{}) {
			w.t.Errorf("before it runs: %+v", load)
		}
		closeRoot()

		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "crashes"} }
		pods := []api.Pod{pod("slow", "slow"), pod("crashes", "crashes")}
		for i := range 3 {
			p := pod(fmt.Sprint("pulls-", i), "main")
			p.Manifest.Containers[0].Image = fmt.Sprint("remote:", i)
			w.docker.AddRemoteImage(p.Manifest.Containers[0].Image, dockertest.RemoteImage{})
			pods = append(pods, p)
		}
		k := w.start(pods...)
		settle()
		// One pull has begun. The slow pod is at work, and a sync has come meanwhile; the
		// one that crashes waits for its time.
		load := k.kl.Load()
		if load.Pulls != 3 || load.Queued != 2 || load.Workers != 1 || load.Waiting != 4 {
			w.t.Errorf("while it pulls and creates: %+v", load)
		}
		w.docker.SetFault(nil)
		time.Sleep(time.Hour)
		settle()
		if load := k.kl.Load(); load != (api.Load{Waiting: 1}) {
			w.t.Errorf("when all is done: %+v", load)
		}
	})
}

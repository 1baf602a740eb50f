package kubelet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
)

func TestIdleSyncIsOneListAndNoInspect(t *testing.T) {
	inWorld(t, func(w *world) {
		var pods []api.Pod
		for i := range 20 {
			pods = append(pods, publish(pod(fmt.Sprintf("p%d", i), "main", "side"), 8000+i))
		}
		k := w.run(pods...)
		before := w.docker.Calls()
		wait(10 * time.Minute)
		k.statuses(w) // which costs no call
		after := w.docker.Calls()
		if lists := after["ListContainers"] - before["ListContainers"]; lists != 60 {
			t.Errorf("%d lists in 60 syncs of 20 pods, want one each", lists)
		}
		for method, n := range after {
			if n != before[method] && method != "ListContainers" {
				t.Errorf("%d calls of %s although nothing changed", n-before[method], method)
			}
		}
	})
}

func TestWithoutEventsTheTickRepairs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.SetFault(on("WatchEvents", dockertest.Fault{Before: errors.New("no events today")}))
		w.run(pod("web", "main"))
		w.kill("web", "main", 137)
		w.settle("a minute later", "web/main", "web/net")
		before := w.id("web", "main")
		w.must(w.docker.Restart(w.id("web", "net")))
		w.settle("after docker restart of its network container", "web/main", "web/net")
		w.checkID("web", "main", before, false)
	})
}

// TestNothingIsRemovedForASourceThatIsNotReady: containers and volumes stay, even at a tick, and even volumes of a pod
// without containers. Another source does not wait.
func TestNothingIsRemovedForASourceThatIsNotReady(t *testing.T) {
	inWorld(t, func(w *world) {
		ready := pod("ready", "main")
		ready.Source = "http"
		k := w.run(pod("web", "main"), pod("old", "main"), pod("lost", "main"), ready)
		before := w.id("web", "main")
		k.end()
		w.byHand(dockertools.Interface.RemoveContainer, "_uid-lost_")
		k = w.startWith(api.PodUpdate{Op: api.SET, Unsynced: map[string]error{"file": nil}})
		w.settle("the other source is ready", "old/main", "old/net", "web/main", "web/net")
		w.checkVolumes(pod("web"), pod("old"), pod("lost"), ready) // a volume does not name its source
		w.kill("old", "main", 1)
		w.settle("a container has ended", "old/net", "web/main", "web/net")
		k.set(pod("web", "main"))
		w.settle("once the source is ready", "web/main", "web/net")
		w.checkID("web", "main", before, true)
		w.checkVolumes(pod("web"))
	})
}

func TestDockerMayComeAndGo(t *testing.T) {
	for _, graceful := range []bool{true, false} {
		inWorld(t, func(w *world) {
			w.program = func(name string) dockertest.Program { return dockertest.Program{IgnoreTerm: name == "side"} }
			w.docker.Down()
			job := never(pod("job", "main"))
			w.run(pod("web", "main", "side"), job)
			w.docker.Up()
			w.settle("Docker came after the kubelet", "job/main", "job/net", "web/main", "web/net", "web/side")
			settle() // as long as the longest back-off, see endedTogether
			w.docker.RestartDaemon(graceful)
			w.settle(fmt.Sprintf("Docker restarted, graceful %v", graceful), "web/main", "web/net", "web/side")
			if n := strings.Count(w.describe(), "k8s_main"); n != 3 {
				t.Errorf("%d containers main, want two of web and the one of job, which never runs twice\n%s", n, w.describe())
			}
			for _, c := range w.docker.Containers() {
				if crashes := c.Labels[dockertools.LabelQuickEnds]; crashes != "" {
					t.Errorf("container %s: Docker's restart, graceful %v, counts as crash %s", c.Name, graceful, crashes)
				}
			}
		})
	}
}

func TestBackOffSurvivesTheKubelet(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "main", ExitCode: 1} }
		w.options = func(o *Options) { o.MaxDeadContainers = 0 }
		k := w.start(pod("web", "main"))
		wait(time.Hour)
		starts, ends, waits := map[int]time.Time{}, map[int]time.Time{}, []string{}
		for parts, c := range w.containers() {
			if parts.Name == "main" {
				starts[parts.Attempt], ends[parts.Attempt] = c.Details.StartedAt, c.Details.FinishedAt
			}
		}
		for attempt := 2; attempt <= 10; attempt++ {
			waits = append(waits, starts[attempt].Sub(ends[attempt-1]).String())
		}
		if got := strings.Join(waits, " "); got != "0s 1s 2s 4s 8s 16s 32s 1m0s 1m0s" {
			t.Errorf("waits between attempts: %s", got)
		}
		n := len(w.docker.Containers())
		k.end()
		w.start(pod("web", "main"))
		wait(10 * time.Minute)
		if grown := len(w.docker.Containers()) - n; grown > 10 {
			t.Errorf("%d attempts in the 10 minutes after a restart of the kubelet: the back-off began anew", grown)
		}
	})
}

func TestAContainerNameOfAnotherProgramCostsOneAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		want := plan.NewPod(pod("web", "main"), dockertools.PauseImage, time.Now())
		for _, c := range []plan.Container{want.Network, want.Apps[0]} {
			name := dockertools.NameParts{Name: c.Name, Hash: c.Hash, PodFullName: want.FullName(), UID: want.UID, Attempt: 1}
			_, err := w.docker.RunStranger(dockertools.ContainerSpec{Name: name.String(), Image: "hello:1"})
			w.must(err)
		}
		w.run(pod("web", "main"))
		if n := strings.Count(w.describe(), " running "); n != 4 || w.newest("net") != 2 || w.newest("main") != 2 {
			t.Errorf("%d run, want those of the other program and the next attempts\n%s", n, w.describe())
		}
	})
}

// An edit that comes during the work on the one before supersedes it. In 2014 it was lost.
func TestTheLatestDesiredStateWins(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		first := plan.NewPod(pod("web", "main:1"), dockertools.PauseImage, time.Now()).Apps[0].Hash
		w.docker.SetFault(when("CreateContainer", func(c dockertest.Call) dockertest.Fault {
			if strings.Contains(c.Container, first) {
				t.Error("the first form is created")
			}
			return dockertest.Fault{Delay: time.Second}
		}))
		w.options = func(o *Options) { o.SyncFrequency = 24 * time.Hour }
		k := w.start(pod("web", "main:1"))
		for i := 2; i < 10; i++ {
			time.Sleep(300 * time.Millisecond)
			k.set(pod("web", fmt.Sprintf("main:%d", i)))
		}
		w.settle("after eight edits in a hurry", "web/main:9", "web/net")
		k.set()
		time.Sleep(300 * time.Millisecond)
		k.set(pod("web", "main:10"))
		w.settle("removed and back", "web/main:10", "web/net")
	})
}

// lateList is a Docker whose list shows a death some time after its event, as the real one does.
type lateList struct{ *dockertest.Fake }

func (d lateList) ListContainers(ctx context.Context, labels map[string]string) ([]dockertools.Container, error) {
	list, err := d.Fake.ListContainers(ctx, labels)
	for i, c := range list {
		details, err := d.ByHand().InspectContainer(ctx, c.ID)
		if err == nil && c.ListState == dockertools.StateExited && time.Since(details.FinishedAt) < 10*time.Millisecond {
			list[i].ListState, list[i].Status = dockertools.StateRunning, "Up 1 second"
		}
	}
	return list, err
}

// TestAnEventRepairs also covers a Docker whose list shows a container's end after its event.
func TestAnEventRepairs(t *testing.T) {
	for _, late := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.options = func(o *Options) {
				o.SyncFrequency = 24 * time.Hour
				if late {
					o.Docker = lateList{w.docker}
				}
			}
			w.run(pod("web", "main"))
			w.kill("web", "main", 1)
			w.after(time.Second, fmt.Sprintf("a second after the event, list late: %v", late), "web/main", "web/net")
		})
	}
}

// Docker may list a container that it cannot inspect, for instance because its files are lost.
func TestAPodThatCannotBeInspectedDelaysNoOther(t *testing.T) {
	server := publish(pod("bad", "main"), 80)
	for _, bad := range []api.Pod{server, onFailure(server)} {
		inWorld(t, func(w *world) {
			k := w.run(bad)
			w.docker.SetFault(on("InspectContainer", dockertest.Fault{Before: errors.New("RWLayer is unexpectedly nil")}, "_bad."))
			w.kill("bad", "main", 1)
			settle()
			k.set(bad, publish(pod("also", "main"), 80), publish(pod("web", "main"), 81))
			w.settle("a pod that came later", "bad/net", "web/main", "web/net")
			statuses := k.statuses(w)
			for i, want := range []string{api.ReasonPortTaken, api.ReasonDocker, ""} {
				if s := statuses[i]; s.Reason != want {
					t.Errorf("pod %s: %s: %s, want %q", s.Name, s.Reason, s.Message, want)
				}
			}
			w.docker.SetFault(nil)
			w.settle("Docker can inspect it again", "bad/main", "bad/net", "web/main", "web/net")
		})
	}
}

// TestNoTwoPodsShareWhatOneHas adds, edits and removes pods, some of which have one UID or one host port, while Docker
// takes its time. The list does not show what a busy worker is about to create, but its pod keeps its UID and port,
// even if it is no longer wanted.
func TestNoTwoPodsShareWhatOneHas(t *testing.T) {
	for seed := range unittest.Seeds(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				r, ofDocker, mu := rand.New(rand.NewPCG(seed, 25)), rand.New(rand.NewPCG(seed, 26)), sync.Mutex{}
				w.importPause()
				w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
					if c.Method == "MakeNetwork" || c.Container == "" { // a mutex is held meanwhile, and a bubble's clock stands still while somebody waits for one
						return dockertest.Fault{}
					}
					mu.Lock()
					defer mu.Unlock()
					return dockertest.Fault{Delay: time.Duration(ofDocker.IntN(3000)) * time.Millisecond}
				})
				some := func() (pods []api.Pod) {
					for _, has := range []struct {
						name, uid string
						port      int
					}{{"a", "one", 80}, {"b", "one", 82}, {"c", "two", 80}, {"d", "two", 81}, {"e", "three", 81}, {"f", "four", 83}} {
						if r.IntN(3) > 0 {
							pods = append(pods, withUID(publish(pod(has.name, fmt.Sprint("main:", r.IntN(2))), has.port), has.uid))
						}
					}
					return pods
				}
				k := w.start(some()...)
				for range 100 {
					if r.IntN(10) == 0 {
						k.set(some()...)
					}
					wait(time.Duration(r.IntN(500)) * time.Millisecond)
					w.checkShared()
				}
				pods := some()
				k.set(pods...)
				wait(3 * time.Minute)
				w.checkShared()
				for _, s := range k.statuses(w) {
					if reason := s.Containers[0].State.Waiting; s.Phase != api.PodRunning && (reason == nil || reason.Reason != api.ReasonUUIDTaken && reason.Reason != api.ReasonPortTaken) {
						t.Errorf("in the end pod %s is %s: %+v", s.Name, s.Phase, reason)
					}
				}
			})
		})
	}
}

// checkShared checks that no two pods that are live have one UID, and that Docker has refused no host port.
func (w *world) checkShared() {
	w.t.Helper()
	owners := map[string]string{}
	for parts, c := range w.containers() {
		if c.Details.Error != "" {
			w.t.Errorf("%s was not started: %s", c.Name, c.Details.Error)
		}
		if !c.ListState.Live() {
			continue
		}
		if owner, owned := owners[parts.UID]; owned && owner != parts.PodFullName {
			w.t.Errorf("pods %s and %s run with one UID\n%s", owner, parts.PodFullName, w.describe())
		}
		owners[parts.UID] = parts.PodFullName
	}
}

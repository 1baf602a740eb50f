package kubelet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

const webName = "web.default.file"

// stop and restart do what the words do.
func (k *kubelet) stop(w *world) {
	w.t.Helper()
	w.must(k.kl.opts.Wishes.Stop(webName, "ada"))
}

func (k *kubelet) restart(w *world) {
	w.t.Helper()
	w.must(k.kl.opts.Wishes.Restart(webName, "ada"))
}

// isStopped checks that the pod is stopped, which is not a fault, and that its status says by whom.
func (k *kubelet) isStopped(w *world, when string) {
	w.t.Helper()
	w.settle(when)
	s := k.statuses(w)[0]
	if s.Phase != api.PodStopped || !s.Well() || !strings.HasPrefix(s.Message, "stopped by ada since 20") {
		w.t.Errorf("%s: the status is %+v", when, s)
	}
	w.checkVolumes(pod("web"))
}

func TestAStoppedPodStaysStopped(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.asNow(succeed)
		k := w.start(hooked(pod("web", "main:1", "side")))
		settle()
		k.stop(w)
		k.isStopped(w, "stopped")
		e.check(t, "hello@0s", "bye@1m0s")
		w.checkCalls("RemoveContainer", 0)
		w.docker.SetFault(on("StopContainer", dockertest.Fault{Delay: time.Second})) // both start before the kubelet stops one
		w.byHand(dockertools.Interface.StartContainer, "k8s_net.")
		w.byHand(dockertools.Interface.StartContainer, "k8s_main.")
		k.isStopped(w, "its containers were started by hand")
		k.stop(w)
		k.set(hooked(pod("web", "main:2")))
		k.isStopped(w, "edited")
		k.end()
		w.docker.RestartDaemon(false)
		k = w.start(hooked(pod("web", "main:2")))
		k.isStopped(w, "after a restart of the kubelet and of Docker")
		w.byHand(dockertools.Interface.RemoveContainer, "")
		k.isStopped(w, "its containers are removed by hand")
		k.end()
		k = w.start(hooked(pod("web", "main:2")))
		k.isStopped(w, "and the kubelet is restarted")
		k.restart(w)
		w.settle("started", "web/main:2", "web/net")
		if s := k.statuses(w)[0]; s.Phase != api.PodRunning || s.Message != "" {
			t.Errorf("the status is %+v", s)
		}
		k.stop(w)
		settle()
		k.set(hooked(withUID(pod("web", "main:2"), "other")))
		w.settle("it has another uid")
	})
}

// A stopped pod holds no port, and its removal forgets that it was stopped.
func TestAStoppedPodThatIsRemovedIsForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		web, other := publish(pod("web", "main"), 80), publish(pod("zoo", "main"), 80)
		k := w.run(web, other)
		w.check("one port for two", "web/main", "web/net")
		k.stop(w)
		w.settle("the first is stopped", "zoo/main", "zoo/net")
		k.end()
		w.byHand(dockertools.Interface.RemoveContainer, "_"+webName+"_")
		k = w.startWith(api.PodUpdate{Op: api.SET, Pods: []api.Pod{other}, Unsynced: map[string]error{"file": errors.New("bad.yaml is bad")}})
		settle()
		k.set(web, other)
		w.settle("its file was bad for a time", "zoo/main", "zoo/net")
		k.set(web)
		w.settle("the other is gone")
		k.updates <- api.PodUpdate{Op: api.SET, Unsynced: map[string]error{"file": &api.NoPodsError{Source: "file", Until: time.Now().Add(time.Hour)}}}
		settle()
		k.set(web)
		w.settle("its mount was gone for a moment")
		k.set()
		w.settle("removed")
		w.checkVolumes()
		k.set(web)
		w.settle("it comes back", "web/main", "web/net")
		w.noWishes()

		k.stop(w)
		settle()
		k.updates <- notReady() // another file is bad
		settle()
		k.updates <- notReady(web)
		w.settle("removed while another file is bad", "web/main", "web/net")
		k.stop(w)
		settle()
		k.end()
		w.start()
		settle()
		w.noWishes()
		w.must(k.kl.opts.Wishes.Stop("gone.default.file", "ada"))
	})
}

// noWishes checks that there is no file of a wish.
func (w *world) noWishes() {
	w.t.Helper()
	if files, _ := filepath.Glob(filepath.Join(w.rootDir, "wishes", "*", "*")); len(files) > 0 {
		w.t.Errorf("the files of wishes are %v, want none", files)
	}
}

// restarts are pods to restart, with what their containers do and whether the pod runs afterwards.
var restarts = map[string]struct {
	pod     api.Pod
	program dockertest.Program // of the app
	runs    bool
}{
	"always":            {pod("web", "main", "side"), dockertest.Program{}, true},
	"never":             {never(pod("web", "main", "side")), dockertest.Program{}, true},
	"never, is done":    {never(pod("web", "main", "side")), dockertest.Program{Exits: true, After: time.Second, ExitCode: 3}, false},
	"on failure":        {onFailure(pod("web", "main", "side")), dockertest.Program{}, true},
	"on failure, done":  {onFailure(pod("web", "main", "side")), dockertest.Program{Exits: true, After: time.Second}, false},
	"with inits":        {withInit(pod("web", "main", "side"), "one", "two"), dockertest.Program{}, true},
	"never, with inits": {withInit(never(pod("web", "main", "side")), "one", "two"), dockertest.Program{}, true},
	"host network":      {hostNetwork(pod("web", "main", "side")), dockertest.Program{}, true},
}

func hostNetwork(p api.Pod) api.Pod {
	p.Manifest.HostNetwork = true
	return p
}

// checkRestarted checks how many times each container of the pod has started in all, and whether its newest attempt
// runs.
func (w *world) checkRestarted(when string, p api.Pod, runs bool, times int) {
	w.t.Helper()
	starts := map[string]int{}
	for _, run := range w.journal.runs {
		starts[run.Name]++
	}
	for _, c := range p.Manifest.All() {
		if starts[c.Name] != times {
			w.t.Errorf("%s: %q has started %d times, want %d\n%s", when, c.Name, starts[c.Name], times, w.journal.describe())
		}
	}
	var live []string
	if runs {
		live = []string{"web/main", "web/net", "web/side"}
	}
	w.check(when, live...)
	if w.checkVolumes(p); !runs {
		return
	}
	w.noWishes()
}

func (w *world) forRestart(app dockertest.Program) {
	w.program = func(name string) dockertest.Program {
		if name == "one" || name == "two" {
			return dockertest.Program{Exits: true}
		}
		return app
	}
}

func TestRestart(t *testing.T) {
	for name, r := range restarts {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.forRestart(r.program)
				k := w.run(r.pod)
				w.checkRestarted("at first", r.pod, r.runs, 1)
				k.restart(w)
				settle()
				w.checkRestarted("restarted", r.pod, r.runs, 2)
				k.end()
				k = w.run(r.pod)
				w.checkRestarted("after a restart of the kubelet", r.pod, r.runs, 2)
				k.stop(w)
				settle()
				w.checkRestarted("stopped", r.pod, false, 2)
				k.restart(w)
				settle()
				w.checkRestarted("started", r.pod, r.runs, 3)
				w.docker.SetClock(0)
				if s := k.statuses(w)[0]; r.runs && (s.Phase != api.PodRunning || !s.Ready) {
					t.Errorf("the status is %+v", s)
				}
			})
		})
	}
}

// If a kubelet is killed after any step of a restart or a stop, the next one completes it.
func TestARestartAndAStopSurviveTheKubelet(t *testing.T) {
	for name, r := range restarts {
		for _, stops := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stop %v", name, stops), func(t *testing.T) {
				eachDeath(t, func(w *world, mortal func(life func())) {
					w.forRestart(r.program)
					k := w.run(r.pod)
					mortal(func() {
						if stops {
							k.stop(w)
						} else {
							k.restart(w)
						}
						settle()
						k.end()
					})
					k = w.run(r.pod)
					times := 1
					if stops {
						w.checkRestarted("the next kubelet has stopped it", r.pod, false, 1)
						k.restart(w)
						settle()
					}
					w.checkRestarted("in the end", r.pod, r.runs, times+1)
				})
			})
		}
	}
}

// The clock of the host is set back by an hour between two restarts.
func TestARestartByAClockThatWasSetBack(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		k.restart(w)
		settle()
		k.end()
		for _, c := range w.docker.Containers() { // as if they were of a later hour
			if label := c.Labels[dockertools.LabelRestart]; label != "" {
				c.Labels[dockertools.LabelRestart] = fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())
			}
		}
		k = w.run(pod("web", "main"))
		before := w.id("web", "main")
		k.restart(w)
		w.settle("restarted", "web/main", "web/net")
		w.checkID("web", "main", before, false)
	})
}

// A restart ends a back-off, pulls the image again if the policy asks for that at each attempt, and ends an unhealthy
// container.
func TestARestartOfACrashingPodIsAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{Exits: true, ExitCode: 1} }
		k := w.run(pod("web", "main"))
		wait(10 * time.Minute)
		w.program = nil
		before := w.newest("main")
		k.restart(w)
		w.after(time.Second, "restarted", "web/main", "web/net")
		if s := k.main(w); w.newest("main") != before+1 || s.State.Running == nil || s.State.Running.Message != "" {
			t.Errorf("attempt %d is %+v", w.newest("main"), s.State)
		}
	})
}

// Meanwhile no container runs twice at the same time, and no container of a stopped pod runs.
func TestWishesEditsAndDeathsInAnyOrder(t *testing.T) {
	for seed := range unittest.Seeds(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				r := rand.New(rand.NewPCG(seed, 22))
				w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "one"} }
				form := func() api.Pod {
					p := withInit(pod("web", fmt.Sprintf("main:%d", r.IntN(2)), "side"), "one")
					return []func(api.Pod) api.Pod{never, onFailure, func(p api.Pod) api.Pod { return p }}[r.IntN(3)](p)
				}
				want, stopped := form(), false
				k := w.start(want)
				for range 20 {
					wait(time.Duration(r.IntN(1500)) * time.Millisecond)
					switch r.IntN(6) {
					case 0:
						want = form()
						k.set(want)
					case 1:
						k.stop(w)
						stopped = true
					case 2:
						k.restart(w)
						stopped = false
					case 3:
						w.dies(1+r.IntN(9), func() {
							if stopped = r.IntN(2) == 0; stopped {
								k.stop(w)
							} else {
								k.restart(w)
							}
							wait(time.Duration(r.IntN(4000)) * time.Millisecond)
							k.end()
						})
						k = w.start(want)
					default:
						w.disturb(r)
					}
				}
				wait(3 * time.Minute)
				if stopped {
					k.isStopped(w, "in the end")
					return
				}
				k.restart(w)
				wait(3 * time.Minute)
				if n := len(w.live()); n != 3 {
					t.Errorf("%d containers run\n%s", n, w.describe())
				}
			})
		})
	}
}

// A wish for a pod that is just being removed is forgotten with it.
func TestAStopBesideARemoval(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		k.set()
		k.stop(w)
		w.settle("removed")
		w.noWishes()
		k.stop(w)
		settle()
		w.noWishes()
		k.set(pod("web", "main"))
		w.settle("it comes back", "web/main", "web/net")
	})
}

// -runonce starts no pod that is stopped, and -dry_run says so.
func TestAStoppedPodAndTheOtherModes(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		k.stop(w)
		settle()
		k.end()
		statuses, err := w.runOnce(set(pod("web", "main")))
		w.must(err)
		w.settle("-runonce")
		if s := statuses["web"]; !s.Up() || !strings.Contains(s.Message, "stopped by ada") {
			t.Errorf("the status is %+v", s)
		}
		if text := w.dryRun(pod("web", "main")); !strings.Contains(text, "stopped by ada since") || strings.Contains(text, "should be") {
			t.Errorf("-dry_run says\n%s", text)
		}
		w.cleanup()
		w.noWishes()
	})
}

// A damaged wish starts nothing.
func TestADamagedWish(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		k.stop(w)
		settle()
		k.end()
		w.must(os.Truncate(filepath.Join(w.rootDir, "wishes/default.file/web"), 9))
		log := w.logged("0", func() { k = w.run(pod("web", "main")) })
		w.check("the file is damaged")
		if !strings.Contains(log, "damaged") || !strings.Contains(log, "kubelet14 start web.default.file") {
			t.Errorf("the log is\n%s", log)
		}
		if s := k.statuses(w)[0]; !strings.HasPrefix(s.Message, "stopped by somebody since 20") {
			t.Errorf("the status is %+v", s)
		}
		k.restart(w)
		w.settle("started", "web/main", "web/net")
	})
}

// A stop does not wait for an init container that has begun.
func TestAStopWhileAPodStarts(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "one", After: time.Hour}
		}
		k := w.start(withInit(pod("web", "main"), "one"))
		w.after(time.Second, "it starts", "web/net", "web/one")
		began := time.Now()
		k.stop(w)
		k.isStopped(w, "stopped")
		if n := slices.Max([]int{w.newest("one"), w.newest("main")}); n != 1 || time.Since(began) > 2*time.Minute {
			t.Errorf("the newest attempt is %d", n)
		}
	})
}

// A stop interrupts a postStart hook that takes long. Inspects that fail after a restart do not, although its label is not known then.
func TestAStopInterruptsTheWorkerOfAPod(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 25 * time.Second} })
		p := hooked(pod("web", "main"))
		p.Manifest.Containers[0].Lifecycle.PreStop = nil
		k := w.start(p)
		settle()
		k.restart(w)
		wait(3 * time.Second)
		main := w.id("web", "main")
		w.docker.SetFault(on("InspectContainer", dockertest.Fault{Before: errors.New("busy")}))
		k.kl.observer.Changed("", false)
		wait(10 * time.Second)
		w.docker.SetFault(nil)
		w.checkID("web", "main", main, true)
		k.stop(w)
		w.after(2*time.Second, "stopped")
		k.isStopped(w, "a minute later")
	})
}

// What an edit does not do to a pod that starts once, a restart does, and only that.
func TestARestartRunsTheNewVersionOfAPodThatStartsOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.forRestart(dockertest.Program{})
		web := func(tag string) api.Pod { return never(withInit(pod("web", "main:"+tag), "one:"+tag)) }
		k := w.run(web("1"))
		k.set(web("2"))
		w.settle("edited", "web/main:1", "web/net")
		k.restart(w)
		w.settle("restarted", "web/main:2", "web/net")
		k.set(web("3"))
		w.settle("edited again", "web/main:2", "web/net")
		w.kill("web", "main", 1)
		w.settle("it has ended")
		k.restart(w)
		w.settle("restarted", "web/main:3", "web/net")
		if s := k.statuses(w)[0]; s.Phase != api.PodRunning || s.Containers[1].State.Running.Message != "" {
			t.Errorf("the status is %+v", s)
		}
	})
}

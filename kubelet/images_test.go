package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// watchPulls records when pulls reach Docker from now on.
func (w *world) watchPulls() *execs {
	e := &execs{begun: time.Now()}
	w.docker.SetFault(when("PullImage", func(dockertest.Call) dockertest.Fault {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.at = append(e.at, time.Since(e.begun).Round(100*time.Millisecond).String())
		return dockertest.Fault{}
	}))
	return e
}

// Twenty pods have five images, and that of the network containers, which is pulled first.
func TestPullsAreSharedAndKeepToTheirRate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) {
			o.NetworkContainerImage, o.RegistryQPS, o.RegistryBurst = "registry.example.com/net:1", 0.5, 2
		}
		w.docker.AddRemoteImage("registry.example.com/net:1", dockertest.RemoteImage{Takes: time.Second})
		var pods []api.Pod
		for i := range 20 {
			image := fmt.Sprintf("image%d:1", i%5)
			w.docker.AddRemoteImage(image, dockertest.RemoteImage{Takes: time.Minute})
			pods = append(pods, ofImage(pod(fmt.Sprintf("p%d", i), "main"), image, ""))
		}
		pulls := w.watchPulls()
		w.start(pods...)
		wait(2 * time.Minute)
		pulls.check(t, "0s", "1s", "2s", "4s", "6s", "8s")
		if live := w.live(); len(live) != 40 {
			t.Errorf("live: %v", live)
		}
	})
}

// A registry that fails is asked again after 1 s, 2 s, … and at last every five
// minutes. An edit of the pod ends the wait.
func TestPullBackOff(t *testing.T) {
	inWorld(t, func(w *world) {
		pulls := w.watchPulls()
		k := w.start(ofImage(pod("web", "main"), "late:1", ""))
		wait(25 * time.Minute)
		k.set(ofImage(pod("web", "main:edited"), "late:1", ""))
		wait(time.Second)
		pulls.check(t, strings.Fields("0s 1s 3s 7s 15s 31s 1m3s 2m7s 4m15s 8m31s 13m31s 18m31s 23m31s 25m0s")...)
		w.docker.AddRemoteImage("late:1", dockertest.RemoteImage{})
		w.after(5*time.Minute, "the registry has it now", "web/main:edited", "web/net")
	})
}

// While an image is pulled for an hour, the pod's other container is repaired at once, and an edit takes effect at
// once.
func TestAPullDelaysNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: time.Hour})
		k := w.run(ofImage(pod("web", "main", "side"), "big:1", ""))
		w.check("during the pull", "web/net", "web/side")
		old := w.id("web", "side")
		w.kill("web", "side", 1)
		wait(time.Second)
		w.checkID("web", "side", old, false)
		k.set(pod("web", "main:2", "side"))
		w.after(time.Second, "edited to an image that is there", "web/main:2", "web/net", "web/side")
	})
}

// Many workers find the image missing at the same time, with each policy.
func TestABuiltinImageIsMadeOnceAndNeverPulled(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.docker.AddRemoteImage(dockertools.HelloImage, dockertest.RemoteImage{})
		var pods []api.Pod
		for _, policy := range []api.PullPolicy{"", api.PullIfNotPresent, api.PullAlways, api.PullNever} {
			p := ofImage(pod("p"+strings.ToLower(string(policy)), "main"), dockertools.HelloImage, policy)
			p.Manifest.Containers[0].Command = []string{"/hello", "sleep"}
			pods = append(pods, p)
		}
		w.run(pods...)
		if live := w.live(); len(live) != 2*len(pods) {
			t.Errorf("live: %v\n%s", live, w.describe())
		}
		w.checkCalls("PullImage", 0)
		w.checkCalls("ImportImage", 1)
	})
}

// Two containers of a pod want the image, which is tried many times in an hour.
func TestAnImageThatCannotBePulledIsOneWarning(t *testing.T) {
	inWorld(t, func(w *world) {
		web := func(image string) api.Pod {
			p := ofImage(pod("web", "main", "side"), image, "")
			p.Manifest.Containers[1].Image = image
			return p
		}
		failures := func(do func()) (n int) {
			t.Helper()
			log := w.logged("0", do)
			if n = strings.Count(log, "next pull at"); strings.Count(log, "\nW") != n {
				t.Errorf("there are other warnings:\n%s", log)
			}
			return n
		}
		var k *kubelet
		if n := failures(func() { k = w.start(web("missing:1")); wait(time.Hour) }); n != 1 {
			t.Errorf("%d warnings, want one", n)
		}
		w.docker.AddRemoteImage("missing:1", dockertest.RemoteImage{})
		w.after(5*time.Minute, "the registry has it", "web/main", "web/net", "web/side")
		if n := failures(func() { k.set(web("another:1")); wait(time.Hour) }); n != 1 {
			t.Errorf("%d warnings of another image, want one", n)
		}
	})
}

func TestWhenAnImageIsPulled(t *testing.T) {
	tests := []struct {
		image                               string
		policy                              api.PullPolicy
		atStart, atCrash, atEdit, atRestart int // pulls made by then, when the image was there before
	}{
		{"app:1", "", 0, 0, 0, 0},
		{"app:1", api.PullAlways, 1, 2, 3, 3},
		{"app:1", api.PullNever, 0, 0, 0, 0},
		{"app", "", 1, 1, 2, 2},
		{"app:latest", api.PullIfNotPresent, 1, 1, 2, 2},
		{"app:latest", api.PullNever, 0, 0, 0, 0},
		{dockertools.HelloImage, api.PullAlways, 0, 0, 0, 0},
		{"app@sha256:" + strings.Repeat("0", 64), "", 0, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.12s %s", tt.image, tt.policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.docker.AddImage(tt.image, nil)
				w.docker.AddRemoteImage(tt.image, dockertest.RemoteImage{Takes: time.Second})
				step := func(name string, want int) {
					t.Helper()
					settle()
					w.checkCalls("PullImage", want)
					if live := w.live(); len(live) != 2 {
						t.Errorf("%s: live: %v\n%s", name, live, w.describe())
					}
				}
				k := w.start(ofImage(pod("web", "main:1"), tt.image, tt.policy))
				step("start", tt.atStart)
				w.kill("web", "main", 1)
				step("crash", tt.atCrash)
				k.set(ofImage(pod("web", "main:2"), tt.image, tt.policy))
				step("edit", tt.atEdit)
				k.end()
				w.start(ofImage(pod("web", "main:2"), tt.image, tt.policy))
				step("restart of the kubelet", tt.atRestart)
			})
		})
	}
}

// If the registry is down, a present :latest is used, but not with PullAlways.
func TestAPresentImageWhenItsPullFails(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddImage("app", nil)
		w.docker.SetFault(on("PullImage", dockertest.Fault{Before: errors.New("connection refused")}))
		w.run(ofImage(pod("latest", "main"), "app", ""), ofImage(pod("always", "main"), "app", api.PullAlways))
		w.check("the registry is down", "always/net", "latest/main", "latest/net")
		w.docker.SetFault(nil)
		w.docker.AddRemoteImage("app", dockertest.RemoteImage{})
		w.settle("it is up", "always/main", "always/net", "latest/main", "latest/net")
	})
}

func TestAnImageThatVanishesIsPulledAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddRemoteImage("app:1", dockertest.RemoteImage{Takes: time.Second})
		web := ofImage(pod("web", "main"), "app:1", "")
		web.Manifest.Volumes[0].Source = &api.VolumeSource{HostDir: &api.HostDir{Path: w.rootDir + "/none"}}
		k := w.start(web) // pulled, and then not created: its HostDir is missing
		settle()
		w.docker.ForceRemoveImage("app:1")
		k.set(ofImage(pod("web", "main"), "app:1", ""))
		w.settle("after a docker rmi", "web/main", "web/net")
	})
}

// An image whose user is root, or may be, makes no container that must not run as root.
func TestAContainerThatMustNotBeRoot(t *testing.T) {
	for user, runs := range map[string]bool{"": false, "0": false, "web": false, "1000:0": true} {
		inWorld(t, func(w *world) {
			w.docker.SetImageUser("hello:1", user)
			web := pod("web", "main")
			web.Manifest.Containers[0].SecurityContext = &api.SecurityContext{NonRoot: true}
			state := w.run(web).main(w).State
			if (state.Running != nil) != runs || !runs && (state.Waiting == nil || state.Waiting.Reason != api.ReasonConfig) {
				t.Errorf("as user %q it is %+v", user, state)
			}
		})
	}
}

// Neither a running pull nor a container that has failed for good costs syncs.
func TestStatusOfAPull(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.SyncFrequency = 24 * time.Hour }
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "job", ExitCode: 3} }
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: 100 * time.Minute})
		w.docker.AddRemoteImage("secret:1", dockertest.RemoteImage{Auth: dockertools.Auth{Username: "u", Password: "p"}})
		k := w.start(
			never(ofImage(pod("a", "main", "job"), "big:1", "")), ofImage(pod("b", "main"), "missing:1", ""),
			ofImage(pod("c", "main"), "secret:1", ""), ofImage(pod("d", "main"), "never:1", api.PullNever),
		)
		wait(35 * time.Minute)
		statuses := k.statuses(w)
		for i, want := range []api.ContainerStateWaiting{
			{Reason: api.ReasonPulling, Message: "pulling big:1: 0 of 2 layers, 3.146MB of 10.49MB"},
			{Reason: api.ReasonImageNotFound, Message: "manifest unknown"},
			{Reason: api.ReasonUnauthorised, Message: "unauthorized"},
			{Reason: api.ReasonImageNeverPulled, Message: "`docker pull never:1` gets it"},
		} {
			got := statuses[i].Containers[0].State.Waiting
			if got == nil || got.Reason != want.Reason || !strings.Contains(got.Message, want.Message) {
				t.Errorf("%s: %+v, want %+v", statuses[i].Name, got, want)
			}
			if back := i == 1 || i == 2; got != nil && back != got.Next.After(time.Now()) {
				t.Errorf("%s: the next try is at %v", statuses[i].Name, got.Next)
			}
		}
		k.set(never(ofImage(pod("a", "main", "job"), "big:1", "")))
		settle()
		lists := w.docker.Calls()["ListContainers"]
		wait(time.Hour)
		w.checkCalls("ListContainers", lists)
	})
}

// TestTheProgressOfAPullIsLogged less often than Docker reports it.
func TestTheProgressOfAPullIsLogged(t *testing.T) {
	inWorld(t, func(w *world) {
		for image, takes := range map[string]time.Duration{"quick:1": 20 * time.Second, "slow:1": 100 * time.Second} {
			w.docker.AddRemoteImage(image, dockertest.RemoteImage{Takes: takes})
		}
		text := w.logged("0", func() {
			w.start(ofImage(pod("a", "main"), "quick:1", ""), ofImage(pod("b", "main"), "slow:1", ""))
			time.Sleep(5 * time.Minute)
		})
		// Docker reports progress every 2 s and every 10 s.
		for image, times := range map[string]int{"quick:1": 3, "slow:1": 10} {
			if n := strings.Count(text, fmt.Sprintf("pulling image %q: ", image)); n != times {
				t.Errorf("image %s: progress is logged %d times, want %d", image, n, times)
			}
		}
		for _, line := range []string{
			`pulling image "slow:1"` + "\n",
			`pulling image "slow:1": 1 of 2 layers, 5.243MB of 10.49MB` + "\n",
			`pulled image "slow:1" in 1m40s` + "\n",
		} {
			if strings.Count(text, line) != 1 {
				t.Errorf("%d times in the log: %q\n\n%s", strings.Count(text, line), line, text)
			}
		}
	})
}

// Until every source was read it is not known which images pods need.
func TestNeededImages(t *testing.T) {
	inWorld(t, func(w *world) {
		check := func(k *kubelet, when string, wantComplete bool, want ...string) {
			t.Helper()
			settle()
			images, complete := k.kl.NeededImages()
			if slices.Sort(images); complete != wantComplete || !slices.Equal(images, want) {
				t.Errorf("%s they are %q, complete %v", when, images, complete)
			}
		}
		w.docker.Down()
		web := pod("web", "main")
		web.Manifest.InitContainers = []api.Container{{Name: "first", Image: "init:1"}}
		k := w.startWith(notReady(web))
		check(k, "before a sync", false)
		w.docker.Up()
		time.Sleep(time.Minute)
		check(k, "before all of the source was read", false, "hello:1", "init:1", dockertools.PauseImage)
		k.set(web)
		check(k, "after that", true, "hello:1", "init:1", dockertools.PauseImage)
		k.set()
		check(k, "when the pod is gone", true, dockertools.PauseImage)
	})
}

package kubelet

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/eviction"
)

// machine is what the kubelets of a world measure: the free bytes of 1000 of memory and of 1000 on the disk. Below
// 2000, images are the free bytes on a disk of their own.
type machine struct{ memory, disk, images atomic.Int64 }

func newMachine(memory, disk int64) *machine {
	m := &machine{}
	m.memory.Store(memory)
	m.disk.Store(disk)
	m.images.Store(2000)
	return m
}

func (m *machine) read() eviction.Reading {
	r := eviction.Reading{
		eviction.MemoryAvailable: {Available: uint64(m.memory.Load()), Total: 1000},
		eviction.NodeFsAvailable: {Available: uint64(m.disk.Load()), Total: 1000, Disk: 1},
	}
	if images := uint64(m.images.Load()); images < 2000 {
		r[eviction.ImageFsAvailable] = eviction.Amount{Available: images, Total: 2000, Disk: 2}
	}
	return r
}

// startOnMachine starts a kubelet that looks at a machine before its first sync, and then every ten seconds.
func (w *world) startOnMachine(m *machine, pods ...api.Pod) *kubelet {
	w.t.Helper()
	opts := eviction.DefaultOptions()
	w.must(opts.Hard.Set("memory.available<10%"))
	w.must(opts.Soft.Set("memory.available<20%"))
	opts.MaxPodGrace = 20
	manager := eviction.NewManager(opts)
	manager.Observe(m.read(), time.Now())
	before := w.options
	w.options = func(o *Options) {
		o.Eviction = manager
		if before != nil {
			before(o)
		}
	}
	defer func() { w.options = before }()
	k := w.start(pods...)
	end, done := k.end, make(chan struct{})
	go func() {
		for tick := time.NewTicker(10 * time.Second); ; {
			select {
			case <-tick.C:
				manager.Observe(m.read(), time.Now())
				k.kl.RelievePressure(w.t.Context())
			case <-done:
				return
			}
		}
	}()
	k.end = sync.OnceFunc(func() { end(); close(done) })
	w.t.Cleanup(k.end)
	return k
}

// important gives a pod a priority, or a class.
func important(p api.Pod, priority int64, class string) api.Pod {
	p.Manifest.Priority, p.Manifest.PriorityClassName = priority, class
	return p
}

// statusIs checks the status of a pod as a whole: its phase, its reason and a part of its message.
func (k *kubelet) statusIs(w *world, name string, phase api.PodPhase, reason, part string) (s api.PodStatus) {
	w.t.Helper()
	all := k.statuses(w)
	i := slices.IndexFunc(all, func(s api.PodStatus) bool { return s.Name == name })
	if s = all[i]; s.Phase != phase || s.Reason != reason || !strings.Contains(s.Message, part) {
		w.t.Errorf("pod %s is %s %s: %q, want %s %s: %q", name, s.Phase, s.Reason, s.Message, phase, reason, part)
	}
	return s
}

func TestAPodIsNotStartedUnderPressure(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		done := never(pod("done", "job"))
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "job", After: time.Second}
		}
		k := w.startOnMachine(m, pod("old", "main"), done)
		w.settle("no pressure", "old/main", "old/net")
		m.disk.Store(99) // nobody of the pods has written anything
		wait(10 * time.Second)
		pods := []api.Pod{pod("old", "main"), done, pod("a", "main"), important(pod("b", "main"), 7, ""), important(pod("c", "main"), 0, "system-my-critical"),
			important(pod("kept", "main"), 0, "system-node-critical")}
		k.set(pods...)
		w.kill("old", "main", 1)
		running := []string{"kept/main", "kept/net", "old/main", "old/net"}
		w.settle("what runs is repaired, what does not run waits", running...)
		const why = "it starts when the host has had no DiskPressure for 5m0s: nodefs.available is 99B (9.9%), less than 10%"
		for _, name := range []string{"a", "b", "c"} {
			k.statusIs(w, name, api.PodFailing, api.ReasonNodePressure, why)
		}
		k.statusIs(w, "done", api.PodSucceeded, "", "")
		if n := strings.Count(w.logged("0", settle), "NodePressure"); n != 0 {
			t.Errorf("%d lines of the log repeat that pods wait", n)
		}
		k.end()
		w.startOnMachine(newMachine(500, 98), pods...).end() // it is killed before it looks a second time
		w.check("after a restart under pressure", running...)

		k = w.startOnMachine(m, pods...)
		settle()
		m.disk.Store(100)
		wait(20 * time.Second)
		next := k.statusIs(w, "a", api.PodFailing, api.ReasonNodePressure, "9.9%").Containers[0].State.Waiting.Next
		if left := time.Until(next); left < 4*time.Minute || left > 5*time.Minute {
			t.Errorf("its next start is in %v", left)
		}
		w.after(270*time.Second, "soon after the pressure", running...)
		w.after(10*time.Second, "the most important pod comes first", slices.Concat([]string{"b/main", "b/net"}, running)...)
		w.after(10*time.Second, "one at a time", slices.Concat([]string{"a/main", "a/net", "b/main", "b/net"}, running)...)
		w.after(10*time.Second, "all", slices.Concat([]string{"a/main", "a/net", "b/main", "b/net", "c/main", "c/net"}, running)...)
		if s := k.statusIs(w, "a", api.PodRunning, "", ""); !s.Up() {
			t.Errorf("it is not up: %+v", s)
		}
	})
}

func TestUnderDiskPressureOneDeadContainerIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.MinDeadAge = time.Hour }
		m := newMachine(500, 100)
		w.startOnMachine(m, pod("web", "main"))
		for range 3 {
			settle()
			w.kill("web", "main", 0)
		}
		dead := func() (n int) {
			for parts, c := range w.containers() {
				if parts.Name == "main" && !c.ListState.Live() {
					n++
				}
			}
			return n
		}
		settle()
		if n := dead(); n != 3 {
			t.Fatalf("there are %d dead containers, want 3", n)
		}
		m.disk.Store(99)
		settle()
		if n := dead(); n != 1 {
			t.Errorf("under pressure there are %d dead containers, want 1\n%s", n, w.describe())
		}
	})
}

// fill writes a file into the EmptyDir of a pod.
func (w *world) fill(p api.Pod, name string, size int) {
	w.t.Helper()
	w.must(os.WriteFile(w.data(p, name), make([]byte, size), 0o644))
}

func (w *world) data(p api.Pod, name string) string {
	return filepath.Join(w.rootDir, "pods", p.UID, "volumes/kubernetes.io~empty-dir/data", name)
}

// TestEvictionAndTheWayBack: a pod of each policy is evicted, the largest writer first, and comes back after the pressure,
// with its data.
func TestEvictionAndTheWayBack(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		always, failing, once := pod("always", "main"), onFailure(pod("failing", "main")), never(pod("once", "main"))
		critical, idle := important(pod("critical", "main"), 0, "system-cluster-critical"), pod("idle", "main")
		evictions := map[string]int{}
		k := w.startOnMachine(m, always, failing, once, critical, idle)
		k.kl.opts.Eviction.Evicted = func(signal string) { evictions[signal]++ }
		settle()
		all := w.live()
		left := func(names ...string) []string {
			return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
				pod, _, _ := strings.Cut(name, "/")
				return slices.Contains(names, pod)
			})
		}
		for i, p := range []api.Pod{idle, once, failing, always, critical} {
			w.fill(p, "file", 4096*i)
		}
		m.disk.Store(99)
		w.after(15*time.Second, "the first look only reclaims", all...)
		w.after(10*time.Second, "one pod, the largest writer that is not critical", left("always")...)
		k.statusIs(w, "always", api.PodFailing, api.ReasonEvicted, "nodefs.available is 99B (9.9%), less than 10%; this pod uses 12KiB; it starts when the host has had no pressure for 5m0s")
		w.after(10*time.Minute, "free space stays as it is", left("always")...)
		w.must(w.docker.Write(w.id("once", "main"), 1<<20)) // into its own layer, on the same disk
		m.disk.Store(90)
		w.settle("it falls: the next pod", left("always", "once")...)
		m.disk.Store(80)
		w.settle("it falls once more", left("always", "failing", "once")...)
		m.disk.Store(1)
		w.after(10*time.Minute, "who has written nothing stays", left("always", "failing", "once")...)
		if n := evictions["nodefs.available"]; n != 3 {
			t.Errorf("%d evictions are counted, want 3", n)
		}
		k.statusIs(w, "once", api.PodFailed, "", "")
		if main := k.statuses(w)[4].Containers[0]; main.State.Terminated == nil || main.State.Terminated.Reason != api.ReasonEvicted {
			t.Errorf("the container that starts once: %+v", main)
		}
		m.disk.Store(500)
		w.after(285*time.Second, "before the transition period is over", left("always", "failing", "once")...)
		w.after(15*time.Second, "the first comes back", left("failing", "once")...)
		w.after(10*time.Second, "the second, and not the one that starts once", left("once")...)
		k.statusIs(w, "always", api.PodRunning, "", "")
		for _, p := range []api.Pod{always, failing} {
			if _, err := os.Stat(w.data(p, "file")); err != nil {
				t.Error(err)
			}
		}
	})
}

// An evicted pod keeps its host port: no other pod starts in its place.
func TestAnEvictedPodKeepsItsPort(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		k := w.startOnMachine(m, publish(pod("b", "main"), 80))
		settle()
		k.set(publish(pod("a", "main"), 80), publish(pod("b", "main"), 80))
		m.memory.Store(99)
		w.settle("evicted")
		m.memory.Store(500)
		w.after(10*time.Minute, "after the pressure", "b/main", "b/net")
	})
}

// A full disk to which no pod has written does not delay the relief of another one.
func TestEachPressureIsRelieved(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		k := w.startOnMachine(m, pod("idle", "main"), pod("web", "main"))
		settle()
		w.must(w.docker.Write(w.id("web", "main"), 1<<20))
		m.disk.Store(99)
		m.images.Store(99)
		w.settle("no pod has written to the root_dir", "idle/main", "idle/net")
		k.statusIs(w, "web", api.PodFailing, api.ReasonEvicted, "imagefs.available")
	})
}

// An edit makes an evicted pod critical: it starts, and the next pod is evicted.
func TestAnEvictedPodBecomesCritical(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		k := w.startOnMachine(m, pod("a", "main"), pod("b", "main"))
		settle()
		m.memory.Store(99)
		w.after(10*time.Second, "the first", "b/main", "b/net")
		k.set(important(pod("a", "main"), 0, "system-node-critical"), pod("b", "main"))
		w.settle("under pressure", "a/main", "a/net")
	})
}

// Only Docker knows how much pods use: without it no pod is evicted, and if it cannot measure a pod, another one is
// evicted.
func TestEvictionWithoutFigures(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		w.startOnMachine(m, pod("a", "main"), pod("b", "main"), pod("c", "main", "side"))
		settle()
		all := w.live()
		w.docker.Down()
		m.memory.Store(99)
		settle()
		m.memory.Store(500)
		w.docker.Up()
		w.settle("Docker was away", all...)
		w.docker.SetFault(on("Stats", dockertest.Fault{Delay: time.Hour}, "a.default"))
		m.memory.Store(99)
		w.after(18*time.Second, "it does not measure the first pod: that with the highest figure", "a/main", "a/net", "b/main", "b/net")
	})
}

// A stop that hangs delays no other eviction. If a stop fails, the container is killed. So is a job whose next attempt
// cannot be created, as on a full disk: otherwise it could count as done.
func TestEvictionOfWhatDoesNotEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		w.startOnMachine(m, important(pod("a", "main"), -2, ""), important(onFailure(pod("b", "main")), -1, ""), pod("c", "main"))
		settle()
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if hangs := on("StopContainer", dockertest.Fault{Delay: time.Hour}, "a.default")(c); hangs.Delay > 0 {
				return hangs
			}
			if full := on("CreateContainer", dockertest.Fault{Before: errors.New("no space left on device")})(c); full.Before != nil {
				return full
			}
			return on("StopContainer", dockertest.Fault{Before: errors.New("no")}, "c.default")(c)
		})
		m.memory.Store(99)
		w.after(10*time.Second, "a is to end", "a/main", "a/net", "b/main", "b/net", "c/main", "c/net")
		w.after(40*time.Second, "b is next", "a/main", "a/net", "c/main", "c/net")
		w.after(10*time.Second, "and then c", "a/main", "a/net")
		for _, run := range w.journal.runs {
			if want := map[bool]int{true: 0, false: 137}[strings.HasPrefix(run.PodFullName, "a.")]; run.code != want {
				t.Errorf("%v, want exit %d", run, want)
			}
		}
	})
}

// An eviction stops a container like any other stop: its hook runs, and it is not killed. Its probes fail meanwhile,
// which nobody reports. A job that then exits with 0 has not succeeded.
func TestAnEvictedPodHasItsTimeToEnd(t *testing.T) {
	for _, policy := range []func(api.Pod) api.Pod{func(p api.Pod) api.Pod { return p }, onFailure} {
		inWorld(t, func(w *world) {
			var ending atomic.Bool
			w.program = func(string) dockertest.Program {
				return dockertest.Program{Exec: func(command []string) (outcome dockertest.ExecOutcome) {
					switch {
					case command[0] == "bye":
						ending.Store(true)
						outcome.After = 5 * time.Second
					case ending.Load():
						outcome.ExitCode = 1
					}
					return outcome
				}}
			}
			web := policy(probedToday(api.Probe{}, api.Probe{PeriodSeconds: 1}, api.Probe{PeriodSeconds: 1}))
			web.Manifest.Containers[0].Lifecycle = hooked(pod("web", "main")).Manifest.Containers[0].Lifecycle
			m := newMachine(500, 500)
			k := w.startOnMachine(m, web)
			settle()
			m.memory.Store(150) // only the soft threshold
			w.after(13*time.Second, "its hook runs", "web/main", "web/net")
			if !ending.Load() {
				t.Error("its hook was not run")
			}
			w.after(10*time.Second, "its hook has ended")
			for _, e := range k.kl.Events(0) {
				if e.Reason == "not ready" || e.Reason == "unhealthy" || e.Reason == "probe not run" {
					t.Errorf("event %+v", e)
				}
			}
			k.statusIs(w, "web", api.PodFailing, api.ReasonEvicted, "less than 20%")
			ending.Store(false)
			m.memory.Store(500)
			w.after(10*time.Minute, "after the pressure", "web/main", "web/net")
			for _, run := range w.journal.runs {
				if run.code != 0 {
					t.Errorf("%v was killed", run)
				}
			}
		})
	}
}

// TestCrashInAnEviction lets the kubelet die after each call that changes something during an eviction. Whether or not
// the next kubelet finds the pressure, it touches no other pod.
func TestCrashInAnEviction(t *testing.T) {
	for name, policy := range map[string]func(api.Pod) api.Pod{
		"always": func(p api.Pod) api.Pod { return p }, "onFailure": onFailure, "never": never,
		"init": func(p api.Pod) api.Pod { return withInit(p, "setup") },
	} {
		eachDeath(t, func(w *world, mortal func(func())) {
			m := newMachine(500, 500)
			web, bystander := policy(pod("web", "server", "side")), pod("bystander", "main")
			k := w.startOnMachine(m, web, bystander)
			settle()
			w.fill(web, "file", 4096)
			healthy := w.id("bystander", "main")
			mortal(func() {
				m.disk.Store(99)
				settle()
				k.end()
			})
			k = w.startOnMachine(m, web, bystander)
			w.settle(name+": under pressure", "bystander/main", "bystander/net")
			k.end()
			w.startOnMachine(newMachine(500, 500), web, bystander)
			want := []string{"bystander/main", "bystander/net", "web/net", "web/server", "web/side"}
			switch name {
			case "never":
				want = want[:2]
			case "init": // which ends only when it is stopped, with 0
				want = []string{"bystander/main", "bystander/net", "web/net", "web/setup"}
			}
			w.settle(name+": without pressure", want...)
			w.checkID("bystander", "main", healthy, true)
			w.checkVolumes(web, bystander)
			for _, run := range w.journal.runs {
				if run.code == 137 {
					t.Errorf("%s: %v was killed", name, run)
				}
			}
		})
	}
}

// A pod that uses no more memory than its request or limit is evicted after one without either.
func TestEvictionForMemory(t *testing.T) {
	inWorld(t, func(w *world) {
		m := newMachine(500, 500)
		a, b := pod("a", "main"), pod("b", "main")
		a.Manifest.Containers[0].Memory, b.Manifest.Containers[0].MemoryRequest = 8<<20, 8<<20
		k := w.startOnMachine(m, a, b, pod("c", "main"))
		settle()
		m.memory.Store(99)
		w.after(15*time.Second, "the first look", "a/main", "a/net", "b/main", "b/net")
		k.statusIs(w, "c", api.PodFailing, api.ReasonEvicted, "this pod uses 4MiB")
		w.after(10*time.Second, "the second", "b/main", "b/net")
		w.docker.SetFault(on("Stats", dockertest.Fault{Before: errors.New("Docker cannot tell")}))
		w.after(10*time.Second, "the third")
		k.statusIs(w, "b", api.PodFailing, api.ReasonEvicted, "this pod uses an unknown amount")
	})
}

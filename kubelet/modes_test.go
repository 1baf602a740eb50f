package kubelet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// runOnce runs -runonce with a first update, for at most five minutes.
func (w *world) runOnce(updates ...api.PodUpdate) (map[string]api.PodStatus, error) {
	w.t.Helper()
	kl, closeRoot := w.newKubelet()
	defer closeRoot()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	source := make(chan api.PodUpdate, len(updates))
	for _, u := range updates {
		source <- u
	}
	results, err := kl.RunOnce(ctx, source)
	byName := map[string]api.PodStatus{}
	for _, r := range results {
		byName[r.Name] = r
	}
	return byName, err
}

func set(pods ...api.Pod) api.PodUpdate { return api.PodUpdate{Op: api.SET, Pods: pods} }

// podResult is the state and a part of the reason; an empty reason is none.
type podResult struct{ state, reason string }

func checkResults(t *testing.T, results map[string]api.PodStatus, want map[string]podResult) {
	t.Helper()
	for name, want := range want {
		got := results[name]
		if string(got.Phase) != want.state || !strings.Contains(got.Message, want.reason) || want.reason == "" && got.Message != "" {
			t.Errorf("pod %s: %s %q, want %s %q", name, got.Phase, got.Message, want.state, want.reason)
		}
	}
}

// TestRunOnce waits until servers run and jobs have ended, for at most five minutes.
func TestRunOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		slow := 100 * time.Millisecond
		w.program = func(name string) dockertest.Program {
			if name == "slower" { // it crashes once quickly, and then after a second
				defer func() { slow = time.Second }()
			}
			return map[string]dockertest.Program{
				"slower":  {Exits: true, After: slow, ExitCode: 3},
				"job":     {Exits: true, After: time.Minute},
				"fails":   {Exits: true, After: time.Minute, ExitCode: 3},
				"crashes": {Exits: true, After: 100 * time.Millisecond, ExitCode: 3},
				"missing": {Missing: true},
			}[name]
		}
		results, err := w.runOnce(set(
			pod("good", "main", "side"), onFailure(pod("net")), onFailure(pod("endless", "main")),
			onFailure(pod("job", "job")), never(pod("once", "job")), never(pod("fails", "fails")),
			ofImage(pod("noimage", "main"), "nosuch:1", ""), pod("nocommand", "missing"), pod("crashes", "crashes"), pod("slower", "slower"),
			publish(pod("porta", "main"), 80), publish(pod("portb", "main"), 80),
		))
		w.must(err)
		checkResults(t, results, map[string]podResult{
			"good":      {"running", ""},
			"net":       {"running", ""}, // it has no containers that could end
			"endless":   {"running", "not finished"},
			"job":       {"succeeded", ""},
			"once":      {"succeeded", ""},
			"fails":     {"failed", "exit code 3"},
			"noimage":   {"failed", "nosuch:1"},
			"slower":    {"failed", "exit code 3"},
			"nocommand": {"failed", "executable file not found"},
			"crashes":   {"failed", "exit code 3"},
			"porta":     {"running", ""},
			"portb":     {"failed", "taken by pod porta.default.file"},
		})
	})
}

func TestRunOnceWaitsForDockerWhileThereIsWork(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{Exits: true, After: time.Minute} }
		time.AfterFunc(30*time.Second, w.docker.Down)
		time.AfterFunc(40*time.Second, w.docker.Up)
		results, err := w.runOnce(set(onFailure(pod("job", "main"))))
		if err != nil {
			t.Error(err)
		}
		checkResults(t, results, map[string]podResult{"job": {"succeeded", ""}})
	})
}

func TestRunOnceRemovesNothingItWasNotGiven(t *testing.T) {
	inWorld(t, func(w *world) {
		if _, err := w.runOnce(set(pod("first", "main"))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.runOnce(set(pod("second", "main"))); err != nil {
			t.Fatal(err)
		}
		w.check("after two runs", "first/main", "first/net", "second/main", "second/net")
		w.checkVolumes(pod("first"), pod("second"))
	})
}

func TestRunOnceWaitsForEverySource(t *testing.T) {
	inWorld(t, func(w *world) {
		bad := errors.New("web.yaml:3:1 is bad")
		results, err := w.runOnce(
			api.PodUpdate{Op: api.SET, Unsynced: map[string]error{"file": nil, "http": nil}},
			api.PodUpdate{Op: api.SET, Pods: []api.Pod{pod("a", "main")}, Unsynced: map[string]error{"http": nil}},
			api.PodUpdate{Op: api.SET, Pods: []api.Pod{pod("a", "main"), pod("b", "main")}, Unsynced: map[string]error{"http": bad}},
		)
		if !errors.Is(err, bad) || len(results) != 2 || results["b"].Phase != api.PodRunning {
			t.Errorf("results %+v, error %v; want both pods, and the error of the source", results, err)
		}
	})
	inWorld(t, func(w *world) {
		begun := time.Now()
		_, err := w.runOnce(api.PodUpdate{Op: api.SET, Pods: []api.Pod{pod("a", "main")}, Unsynced: map[string]error{"http": nil}})
		if err == nil || time.Since(begun) != 5*time.Minute {
			t.Errorf("a source that is never ready: error %v after %v, want one at the time limit", err, time.Since(begun))
		}
		w.check("nothing is started before every source is ready")
	})
}

func TestRunOnceDoesNotWaitForDocker(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.Down()
		begun := time.Now()
		if _, err := w.runOnce(set(pod("a", "main"))); err == nil || time.Since(begun) != 0 {
			t.Errorf("error %v after %v, want one at once", err, time.Since(begun))
		}
	})
}

// dryRun runs -dry_run with a first update and returns what it prints.
func dryRun(t *testing.T, kl *Kubelet, update api.PodUpdate) (string, error) {
	updates := make(chan api.PodUpdate, 1)
	updates <- update
	var b strings.Builder
	err := kl.DryRun(t.Context(), updates, &b)
	return b.String(), err
}

func TestDryRun(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("same", "main"), pod("edited", "main:1"), pod("gone", "main"), publish(pod("holder", "main"), 80))
		before := w.describe()
		calls := w.docker.Calls()
		kl := NewMainKubelet(k.kl.opts) // beside the one that runs
		got, err := dryRun(w.t, kl, set(
			pod("same", "main"), pod("edited", "main:2"), publish(pod("holder", "main"), 80), publish(pod("waits", "main"), 80),
		))
		w.must(err)
		want := `pod edited.default.file (edited.yaml)
  create main (attempt 2): its part of the manifest has changed
  stop   main (attempt 1): attempt 2 replaces it
  start  main (attempt 2): its part of the manifest has changed
pod gone.default.file (gone.yaml)
  stop   main (attempt 1): its pod is no longer wanted
  stop   net (attempt 1): its pod is no longer wanted
  remove main (attempt 1): its pod is no longer wanted
  remove net (attempt 1): its pod is no longer wanted
pod holder.default.file (holder.yaml)
  is as it should be
pod same.default.file (same.yaml)
  is as it should be
pod waits.default.file (waits.yaml)
  waits, unchanged: host port 80/tcp is taken by pod holder.default.file, which runs
`
		if got != want {
			t.Errorf("it prints\n%swant\n%s", got, want)
		}
		if after := w.describe(); after != before {
			t.Errorf("Docker has changed:\n%sbefore:\n%s", after, before)
		}
		for method, n := range w.docker.Calls() {
			if n != calls[method] && method != "ListContainers" && method != "InspectContainer" && method != "Version" {
				t.Errorf("it calls %s", method)
			}
		}
	})
}

func TestDryRunOfASourceThatIsNotReady(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		k.end()
		kl, closeRoot := w.newKubelet()
		defer closeRoot()
		bad := errors.New("web.yaml is bad")
		got, err := dryRun(w.t, kl, api.PodUpdate{Op: api.SET, Unsynced: map[string]error{"file": bad}})
		if want := "pod web.default.file (web.yaml)\n  is left alone: its source is not ready\n"; got != want || !errors.Is(err, bad) {
			t.Errorf("error %v, and it prints\n%swant\n%s", err, got, want)
		}
	})
}

func TestCleanupRemovesAllThatIsOurs(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main", "side"), pod("other", "main"))
		k.end()
		other, err := w.docker.RunStranger(dockertools.ContainerSpec{Name: "k8s_x_y_z", Image: "hello:1"})
		if err != nil {
			t.Fatal(err)
		}
		kl, closeRoot := w.newKubelet()
		defer closeRoot()
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "RemoveContainer" && strings.HasPrefix(c.Container, "k8s_side") {
				w.docker.ByHand().RemoveContainer(w.t.Context(), c.Container) // as a person does at the same time
			}
			return dockertest.Fault{}
		})
		if err := kl.Cleanup(w.t.Context()); err != nil {
			t.Error(err)
		}
		if left := w.docker.Containers(); len(left) != 1 || left[0].ID != other {
			t.Errorf("left on Docker:\n%swant only the container of another program", w.describe())
		}
		w.checkVolumes()
	})
}

// TestCleanupByAWrongHostnameTouchesNothing keeps the volumes of containers that run under another hostname.
func TestCleanupByAWrongHostnameTouchesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		k.end()
		w.options = func(o *Options) { o.Identity.Hostname = "typo" }
		kl, closeRoot := w.newKubelet()
		defer closeRoot()
		if err := kl.Cleanup(w.t.Context()); err == nil || !strings.Contains(err.Error(), "typo") || !strings.Contains(err.Error(), "host") {
			t.Errorf("error %v, want one with both hostnames", err)
		}
		w.check("after it", "web/main", "web/net")
		w.checkVolumes(pod("web"))
	})
}

func TestDryRunOfAPodThatCannotBeInspected(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("a", "main"), pod("b", "main"))
		lost := errors.New("RWLayer is unexpectedly nil")
		w.docker.SetFault(on("InspectContainer", dockertest.Fault{Before: lost}, "k8s_net", "_a."))
		got, err := dryRun(w.t, NewMainKubelet(k.kl.opts), set(pod("a", "main"), pod("b", "main")))
		k.end()
		unchanged := "pod b.default.file (b.yaml)\n  is as it should be\n"
		if !errors.Is(err, lost) || !strings.Contains(got, "RWLayer") || !strings.HasSuffix(got, unchanged) {
			t.Errorf("error %v, and it prints\n%s", err, got)
		}
	})
}

// TestAStopThatTakesTheWholeGrace removes the pod's volume after its containers, and does not
// delay other pods.
func TestAStopThatTakesTheWholeGrace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{IgnoreTerm: name == "deaf"} }
		k := w.run(pod("stuck", "deaf"))
		k.set(pod("web", "main"))
		for range 9 {
			wait(time.Second)
			w.check("during the stop", "stuck/deaf", "stuck/net", "web/main", "web/net")
			w.checkVolumes(pod("stuck"), pod("web"))
		}
		w.settle("after the grace period", "web/main", "web/net")
		w.checkVolumes(pod("web"))
	})
}

// TestTheEndIsImmediate ends the kubelet in the middle of a stop and of a pull.
func TestTheEndIsImmediate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: time.Hour})
		k := w.run(pod("stuck", "deaf"))
		k.set(ofImage(pod("web", "main"), "big:1", ""))
		time.Sleep(time.Second)
		begun := time.Now()
		k.end()
		if took := time.Since(begun); took != 0 {
			t.Errorf("it ended after %v", took)
		}
	})
}

// TestRunOnceAtItsTimeLimit reports how the container ended, and not the start that hangs.
func TestRunOnceAtItsTimeLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.program = func(string) dockertest.Program {
			return dockertest.Program{Exits: true, After: 100 * time.Millisecond, ExitCode: 7}
		}
		starts := 0
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "StartContainer" && strings.Contains(c.Container, "_main.") {
				if starts++; starts == 2 {
					return dockertest.Fault{Delay: time.Hour}
				}
			}
			return dockertest.Fault{}
		})
		results, _ := w.runOnce(set(pod("web", "main")))
		got := results["web"]
		if last := got.Containers[0].Last; got.Phase != api.PodFailed || last == nil || last.ExitCode != 7 {
			t.Errorf("the pod is %s: %s, and before: %+v", got.Phase, got.Message, last)
		}
	})
}

func TestCleanupRemovesWhatTheSameKubeletWants(t *testing.T) {
	inWorld(t, func(w *world) {
		kl, closeRoot := w.newKubelet()
		defer closeRoot()
		updates := make(chan api.PodUpdate, 1)
		updates <- set(pod("web", "main"))
		if _, err := kl.RunOnce(w.t.Context(), updates); err != nil {
			t.Fatal(err)
		}
		w.check("the pod is up", "web/main", "web/net")
		if err := kl.Cleanup(w.t.Context()); err != nil || len(w.docker.Containers()) > 0 {
			t.Errorf("%v, and left on Docker:\n%s", err, w.describe())
		}
		w.checkVolumes()
	})
}

// TestRunOnceEndsWithItsLastPod does not wait for the other image of a pod that has failed.
func TestRunOnceEndsWithItsLastPod(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: time.Hour})
		p := ofImage(pod("web", "main", "side"), "missing:1", "")
		p.Manifest.Containers[1].Image = "big:1"
		begun := time.Now()
		results, err := w.runOnce(set(p))
		if err != nil {
			t.Fatal(err)
		}
		r, took := results["web"], time.Since(begun)
		if r.Phase != api.PodFailed || !strings.Contains(r.Message, "manifest unknown") || took > 5*time.Second {
			t.Errorf("after %v the pod is %s: %s", took, r.Phase, r.Message)
		}
	})
}

// TestRunOnceForgetsAPullThatIsOver pulls until shortly before the time limit.
func TestRunOnceForgetsAPullThatIsOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: 5*time.Minute - time.Second})
		w.docker.SetFault(on("StartContainer", dockertest.Fault{Delay: 300 * time.Millisecond}))
		results, err := w.runOnce(set(ofImage(pod("web", "main"), "big:1", "")))
		if r := results["web"]; r.Phase != api.PodRunning || r.Message != "" || err != nil {
			t.Errorf("the pod is %s: %s, %v", r.Phase, r.Message, err)
		}
		w.check("it is up", "web/main", "web/net")
	})
}

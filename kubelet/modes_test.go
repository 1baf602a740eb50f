package kubelet

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// dryRun returns what -dry_run prints for these pods.
func (w *world) dryRun(pods ...api.Pod) string {
	w.t.Helper()
	kl, closeRoot := w.newKubelet()
	defer closeRoot()
	updates := make(chan api.PodUpdate, 1)
	updates <- set(pods...)
	var out strings.Builder
	w.must(kl.DryRun(w.t.Context(), updates, &out))
	return out.String()
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

// TestRunOnce waits, for at most five minutes, until servers run and jobs have ended. Docker is away for a while.
func TestRunOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		time.AfterFunc(30*time.Second, w.docker.Down)
		time.AfterFunc(40*time.Second, w.docker.Up)
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
		late := onFailure(pod("late", "main"))
		late.Manifest.ActiveDeadlineSeconds = new(int64(30))
		results, err := w.runOnce(set(
			late, pod("good", "main", "side"), onFailure(pod("net")), onFailure(pod("endless", "main")),
			onFailure(pod("job", "job")), never(pod("once", "job")), never(pod("fails", "fails")),
			ofImage(pod("noimage", "main"), "nosuch:1", ""), pod("nocommand", "missing"), pod("crashes", "crashes"), pod("slower", "slower"),
			publish(pod("porta", "main"), 80), publish(pod("portb", "main"), 80),
			withInit(pod("init", "main"), "job"), never(withInit(pod("initfails", "main"), "fails", "job")),
		))
		w.must(err)
		checkResults(t, results, map[string]podResult{
			"late":      {"failed", "activeDeadlineSeconds"},
			"good":      {"running", ""},
			"net":       {"running", ""}, // it has no containers that could end
			"endless":   {"running", "not finished"},
			"job":       {"succeeded", ""},
			"once":      {"succeeded", ""},
			"fails":     {"failed", "exit code 3"},
			"noimage":   {"failed", "nosuch:1"},
			"slower":    {"failed", "exit code 3"},
			"nocommand": {"failed", "executable file not found"},
			"crashes":   {"failed", `container "crashes": ended with exit code 3; it ended soon`},
			"porta":     {"running", ""},
			"portb":     {"failed", "taken by pod porta.default.file"},
			"init":      {"running", ""},
			"initfails": {"failed", "exit code 3"},
		})
		for parts, c := range w.containers() {
			if name, _, _ := api.SplitFullName(parts.PodFullName); c.ListState.Live() && slices.Contains([]string{"late", "job", "fails", "initfails"}, name) {
				t.Errorf("%s of a pod that has ended runs", c.Name)
			}
		}
	})
}

func TestRunOnceEndsInTime(t *testing.T) {
	twoImages := ofImage(pod("web", "main", "side"), "missing:1", "")
	twoImages.Manifest.Containers[1].Image = "big:1"
	for name, test := range map[string]struct {
		pod     api.Pod
		program dockertest.Program
		fault   func(dockertest.Call) dockertest.Fault
		pull    time.Duration // of big:1
		want    podResult
		limit   time.Duration
	}{
		"it does not wait for the other image of a pod that has failed": {
			pod: twoImages, pull: time.Hour, want: podResult{"failed", "manifest unknown"}, limit: time.Second},
		"it reports a failed pull before the next one, even if Docker's list is slow": {
			pod: ofImage(pod("web", "main"), "missing:1", ""), fault: on("ListContainers", dockertest.Fault{Delay: 3 * time.Second}),
			want: podResult{"failed", "manifest unknown"}, limit: 15 * time.Second},
		"it forgets a pull that ends shortly before the time limit": {
			pod: ofImage(pod("web", "main"), "big:1", ""), fault: on("StartContainer", dockertest.Fault{Delay: 300 * time.Millisecond}),
			pull: 5*time.Minute - time.Second, want: podResult{"running", ""}, limit: 5 * time.Minute},
		"it reports at the time limit how the container ended, and not the start that hangs": {
			pod: pod("web", "main"), program: dockertest.Program{Exits: true, After: 100 * time.Millisecond, ExitCode: 7},
			fault: on("StartContainer", dockertest.Fault{Delay: time.Hour}, "_main.", "_2"),
			want:  podResult{"failed", "exit code 7"}, limit: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.importPause()
				w.program = func(string) dockertest.Program { return test.program }
				w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: test.pull})
				w.docker.SetFault(test.fault)
				begun := time.Now()
				results, err := w.runOnce(set(test.pod))
				w.must(err)
				checkResults(t, results, map[string]podResult{"web": test.want})
				if took := time.Since(begun); took > test.limit {
					t.Errorf("it took %v, want at most %v", took, test.limit)
				}
			})
		})
	}
}

func TestRunOnceWaitsForEverySourceAndNotForDocker(t *testing.T) {
	inWorld(t, func(w *world) {
		results, err := w.runOnce(
			api.PodUpdate{Op: api.SET, Unsynced: map[string]error{"file": nil, "http": nil}},
			api.PodUpdate{Op: api.SET, Pods: []api.Pod{pod("a", "main")}, Unsynced: map[string]error{"http": nil}},
			api.PodUpdate{Op: api.SET, Pods: []api.Pod{pod("a", "main"), pod("b", "main")}, Unsynced: map[string]error{"http": errors.New("web.yaml:3:1 is bad")}},
		)
		if err == nil || err.Error() != `source "http" has errors, see above` || len(results) != 2 || results["b"].Phase != api.PodRunning {
			t.Errorf("results %+v, error %v; want both pods, and the error of the source", results, err)
		}
		_, err = w.runOnce(set(pod("c", "main"))) // removes nothing that it was not given
		w.must(err)
		w.check("after two runs", "a/main", "a/net", "b/main", "b/net", "c/main", "c/net")
		w.checkVolumes(pod("a"), pod("b"), pod("c"))
	})
	inWorld(t, func(w *world) {
		w.options = func(o *Options) {
			o.Sources = func() []api.SourceStatus {
				return []api.SourceStatus{{Source: "file", LastSuccess: time.Now()}, {Source: "http", Place: "http://host/"}}
			}
		}
		for _, updates := range [][]api.PodUpdate{nil, {{Op: api.SET, Pods: []api.Pod{pod("a", "main")}, Unsynced: map[string]error{"http": nil}}}} {
			begun := time.Now()
			_, err := w.runOnce(updates...)
			if err == nil || !strings.Contains(err.Error(), "ready: [source http (http://host/): not read yet]: context") || time.Since(begun) != 5*time.Minute {
				t.Errorf("a source that is never ready: error %v after %v, want one at the time limit", err, time.Since(begun))
			}
		}
		w.check("nothing is started before every source is ready")
		w.docker.Down()
		begun := time.Now()
		if _, err := w.runOnce(set(pod("a", "main"))); err == nil || time.Since(begun) != 0 {
			t.Errorf("without Docker: error %v after %v, want one at once", err, time.Since(begun))
		}
	})
}

func TestDryRun(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) {
			o.RemovalWait = 20 * time.Second
			o.Sources = func() []api.SourceStatus { return []api.SourceStatus{{Source: "file"}, {Source: "http"}} } // and not etcd
		}
		other, late := pod("other", "main"), pod("late", "main")
		other.Source, late.Source = "http", "etcd"
		holder := publish(pod("holder", "main"), 80)
		k := w.run(pod("same", "main"), pod("edited", "main:1"), pod("gone", "main"), pod("lost", "main"), holder, other, late)
		lost := errors.New("RWLayer is unexpectedly nil")
		w.docker.SetFault(on("InspectContainer", dockertest.Fault{Before: lost}, "k8s_net", "_lost."))
		before, calls := w.describe(), w.docker.Calls()
		update := set(pod("same", "main"), pod("edited", "main:2"), pod("lost", "main"), holder, publish(pod("waits", "main"), 80),
			withInit(pod("init", "main"), "one"), ofImage(pod("pulled", "a", "b"), "missing:1", ""), ofImage(pod("local", "main"), "missing:1", api.PullNever))
		update.Unsynced = map[string]error{"http": errors.New("the web server is down")}
		updates := make(chan api.PodUpdate, 1)
		updates <- update
		var got strings.Builder
		err := NewMainKubelet(k.kl.opts).DryRun(w.t.Context(), updates, &got) // beside the one that runs
		if !errors.Is(err, lost) || !strings.Contains(err.Error(), `source "http" has errors`) {
			t.Errorf("error %v, want that of the source and that of Docker", err)
		}
		want, err := os.ReadFile("testdata/dry_run.txt")
		w.must(err)
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("it prints (-want +got):\n%s", diff)
		}
		if after := w.describe(); after != before {
			t.Errorf("Docker has changed:\n%sbefore:\n%s", after, before)
		}
		for method, n := range w.docker.Calls() {
			if n != calls[method] && method != "ListContainers" && method != "InspectContainer" && method != "InspectImage" && method != "Info" {
				t.Errorf("it calls %s", method)
			}
		}
	})
}

// TestCleanupRemovesAllThatIsOurs also waits for the full grace of a container.
func TestCleanupRemovesAllThatIsOurs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.RemovalWait = time.Hour } // does not count
		w.program = func(name string) dockertest.Program { return dockertest.Program{IgnoreTerm: name == "deaf"} }
		slow := pod("slow", "deaf")
		slow.Manifest.TerminationGracePeriodSeconds = new(int64(300))
		w.run(pod("web", "main", "side"), slow).end()
		other, err := w.docker.RunStranger(dockertools.ContainerSpec{Name: "k8s_x_y_z", Image: "hello:1"})
		w.must(err)
		w.docker.SetFault(when("RemoveContainer", func(c dockertest.Call) dockertest.Fault {
			w.docker.ByHand().RemoveContainer(w.t.Context(), c.Container) // as a person does at the same time
			return dockertest.Fault{}
		}, "k8s_side"))
		w.cleanup()
		if left := w.docker.Containers(); len(left) != 1 || left[0].ID != other {
			t.Errorf("left on Docker:\n%swant only the container of another program", w.describe())
		}
		w.checkVolumes()
	})
}

// TestCleanupTriesAgain has a Docker that does not answer about one container: once, or for ever.
func TestCleanupTriesAgain(t *testing.T) {
	for _, times := range []int{1, 1 << 62} {
		inWorld(t, func(w *world) {
			w.run(pod("web", "main"), pod("other", "main")).end()
			asked := 0
			w.docker.SetFault(when("InspectContainer", func(dockertest.Call) dockertest.Fault {
				if asked++; asked > times {
					return dockertest.Fault{}
				}
				return dockertest.Fault{Delay: time.Hour}
			}, "k8s_net.", "_web."))
			kl, closeRoot := w.newKubelet()
			defer closeRoot()
			err := kl.Cleanup(w.t.Context())
			if left := len(w.docker.Containers()); asked < 2 || (err == nil) != (times == 1) || (left == 0) != (err == nil) {
				t.Errorf("with %d late answers, after %d of them: %v; %d containers are left", times, asked, err, left)
			}
			if err != nil && !strings.Contains(err.Error(), "pod web.default.file") {
				t.Errorf("the error is %v, want the name of the pod", err)
			}
		})
	}
}

// A root_dir that does not exist may be lost, or mistyped.
func TestCleanupWithoutARootDir(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(pod("web", "main")).end()
		before := w.describe()
		for _, root := range []string{"/mistyped", w.rootDir} {
			kl, closeRoot := w.newKubelet()
			kl.opts.Identity.RootDir, kl.observer.Identity.RootDir = root, root
			kl.opts.Volumes, kl.observer.Volumes = nil, nil
			err := kl.Cleanup(w.t.Context())
			closeRoot()
			if refused := err != nil && strings.Contains(err.Error(), w.rootDir); refused != (root == "/mistyped") || refused && w.describe() != before {
				t.Errorf("with root_dir %s: %v\n%s", root, err, w.describe())
			}
		}
		w.check("after -cleanup of a lost root_dir")
	})
}

// If Docker freezes or ends in the middle of -dry_run or -cleanup, the kubelet ends within 30 s.
func TestDockerEndsInTheMiddle(t *testing.T) {
	dryRun := func(ctx context.Context, kl *Kubelet) error {
		updates := make(chan api.PodUpdate, 1)
		updates <- set(pod("new", "main"))
		return kl.DryRun(ctx, updates, io.Discard)
	}
	const frozen = "no answer from Docker for 20s"
	for _, tt := range []struct {
		method string // at which it happens
		run    func(context.Context, *Kubelet) error
		fault  dockertest.Fault
		want   string
	}{
		{"InspectImage", dryRun, dockertest.Fault{Delay: time.Hour}, frozen},
		{"StopContainer", func(ctx context.Context, kl *Kubelet) error { return kl.Cleanup(ctx) }, dockertest.Fault{Delay: time.Hour}, frozen},
		{"StopContainer", func(ctx context.Context, kl *Kubelet) error { return kl.Cleanup(ctx) }, dockertest.Fault{Before: syscall.ECONNREFUSED}, "refused"},
	} {
		inWorld(t, func(w *world) {
			w.run(pod("web", "main")).end()
			var since atomic.Pointer[time.Time]
			w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
				if c.Method == tt.method {
					since.CompareAndSwap(nil, new(time.Now()))
				}
				if since.Load() == nil {
					return dockertest.Fault{}
				}
				return tt.fault
			})
			kl, closeRoot := w.newKubelet()
			defer closeRoot()
			err := tt.run(w.t.Context(), kl)
			if took := time.Since(*since.Load()); took > 30*time.Second || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("at %s: it ends %v later with %v, want %q", tt.method, took, err, tt.want)
			}
		})
	}
}

// This is how cron runs a job: a container that succeeded does not run again unless it is removed.
func TestRunOnceOfAJobThatWasDoneBefore(t *testing.T) {
	inWorld(t, func(w *world) {
		runs := 0
		w.program = func(string) dockertest.Program {
			runs++
			return dockertest.Program{Exits: true, After: time.Second}
		}
		once := func(wantRuns int, want podResult) {
			t.Helper()
			results, err := w.runOnce(set(onFailure(pod("job", "main"))))
			w.must(err)
			checkResults(t, results, map[string]podResult{"job": want})
			if runs != wantRuns {
				t.Errorf("the job has run %d times, want %d", runs, wantRuns)
			}
			time.Sleep(time.Hour)
		}
		once(1, podResult{"succeeded", ""})
		once(1, podResult{"succeeded", "was done before, at "})
		w.cleanup()
		once(2, podResult{"succeeded", ""})
	})
}

// A Kubelet cannot be changed from outside: NewMainKubelet makes all of it (PR #551).
func TestKubeletHasNoExportedField(t *testing.T) {
	for field := range reflect.TypeFor[Kubelet]().Fields() {
		if field.IsExported() {
			t.Errorf("field %s is exported", field.Name)
		}
	}
}

package dockertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kubelet14/kubelet/dockertools"
)

// The contract test of dockertools/client proves that the Fake answers as Docker does.
// These tests are for what only a Fake has: its clock, its faults and its programs.

func TestMain(m *testing.M) {
	flag.Set("logtostderr", "true") // and no files in the directory for temporary ones
	goleak.VerifyTestMain(m)
}

// inFake runs a test in a bubble, with an image "app" whose command names the program.
func inFake(t *testing.T, test func(t *testing.T, f *Fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := NewFake()
		f.AddImage("app", func(spec dockertools.ContainerSpec) Program {
			return map[string]Program{
				"polite":   {TermCode: 7, Exec: func([]string) ExecOutcome { return ExecOutcome{Output: "ran\n", After: time.Hour} }},
				"stubborn": {IgnoreTerm: true},
				"short":    {Exits: true, ExitCode: 3},
				"minute":   {Exits: true, After: time.Minute, ExitCode: 4},
				"greedy":   {Exits: true, ExitCode: 137, OOMKilled: true},
			}[strings.Join(spec.Command, " ")]
		})
		test(t, f)
	})
}

func app(name, program string) dockertools.ContainerSpec {
	return dockertools.ContainerSpec{Name: name, Image: "app", Command: []string{program}}
}

// check compares all containers with lines of "name state exit-code".
func check(t *testing.T, f *Fake, want ...string) {
	t.Helper()
	var got []string
	for _, c := range f.Containers() {
		got = append(got, fmt.Sprintf("%s %s %d", c.Name, c.State, c.Details.ExitCode))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
}

func mustRun(t *testing.T, f *Fake, spec dockertools.ContainerSpec) (id string) {
	t.Helper()
	id, err := f.RunStranger(spec)
	must(t, err)
	return id
}

func TestProgramsEndInTheirTime(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		mustRun(t, f, app("a", "short"))
		id := mustRun(t, f, app("b", "minute"))
		greedy := mustRun(t, f, app("c", "greedy"))
		time.Sleep(40 * time.Second)
		must(t, f.Restart(id)) // the timer of the first run is void
		time.Sleep(40 * time.Second)
		check(t, f, "a exited 3", "b running 0", "c exited 137")
		time.Sleep(21 * time.Second)
		check(t, f, "a exited 3", "b exited 4", "c exited 137")
		if got := f.Containers()[1].Status; got != "Exited (4) 1 second ago" {
			t.Errorf("status %q", got)
		}
		if details, err := f.InspectContainer(t.Context(), greedy); err != nil || !details.OOMKilled {
			t.Errorf("the greedy one: %+v, %v", details, err)
		}
		// Docker kills after the grace also when the caller has gone.
		id = mustRun(t, f, app("d", "stubborn"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.StopContainer(ctx, id, time.Minute); !errors.Is(err, context.DeadlineExceeded) || !f.Containers()[3].State.Live() {
			t.Errorf("stop: %v", err)
		}
		time.Sleep(time.Minute)
		check(t, f, "a exited 3", "b exited 4", "c exited 137", "d exited 137")
	})
}

func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		fault Fault
		took  time.Duration
		err   error
		want  string
	}{
		"none":                                 {Fault{}, 0, nil, "a running 0"},
		"before":                               {Fault{Before: broken}, 0, broken, "a created 0"},
		"after":                                {Fault{After: broken}, 0, broken, "a running 0"},
		"delay":                                {Fault{Delay: time.Minute}, time.Minute, nil, "a running 0"},
		"a delay longer than the caller waits": {Fault{Delay: 3 * time.Hour}, 2 * time.Hour, context.DeadlineExceeded, "a created 0"},
	} {
		inFake(t, func(t *testing.T, f *Fake) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
			defer cancel()
			id, err := f.CreateContainer(ctx, app("a", ""))
			must(t, err)
			f.SetFault(func(call Call) Fault {
				if call != (Call{2, "StartContainer", "a"}) {
					t.Errorf("%s: asked about %+v", name, call)
				}
				return c.fault
			})
			began := time.Now()
			if err := f.StartContainer(ctx, id); !errors.Is(err, c.err) || time.Since(began) != c.took {
				t.Errorf("%s: %v after %v, want %v after %v", name, err, time.Since(began), c.err, c.took)
			}
			check(t, f, c.want)
			if diff := cmp.Diff(map[string]int{"CreateContainer": 1, "StartContainer": 1}, f.Calls()); diff != "" {
				t.Errorf("%s: calls (-want +got):\n%s", name, diff)
			}
		})
	}
}

// The caller dies after each of its steps in turn; what it did until then stays.
func TestStopAfter(t *testing.T) {
	for n, want := range map[int]string{1: "a created 0", 2: "a running 0", 3: "a running 0", 4: "a running 0", 5: "a exited 7"} {
		inFake(t, func(t *testing.T, f *Fake) {
			f.AddRemoteImage("web", RemoteImage{})
			dead := false
			f.StopAfter(n, func() { dead = true })
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			f.CreateContainer(ctx, app("a", "polite"))
			f.StartContainer(ctx, "a")
			f.InspectContainer(ctx, "a")
			f.PullImage(ctx, "web", dockertools.Auth{}, func(dockertools.PullProgress) {})
			f.ImportImage(ctx, "x:1", strings.NewReader(""))
			f.StopContainer(ctx, "a", time.Second)
			if _, err := f.ListContainers(ctx, nil); err == nil || !dead {
				t.Errorf("step %d: a dead caller gets a list; dead: %v", n, dead)
			}
			check(t, f, want)
			f.StopAfter(0, nil)
			if _, err := f.ListContainers(ctx, nil); err != nil {
				t.Errorf("a new caller: %v", err)
			}
		})
	}
}

func TestTheDaemonGoesDownAndRestarts(t *testing.T) {
	for restart, want := range map[string][]string{
		"no":       {"created created 0", "ended exited 3", "paused paused 0", "stubborn running 0"},
		"graceful": {"created created 0", "ended exited 3", "paused exited 7", "stubborn exited 137"},
		"abrupt":   {"created created 0", "ended exited 3", "paused exited 255", "stubborn exited 255"},
	} {
		inFake(t, func(t *testing.T, f *Fake) {
			f.AddRemoteImage("web", RemoteImage{Takes: time.Hour})
			f.CreateContainer(t.Context(), app("created", ""))
			mustRun(t, f, app("ended", "short"))
			must(t, f.Pause(mustRun(t, f, app("paused", "polite"))))
			stubborn := mustRun(t, f, app("stubborn", "stubborn"))
			broken := make(chan error)
			go func() { broken <- f.WatchEvents(t.Context(), nil, func(dockertools.Event) {}) }()
			go func() {
				broken <- f.PullImage(t.Context(), "web", dockertools.Auth{}, func(dockertools.PullProgress) {})
			}()
			go func() {
				broken <- f.Logs(t.Context(), stubborn, dockertools.LogOptions{Follow: true, Stdout: true}, nil)
			}()
			synctest.Wait()
			if restart == "no" {
				f.Down()
				if _, err := f.ListContainers(t.Context(), nil); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("while it is down: %v", err)
				}
				f.Up()
			} else {
				go f.RestartDaemon(restart == "graceful")
			}
			for range 3 {
				if err := <-broken; !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("a stream ended with %v, want a refused connection", err)
				}
			}
			time.Sleep(time.Minute)
			check(t, f, want...)
			if _, err := f.Version(t.Context()); err != nil {
				t.Errorf("after it came back: %v", err)
			}
		})
	}
}

func TestPullsAndCommandsTakeTheirTime(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		var out strings.Builder
		id := mustRun(t, f, app("a", "polite"))
		f.AddRemoteImage("web:1", RemoteImage{Takes: time.Minute})
		began := time.Now()
		for range 2 { // the second pull takes no time
			must(t, f.PullImage(t.Context(), "web:1", dockertools.Auth{}, func(dockertools.PullProgress) {}))
		}
		if _, err := f.Exec(t.Context(), id, []string{"date"}, &out); err != nil || out.String() != "ran\n" || time.Since(began) != time.Hour+time.Minute {
			t.Errorf("pull and command took %v, %v, and printed %q", time.Since(began), err, out.String())
		}
		f.SetFault(func(Call) Fault { return Fault{Delay: time.Minute} })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := f.Exec(ctx, id, []string{"date"}, io.Discard); !errors.Is(err, dockertools.ErrExecNotStarted) {
			t.Errorf("a command that was delayed: %v", err)
		}
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

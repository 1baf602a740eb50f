package dockertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// The contract test of dockertools/client proves that the Fake answers as Docker does. These tests cover what only a
// Fake has: its clock, its faults and its programs.

func TestMain(m *testing.M) { unittest.Main(m) }

// inFake runs a test in a bubble, with an image "app" whose command names the program.
func inFake(t *testing.T, test func(t *testing.T, f *Fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := NewFake()
		f.AddImage("app", func(spec dockertools.ContainerSpec) Program {
			return map[string]Program{
				"polite":   {TermCode: 7},
				"stubborn": {IgnoreTerm: true},
				"short":    {Exits: true, ExitCode: 3},
				"minute":   {Exits: true, After: time.Minute, ExitCode: 4},
				"greedy":   {Exits: true, ExitCode: 137, OOMKilled: true},
			}[spec.Command[0]]
		})
		test(t, f)
	})
}

func app(name, program string) dockertools.ContainerSpec {
	return dockertools.ContainerSpec{Name: name, Image: "app", Command: []string{program}}
}

// run starts containers that have the names of their programs.
func run(t *testing.T, f *Fake, programs ...string) {
	t.Helper()
	for _, program := range programs {
		_, err := f.RunStranger(app(program, program))
		unittest.Must(t, err)
	}
}

// check compares all containers with lines of "name state exit-code".
func check(t *testing.T, f *Fake, want ...string) {
	t.Helper()
	var got []string
	for _, c := range f.Containers() {
		got = append(got, fmt.Sprintf("%s %s %d", c.Name, c.ListState, c.Details.ExitCode))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
}

func TestProgramsEndInTheirTime(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		run(t, f, "short", "minute", "greedy", "stubborn")
		time.Sleep(40 * time.Second)
		unittest.Must(t, f.Restart("minute")) // the timer of the first run is void
		time.Sleep(40 * time.Second)
		check(t, f, "greedy exited 137", "minute running 0", "short exited 3", "stubborn running 0")
		time.Sleep(21 * time.Second)
		check(t, f, "greedy exited 137", "minute exited 4", "short exited 3", "stubborn running 0")
		if got := f.Containers()[1].Status; got != "Exited (4) 1 second ago" {
			t.Errorf("status %q", got)
		}
		if details, err := f.InspectContainer(t.Context(), "greedy"); err != nil || !details.OOMKilled {
			t.Errorf("the greedy one: %+v, %v", details, err)
		}
		// Docker kills after the grace even if the caller has gone.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.StopContainer(ctx, "stubborn", time.Minute); !errors.Is(err, context.DeadlineExceeded) || !f.Containers()[3].ListState.Live() {
			t.Errorf("stop: %v", err)
		}
		time.Sleep(time.Minute)
		check(t, f, "greedy exited 137", "minute exited 4", "short exited 3", "stubborn exited 137")
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
			unittest.Must(t, err)
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
			if calls := f.Calls(); calls["CreateContainer"] != 1 || calls["StartContainer"] != 1 {
				t.Errorf("%s: calls %v", name, calls)
			}
		})
	}
}

func noProgress(dockertools.PullProgress) {}

// The caller dies after each of its steps in turn; the effects of the steps before stay.
func TestStopAfter(t *testing.T) {
	for n, want := range map[int]string{1: "a created 0", 2: "a running 0", 3: "a running 0", 4: "a running 0", 5: "a exited 7"} {
		inFake(t, func(t *testing.T, f *Fake) {
			f.AddRemoteImage("web", RemoteImage{})
			dead := false
			f.StopAfter(n, func() { dead = true })
			f.CreateContainer(t.Context(), app("a", "polite"))
			f.StartContainer(t.Context(), "a")
			f.InspectContainer(t.Context(), "a")
			f.PullImage(t.Context(), "web", dockertools.Auth{}, noProgress)
			f.ImportImage(t.Context(), "x:1", strings.NewReader(""))
			f.StopContainer(t.Context(), "a", time.Second)
			if _, err := f.ListContainers(t.Context(), nil); err == nil || !dead {
				t.Errorf("step %d: a dead caller gets a list; dead: %v", n, dead)
			}
			check(t, f, want)
		})
	}
}

func TestTheDaemonGoesDownAndRestarts(t *testing.T) {
	for restart, want := range map[string][]string{
		"no":       {"polite paused 0", "short exited 3", "stubborn running 0"},
		"graceful": {"polite exited 7", "short exited 3", "stubborn exited 137"},
		"abrupt":   {"polite exited 255", "short exited 3", "stubborn exited 255"},
	} {
		inFake(t, func(t *testing.T, f *Fake) {
			run(t, f, "short", "polite", "stubborn")
			unittest.Must(t, f.Pause("polite"))
			f.AddRemoteImage("web", RemoteImage{Takes: time.Hour})
			broken := make(chan error, 2)
			go func() { broken <- f.WatchEvents(t.Context(), nil, func(dockertools.Event) {}) }()
			go func() { broken <- f.PullImage(t.Context(), "web", dockertools.Auth{}, noProgress) }()
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
			for range cap(broken) {
				if err := <-broken; !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("a stream ended with %v, want a refused connection", err)
				}
			}
			time.Sleep(time.Minute)
			check(t, f, want...)
			if _, err := f.Info(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

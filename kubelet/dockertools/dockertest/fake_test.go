package dockertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// inFake runs a test in a bubble with a Docker that has one image, "app", whose
// command says what the program does.
func inFake(t *testing.T, test func(t *testing.T, f *Fake)) {
	t.Helper()
	programs := map[string]Program{
		"polite":   {TermCode: 7},
		"stubborn": {IgnoreTerm: true},
		"short":    {Exits: true, ExitCode: 3},
		"minute":   {Exits: true, After: time.Minute, ExitCode: 4},
	}
	synctest.Test(t, func(t *testing.T) {
		f := NewFake()
		f.AddImage("app", func(spec dockertools.ContainerSpec) Program { return programs[strings.Join(spec.Command, " ")] })
		test(t, f)
	})
}

func app(name string, command ...string) dockertools.ContainerSpec {
	return dockertools.ContainerSpec{Name: name, Image: "app", Command: command}
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
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFakeProgramsEndInTheirTime(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		began := time.Now()
		mustRun(t, f, app("a", "short"))
		id := mustRun(t, f, app("b", "minute"))
		check(t, f, "a exited 3", "b running 0")
		time.Sleep(59 * time.Second)
		check(t, f, "a exited 3", "b running 0")
		if got := f.Containers()[1].Status; got != "Up 59 seconds" {
			t.Errorf("status %q", got)
		}
		time.Sleep(2 * time.Second)
		check(t, f, "a exited 3", "b exited 4")
		details, err := f.InspectContainer(t.Context(), id)
		if err != nil || !details.StartedAt.Equal(began) || details.FinishedAt.Sub(began) != time.Minute {
			t.Errorf("ended with %+v, %v", details, err)
		}
		if got := f.Containers()[1].Status; got != "Exited (4) 1 second ago" {
			t.Errorf("status %q", got)
		}
	})
}

func TestFakeForgetsTheTimerOfAnEarlierRun(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		id := mustRun(t, f, app("a", "minute"))
		time.Sleep(40 * time.Second)
		if err := f.Restart(id); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second)
		check(t, f, "a running 0")
		time.Sleep(40 * time.Second)
		check(t, f, "a exited 4")

		if err := errors.Join(f.Restart(id), f.Kill(id, 137)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		check(t, f, "a exited 137")
	})
}

func TestFakeStopsAsThePersonOrTheCallerAsks(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		polite := mustRun(t, f, app("polite", "polite"))
		stubborn := mustRun(t, f, app("stubborn", "stubborn"))
		began := time.Now()
		if err := errors.Join(f.StopContainer(t.Context(), polite, time.Hour), f.StopContainer(t.Context(), stubborn, time.Hour)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Hour {
			t.Errorf("the grace lasted %v", took)
		}
		check(t, f, "polite exited 7", "stubborn exited 137")
	})
}

func TestFakeKillsAfterTheGraceAlsoWhenTheCallerIsGone(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		id := mustRun(t, f, app("a", "stubborn"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.StopContainer(ctx, id, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stop: %v", err)
		}
		check(t, f, "a running 0")
		time.Sleep(time.Minute)
		check(t, f, "a exited 137")
	})
}

func TestFakeKeepsTheSpec(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		spec := app("a", "polite")
		spec.Env, spec.Labels = []string{"A=1"}, map[string]string{"l": "1"}
		spec.Mounts = []dockertools.Mount{{HostPath: t.TempDir(), ContainerPath: "/data"}}
		mustRun(t, f, spec)
		if diff := cmp.Diff(spec, f.Containers()[0].Spec); diff != "" {
			t.Errorf("spec (-want +got):\n%s", diff)
		}
		spec.Labels["l"] = "changed by the caller"
		if got := f.Containers()[0].Labels["l"]; got != "1" {
			t.Errorf("label %q", got)
		}
	})
}

func TestFakeFaults(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		fault Fault
		took  time.Duration
		err   error
		want  string
	}{
		{"none", Fault{}, 0, nil, "a running 0"},
		{"before", Fault{Before: broken}, 0, broken, "a created 0"},
		{"after", Fault{After: broken}, 0, broken, "a running 0"},
		{"delay", Fault{Delay: time.Minute}, time.Minute, nil, "a running 0"},
		{"a delay longer than the caller waits", Fault{Delay: 3 * time.Hour}, 2 * time.Hour, context.DeadlineExceeded, "a created 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *Fake) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()
				id, err := f.CreateContainer(ctx, app("a"))
				if err != nil {
					t.Fatal(err)
				}
				f.SetFault(func(call Call) Fault {
					if call.N != 2 || call.Method != "StartContainer" || call.Container != "a" {
						t.Errorf("asked about %+v", call)
					}
					return c.fault
				})
				began := time.Now()
				if err := f.StartContainer(ctx, id); !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				check(t, f, c.want)
			})
		})
	}
}

func TestFakeFaultSeesAPersonActBetweenTwoCalls(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		id := mustRun(t, f, app("a"))
		f.SetFault(func(Call) Fault {
			return Fault{Before: f.Kill(id, 9)}
		})
		if _, err := f.ListContainers(t.Context(), nil); err != nil {
			t.Error(err)
		}
		check(t, f, "a exited 9")
	})
}

// The caller dies after each of its steps in turn; what it did until then stays.
func TestFakeStopsTheCallerAfterEachStep(t *testing.T) {
	for n, want := range map[int][]string{
		1: {"a created 0"},
		2: {"a running 0"},
		3: {"a exited 7"},
		4: nil,
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inFake(t, func(t *testing.T, f *Fake) {
				ctx, cancel := context.WithCancel(t.Context())
				f.StopAfter(n, cancel)
				if _, err := f.CreateContainer(ctx, app("a", "polite")); (err == nil) != (n > 1) {
					t.Errorf("create: %v", err)
				}
				if (ctx.Err() == nil) != (n > 1) {
					t.Error("stop was not called when it should")
				}
				// Calls that do not heed the context die as well.
				ctx = context.WithoutCancel(ctx)
				f.StartContainer(ctx, "a")
				f.InspectContainer(ctx, "a")
				f.StopContainer(ctx, "a", time.Second)
				if f.RemoveContainer(ctx, "a") == nil {
					t.Error("the last call succeeded for a dead caller")
				}
				if _, err := f.ListContainers(ctx, nil); err == nil {
					t.Error("a dead caller gets a list")
				}
				check(t, f, want...)

				f.StopAfter(0, nil)
				if _, err := f.ListContainers(t.Context(), nil); err != nil {
					t.Errorf("a new caller: %v", err)
				}
			})
		})
	}
}

func TestFakeCountsCallsOfTheCodeUnderTestAlone(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		id := mustRun(t, f, app("a"))
		f.ListContainers(t.Context(), nil)
		f.ListContainers(t.Context(), nil)
		f.InspectContainer(t.Context(), "nobody")
		if err := f.ByHand().StopContainer(t.Context(), id, 0); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(map[string]int{"ListContainers": 2, "InspectContainer": 1}, f.Calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestFakeDaemonGoesDownAndComesUp(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		id := mustRun(t, f, app("a", "stubborn"))
		waiting := make(chan error, 1)
		go func() { waiting <- f.StopContainer(t.Context(), id, time.Hour) }()
		synctest.Wait()
		f.Down()
		_, listErr := f.ListContainers(t.Context(), nil)
		for _, err := range []error{listErr, <-waiting, f.WatchEvents(t.Context(), nil, func(dockertools.Event) { t.Error("a hint") })} {
			if !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("error %v, want a refused connection", err)
			}
		}
		f.Up()
		check(t, f, "a running 0")
		if list, err := f.ListContainers(t.Context(), nil); err != nil || len(list) != 1 {
			t.Errorf("list %+v, %v", list, err)
		}
	})
}

func TestFakeDaemonRestartEndsContainersAndStreams(t *testing.T) {
	for graceful, want := range map[bool][]string{
		true:  {"created created 0", "ended exited 3", "paused exited 7", "polite exited 7", "stubborn exited 137"},
		false: {"created created 0", "ended exited 3", "paused exited 255", "polite exited 255", "stubborn exited 255"},
	} {
		t.Run(fmt.Sprint("graceful ", graceful), func(t *testing.T) {
			inFake(t, func(t *testing.T, f *Fake) {
				f.CreateContainer(t.Context(), app("created"))
				mustRun(t, f, app("ended", "short"))
				mustRun(t, f, app("polite", "polite"))
				mustRun(t, f, app("stubborn", "stubborn"))
				if err := f.Pause(mustRun(t, f, app("paused", "polite"))); err != nil {
					t.Fatal(err)
				}
				broken := make(chan error, 1)
				go func() { broken <- f.WatchEvents(t.Context(), nil, func(dockertools.Event) {}) }()
				synctest.Wait()
				f.RestartDaemon(graceful)
				if err := <-broken; err == nil {
					t.Error("the event stream ended without an error")
				}
				check(t, f, want...)
				if _, err := f.Version(t.Context()); err != nil {
					t.Errorf("after the restart: %v", err)
				}
			})
		})
	}
}

func TestFakeEventsNameTheContainer(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		ended := make(chan error, 1)
		go func() { ended <- f.WatchEvents(ctx, nil, func(e dockertools.Event) { got = append(got, e.Name) }) }()
		synctest.Wait()
		a, b := mustRun(t, f, app("a")), mustRun(t, f, app("b", "short"))
		if err := errors.Join(f.Pause(a), f.RemoveContainer(t.Context(), a), f.RemoveContainer(t.Context(), b)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		// The stream stands; then start, death and removal of each.
		slices.Sort(got)
		if diff := cmp.Diff([]string{"", "a", "a", "a", "b", "b", "b"}, got); diff != "" {
			t.Errorf("hints (-want +got):\n%s", diff)
		}
	})
}

func TestFakeKnowsImagesByTheirFullName(t *testing.T) {
	f := NewFake()
	f.AddImage("app", nil)
	for image, want := range map[string]bool{
		"app": true, "app:latest": true, "docker.io/library/app": true, "app:2": false, "example.com/app": false, "Not An Image": false,
	} {
		if _, err := f.InspectImage(t.Context(), image); (err == nil) != want || err != nil && !errors.Is(err, dockertools.ErrNoSuchImage) {
			t.Errorf("%q: %v", image, err)
		}
	}
}

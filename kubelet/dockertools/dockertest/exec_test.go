package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

func TestFakeRunsCommandsAsTheProgramSays(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddImage("app", func(dockertools.ContainerSpec) Program {
			return Program{Exec: func(command []string) ExecOutcome {
				return ExecOutcome{Output: "ran " + command[0] + "\n", After: time.Minute, ExitCode: 3}
			}}
		})
		id := mustRun(t, f, app("a"))
		var out bytes.Buffer
		began := time.Now()
		code, err := f.Exec(t.Context(), id, []string{"date"}, &out)
		if err != nil || code != 3 || out.String() != "ran date\n" || time.Since(began) != time.Minute {
			t.Errorf("after %v: exit code %d, %v, output %q", time.Since(began), code, err, out.String())
		}

		// What a command has printed is there, also when nobody waits for its end.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out.Reset()
		if code, err := f.Exec(ctx, id, []string{"date"}, &out); !errors.Is(err, context.DeadlineExceeded) || code != 0 || out.String() != "ran date\n" {
			t.Errorf("given up: exit code %d, %v, output %q", code, err, out.String())
		}
		check(t, f, "a running 0")
	})
}

func TestFakeTellsWhetherACommandHasRun(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddImage("app", func(dockertools.ContainerSpec) Program {
			return Program{Exec: func([]string) ExecOutcome { return ExecOutcome{After: time.Hour} }}
		})
		id := mustRun(t, f, app("a"))
		for _, delay := range []time.Duration{0, time.Minute} {
			f.SetFault(func(Call) Fault { return Fault{Delay: delay} })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := f.Exec(ctx, id, []string{"date"}, &bytes.Buffer{})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || hasBegun(err) != (delay == 0) {
				t.Errorf("after a delay of %v: %v tells that it has run: %v", delay, err, hasBegun(err))
			}
		}
	})
}

func TestFakeCommandsEndWithTheirContainer(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddImage("app", func(dockertools.ContainerSpec) Program {
			return Program{Exits: true, After: time.Minute, Exec: func([]string) ExecOutcome { return ExecOutcome{After: time.Hour} }}
		})
		id := mustRun(t, f, app("a"))
		began := time.Now()
		if code, err := f.Exec(t.Context(), id, []string{"date"}, &bytes.Buffer{}); err != nil || code != 137 || time.Since(began) != time.Minute {
			t.Errorf("after %v: exit code %d, %v", time.Since(began), code, err)
		}
	})
}

func TestFakeProgramsSayWhyTheyEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		program Program
		end     func(f *Fake, id string) error
		want    string
	}{
		"at once":          {Program{Exits: true}, nil, "bye"},
		"later":            {Program{Exits: true, After: time.Minute}, nil, "bye"},
		"stopped":          {Program{}, func(f *Fake, id string) error { return f.StopContainer(context.Background(), id, time.Second) }, "bye"},
		"killed in a stop": {Program{IgnoreTerm: true}, func(f *Fake, id string) error { return f.StopContainer(context.Background(), id, time.Second) }, "before"},
		"killed":           {Program{}, func(f *Fake, id string) error { return f.Kill(id, 137) }, "before"},
		"of its own death": {Program{}, func(f *Fake, id string) error { return f.Kill(id, 1) }, "bye"},
		"without power":    {Program{}, func(f *Fake, _ string) error { f.RestartDaemon(false); return nil }, "before"},
	} {
		t.Run(name, func(t *testing.T) {
			inFake(t, func(t *testing.T, f *Fake) {
				tt.program.LastWords = "bye"
				f.AddImage("app", func(dockertools.ContainerSpec) Program { return tt.program })
				file := filepath.Join(t.TempDir(), "message")
				if err := os.WriteFile(file, []byte("before"), 0o666); err != nil {
					t.Fatal(err)
				}
				spec := app("a")
				spec.Mounts = []dockertools.Mount{{HostPath: file, ContainerPath: "/dev/termination-log"}}
				id := mustRun(t, f, spec)
				if tt.end != nil {
					if err := tt.end(f, id); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * time.Minute)
				if got, err := os.ReadFile(file); err != nil || string(got) != tt.want {
					t.Errorf("the message is %q, %v; want %q", got, err, tt.want)
				}
			})
		})
	}
}

// A mount holds the file itself: a new one of its name is another.
func TestFakeProgramsMakeNoFileOfTheirLastWords(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddImage("app", func(dockertools.ContainerSpec) Program { return Program{LastWords: "bye"} })
		file := filepath.Join(t.TempDir(), "message")
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		spec := app("a")
		spec.Mounts = []dockertools.Mount{{HostPath: file, ContainerPath: "/dev/termination-log"}}
		id := mustRun(t, f, spec)
		if err := errors.Join(os.Remove(file), f.StopContainer(t.Context(), id, time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("the file that was removed: %v", err)
		}
	})
}

func TestFakeKernelEndsProgramsThatUseTooMuchMemory(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		programs := []Program{{Exits: true, ExitCode: 137, OOMKilled: true}, {OOMKilled: true}}
		f.AddImage("app", func(dockertools.ContainerSpec) Program {
			p := programs[0]
			programs = programs[1:]
			return p
		})
		id := mustRun(t, f, app("a"))
		oomKilled := func(want bool) {
			t.Helper()
			if details, err := f.InspectContainer(t.Context(), id); err != nil || details.OOMKilled != want {
				t.Errorf("%+v, %v; want OOMKilled %v", details, err, want)
			}
		}
		oomKilled(true)
		if err := f.StartContainer(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		oomKilled(false)
		if err := f.StopContainer(t.Context(), id, time.Second); err != nil {
			t.Fatal(err)
		}
		oomKilled(false) // this time it was asked to end
	})
}

// Pulls, renames and commands change something: the caller can die after them.
func TestFakeStopsTheCallerAfterEachNewKindOfStep(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inFake(t, func(t *testing.T, f *Fake) {
				f.AddRemoteImage("web", RemoteImage{})
				mustRun(t, f, app("a"))
				stopped := false
				f.StopAfter(n, func() { stopped = true })
				_, execErr := f.Exec(t.Context(), "a", []string{"date"}, &bytes.Buffer{})
				pullErr := f.PullImage(t.Context(), "web", dockertools.Auth{}, noProgress)
				renameErr := f.RenameContainer(t.Context(), "a", "b")
				for i, err := range []error{execErr, pullErr, renameErr} {
					if (err == nil) != (i+1 < n) {
						t.Errorf("step %d: %v", i+1, err)
					}
				}
				if stopped != (n < 4) {
					t.Errorf("stopped is %v after three steps", stopped)
				}
				if n < 3 {
					check(t, f, "a running 0")
				} else {
					check(t, f, "b running 0")
				}
			})
		})
	}
}

func noProgress(dockertools.PullProgress) {}

// hasBegun reports whether an error of Exec is about a command that has run.
func hasBegun(err error) bool { return !errors.Is(err, dockertools.ErrExecNotStarted) }

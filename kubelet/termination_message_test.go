package kubelet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// ended runs a pod whose container runs program once, and returns how the container ended.
func (w *world) ended(program dockertest.Program, policy api.TerminationMessagePolicy) *api.ContainerStateTerminated {
	w.t.Helper()
	program.Exits = true
	w.program = func(string) dockertest.Program { return program }
	p := never(pod("job", "main"))
	p.Manifest.Containers[0].TerminationMessagePolicy = policy
	return w.run(p).terminated(w)
}

// terminated returns how the first container of the first pod ended.
func (k *kubelet) terminated(w *world) *api.ContainerStateTerminated {
	w.t.Helper()
	end := k.main(w).State.Terminated
	if end == nil {
		w.t.Fatalf("the container has not ended: %+v", k.main(w))
	}
	return end
}

func TestTerminationMessage(t *testing.T) {
	for _, test := range []struct {
		name    string
		program dockertest.Program
		want    string
		policy  api.TerminationMessagePolicy
	}{
		{"its message", dockertest.Program{LastWords: "bye\nbye"}, "bye\nbye", ""},
		{"its message, and not its log", dockertest.Program{ExitCode: 1, LastWords: "bye", Log: "line\n"}, "bye", ""},
		{"4 KiB of its message", dockertest.Program{LastWords: strings.Repeat("x", 4096) + "y"}, strings.Repeat("x", 4096), ""},
		{"what is not text", dockertest.Program{LastWords: "a\xff\xfe\x00b"}, "a\uFFFD\x00b", ""},
		{"a letter that 4 KiB cut in two", dockertest.Program{LastWords: strings.Repeat("x", 4095) + "é"}, strings.Repeat("x", 4095) + "\uFFFD", ""},
		{"the end of the log of one that failed",
			dockertest.Program{ExitCode: 1, Log: strings.Repeat("before\n", 5) + strings.Repeat("line\n", 10)}, strings.Repeat("line\n", 10), ""},
		{"4 KiB of the log", dockertest.Program{ExitCode: 1, Log: strings.Repeat("x", 4096) + "y\n"}, strings.Repeat("x", 4094) + "y\n", ""},
		{"no log of one that did not fail", dockertest.Program{Log: "line\n"}, "", ""},
		{"nothing", dockertest.Program{ExitCode: 1}, "", ""},
		{"the log by its policy", dockertest.Program{ExitCode: 1, Log: "line\n"}, "line\n", api.MessageFallbackToLogs},
		{"no log by its policy", dockertest.Program{ExitCode: 1, Log: "line\n"}, "", api.MessageFile},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				if got := w.ended(test.program, test.policy).Message; got != test.want {
					w.t.Errorf("its message is %q, want %q", got, test.want)
				}
			})
		})
	}
}

func TestOutOfMemoryThatDockerReportsLateAndALogThatCannotBeRead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.SetFault(on("Logs", dockertest.Fault{Before: errors.New("the log is not for reading")}))
		end := w.ended(dockertest.Program{After: time.Second, ExitCode: 137, OOMKilled: true, OOMIsLate: true, Log: "line\n"}, "")
		if end.ExitCode != 137 || end.Reason != api.ReasonOOMKilled || end.Message != "" {
			w.t.Errorf("it ended with %+v, want exit code 137, %s and no message", end, api.ReasonOOMKilled)
		}
	})
}

func TestTheLogIsReadOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{Exits: true, ExitCode: 1, Log: "line\n"} }
		for range 2 { // lives of a kubelet
			var n atomic.Int64
			w.docker.SetFault(when("Logs", func(dockertest.Call) dockertest.Fault {
				n.Add(1)
				return dockertest.Fault{}
			}, "_main."))
			k := w.start(never(pod("job", "main")))
			wait(time.Hour)
			if n := n.Load(); n != 1 {
				w.t.Errorf("the log was read %d times in an hour, want once", n)
			}
			k.end()
		}
	})
}

// Each attempt has a file of its own, which is removed with its container.
func TestTerminationFilesGoWithTheirContainers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program {
			return dockertest.Program{Exits: true, After: time.Hour, ExitCode: 1, LastWords: "bye"}
		}
		k := w.start(pod("web", "main"))
		time.Sleep(5 * time.Hour)
		settle()
		dir := filepath.Join(w.rootDir, "pods", "uid-web", "termination")
		var got []string
		entries, err := os.ReadDir(dir)
		for _, entry := range entries {
			text, _ := os.ReadFile(filepath.Join(dir, entry.Name()))
			got = append(got, entry.Name()+"="+string(text))
		}
		if want := "main.4=bye main.5=bye main.6="; strings.Join(got, " ") != want || err != nil {
			w.t.Errorf("with two dead containers and one that lives the files are %q (%v), want %q\n%s", got, err, want, w.describe())
		}
		k.set()
		settle()
		w.checkVolumes()
	})
}

// A person may start a dead container again, which may then end in another way.
func TestARestartByHandHasItsOwnMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		life := 0
		w.program = func(name string) dockertest.Program {
			if name != "main" {
				return dockertest.Program{}
			}
			life++
			words := []string{"", "first", "second"}[life]
			return dockertest.Program{Exits: life == 2, After: time.Minute, LastWords: words, Exec: func([]string) dockertest.ExecOutcome {
				return dockertest.ExecOutcome{ExitCode: 1}
			}}
		}
		k := w.run(never(probed(pod("job", "main", "side"), 20)))
		if got := k.terminated(w); got.Reason != api.ReasonUnhealthy {
			t.Errorf("first it ended with %+v", got)
		}
		k.set(never(probed(pod("job", "main", "side"), 3600))) // what there is is of an old form, and not probed any more
		synctest.Wait()
		w.byHand(dockertools.Interface.StartContainer, "k8s_main.")
		wait(2 * time.Minute)
		if got := k.terminated(w); got.Reason != api.ReasonCompleted || !strings.HasPrefix(got.Message, "second; the manifest was edited") {
			t.Errorf("then it ended with %+v", got)
		}
	})
}

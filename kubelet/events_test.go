package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestEventsOfAPod(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "main", After: time.Hour, ExitCode: 3}
		}
		k := w.start(pod("web", "main"))
		time.Sleep(time.Hour + time.Second)
		k.set()
		settle()
		var got []string
		for _, e := range k.kl.Events(0) {
			if e.Pod != "web.default.file" || e.Time.IsZero() {
				t.Errorf("event %+v, want one of the pod, with a time", e)
			}
			got = append(got, fmt.Sprintf("%s %s: %s", e.Container, e.Reason, e.Message))
		}
		slices.Sort(got[2:4]) // these are concurrent, and so are the removals
		slices.Sort(got[len(got)-3:])
		end, gone := "it ended with exit code 3", "its pod is no longer wanted"
		want := []string{
			" SET: its manifest was found",
			"net created: attempt 1: the pod has no network container yet",
			"main created: attempt 1: the pod has no such container yet",
			"net started: attempt 1: the pod has no network container yet",
			"main started: attempt 1: the pod has no such container yet",
			"main created: attempt 2: " + end, "main started: attempt 2: " + end,
			" SET: it is no longer wanted",
			"main killing: attempt 2: " + gone, "main stopped: attempt 2: " + gone,
			"net killing: attempt 1: " + gone, "net stopped: attempt 1: " + gone,
			"main removed: attempt 1: " + gone, "main removed: attempt 2: " + gone, "net removed: attempt 1: " + gone,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestEventsAreInTheLog: every event is in the log, and the event of a stop before the stop ends.
func TestEventsAreInTheLog(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program {
			begun := time.Now()
			return dockertest.Program{IgnoreTerm: true, Exec: func(command []string) dockertest.ExecOutcome {
				bad := command[0] == "bye" || command[0] == "check" && time.Since(begun) > time.Minute
				return map[bool]dockertest.ExecOutcome{true: {ExitCode: 1, Output: "no " + command[0]}}[bad]
			}}
		}
		program := func(dockertools.ContainerSpec) dockertest.Program { return w.program("main") }
		w.docker.AddRemoteImage("app:1", dockertest.RemoteImage{Program: program, Takes: time.Second})
		var all []api.Event
		text := w.logged("2", func() {
			k := w.start(ofImage(hooked(probed(pod("web", "main"), 1)), "app:1", ""))
			time.Sleep(3 * time.Minute)
			k.set()
			time.Sleep(5 * time.Second) // it is being stopped
			all = k.kl.Events(0)
			k.end()
		})
		for _, reason := range []string{"SET", "pulled", "created", "started", "postStart", "unhealthy", "killing", "preStop failed", "stopped"} {
			if !slices.ContainsFunc(all, func(e api.Event) bool { return e.Reason == reason }) {
				t.Errorf("there is no event %q", reason)
			}
		}
		for _, e := range all {
			_, why, _ := strings.Cut(e.Message, ": ") // an action is logged in other words
			if !strings.Contains(text, e.Message) && !strings.Contains(text, ": "+why+"\n") {
				t.Errorf("event %s of %s, %q, is not in the log", e.Reason, e.Container, e.Message)
			}
		}
		if !strings.Contains(text, `container "main": killing: attempt 3: its pod is no longer wanted`) {
			t.Errorf("a stop is not in the log before it ends\n%s", text)
		}
	})
}

// After the first attempt, only the message that has the time of the next one is logged.
func TestAFailedStartIsLoggedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{Missing: name == "main"} }
		text := w.logged("0", func() {
			k := w.start(pod("web", "main"))
			time.Sleep(5 * time.Minute)
			k.end()
		})
		failures, next := strings.Count(text, `container "main": could not start`), strings.Count(text, "times in a row, next start at")
		if next < 5 || failures > next+1 {
			t.Errorf("%d lines say that it could not start, %d of them when it is tried again:\n%s", failures, next, text)
		}
	})
}

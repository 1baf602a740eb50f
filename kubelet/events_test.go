package kubelet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

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
			time.Sleep(5 * time.Minute)
			k.set()
			time.Sleep(5 * time.Second) // it is being stopped
			all = k.kl.Events(0)
			k.end()
		})
		for _, reason := range []string{"SET", "pulled", "created", "started", "postStart", "unhealthy", "killing", "preStop failed", "stopped", "removed"} {
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
		if !strings.Contains(text, `container "main": killing: attempt 5: its pod is no longer wanted`) {
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

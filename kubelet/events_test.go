package kubelet

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestEventsKeepTheLastThousandInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 999, 1000, 1001, 2000, 3456} {
		var e events
		for i := range n {
			e.addQuietly("web", "main", "started", fmt.Sprint(i))
		}
		all, _ := e.after(0)
		if len(all) != min(n, 1000) {
			t.Fatalf("%d are kept of %d", len(all), n)
		}
		for i, event := range all {
			if want := fmt.Sprint(n - len(all) + i); event.Message != want {
				t.Fatalf("of %d, number %d is %s, want %s", n, i, event.Message, want)
			}
		}
	}
}

func TestEventsOfManyAtOnce(t *testing.T) {
	var e events
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for range 300 {
				e.add("web", fmt.Sprint(i), "started", "")
				e.after(0)
			}
		})
	}
	wg.Wait()
	if all, _ := e.after(0); len(all) != 1000 || !slices.IsSortedFunc(all, func(a, b api.Event) int { return a.Time.Compare(b.Time) }) {
		t.Errorf("%d are kept, want 1000, in the order of their times", len(all))
	}
}

// Whoever is given the events may not change what is remembered.
func TestEventsAreCopied(t *testing.T) {
	var e events
	e.addQuietly("web", "main", "started", "as it was")
	first, _ := e.after(0)
	first[0].Message = "changed"
	if again, _ := e.after(0); again[0].Message != "as it was" {
		t.Errorf("the event is %q", again[0].Message)
	}
}

// isClosed says of a channel that nothing is sent on whether it is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestEventsAfter(t *testing.T) {
	var e events
	if newer, more := e.after(7); len(newer) > 0 || isClosed(more) {
		t.Errorf("before the first there are %v", newer)
	}
	for i := range 1500 {
		_, more := e.after(uint64(i))
		e.addQuietly("web", "main", "started", "")
		if !isClosed(more) {
			t.Fatalf("nobody was told of event %d", i+1)
		}
	}
	for after, want := range map[uint64]int{0: 1000, 499: 1000, 500: 1000, 501: 999, 1499: 1, 1500: 0, 9999: 0} {
		newer, more := e.after(after)
		if len(newer) != want || len(newer) > 0 && newer[len(newer)-1].Seq != 1500 || isClosed(more) {
			t.Errorf("after %d there are %d, want %d, the last of them 1500", after, len(newer), want)
		}
	}
}

func eventsOf(k *kubelet) []api.Event {
	all, _ := k.kl.Events(0)
	return all
}

func TestEventsTellAPodsLife(t *testing.T) {
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
		for _, e := range eventsOf(k) {
			if e.Pod != "web.default.file" || e.Time.IsZero() {
				t.Errorf("event %+v, want one of the pod, with a time", e)
			}
			got = append(got, fmt.Sprintf("%s %s: %s", e.Container, e.Reason, e.Message))
		}
		slices.Sort(got[2:4]) // these are done side by side, and so are the removals
		slices.Sort(got[len(got)-3:])
		end, gone := "it ended with exit code 3", "its pod is no longer wanted"
		want := []string{
			" SET: it is wanted from now on",
			"net created: attempt 1: the pod has no network container",
			"main created: attempt 1: the pod has no such container yet",
			"net started: attempt 1: the pod's network container does not run",
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

// logged is what is logged at a level while do runs.
func (w *world) logged(level string, do func()) string {
	w.t.Helper()
	file, err := os.Create(filepath.Join(w.t.TempDir(), "log"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	stderr, v := os.Stderr, flag.Lookup("v").Value.String()
	defer func() { os.Stderr = stderr; flag.Set("v", v) }()
	os.Stderr = file
	flag.Set("v", level)
	do()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// A pod of which much is told has each of its events in the log, and that of a stop before
// the stop is over.
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
		var told []api.Event
		text := w.logged("2", func() {
			k := w.start(ofImage(hooked(probed(pod("web", "main"), 1)), "app:1", ""))
			time.Sleep(3 * time.Minute)
			k.set()
			time.Sleep(5 * time.Second) // it is being stopped
			told = eventsOf(k)
		})
		for _, reason := range []string{"SET", "pulled", "created", "started", "postStart", "unhealthy", "killing", "preStop failed", "stopped"} {
			if !slices.ContainsFunc(told, func(e api.Event) bool { return e.Reason == reason }) {
				t.Errorf("there is no event %q", reason)
			}
		}
		for _, e := range told {
			// One that is carried out is told in the words of the log.
			_, why, _ := strings.Cut(e.Message, ": ")
			if n := strings.Count(text, e.Message) + strings.Count(text, ": "+why+"\n"); n == 0 {
				t.Errorf("event %s of %s, %q, is not in the log", e.Reason, e.Container, e.Message)
			}
		}
		if !strings.Contains(text, `container "main": killing: attempt 3: its pod is no longer wanted`) {
			t.Errorf("that it is being stopped is not in the log before it has\n%s", text)
		}
	})
}

// A container whose postStart has failed is killed as any other is, and the events say so.
func TestEventsTellOfAKillForAHookThatFailed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome {
			return dockertest.ExecOutcome{ExitCode: 3, Output: "no database"}
		})
		p := hooked(pod("web", "main"))
		p.Manifest.RestartPolicy = api.RestartPolicy{Never: &api.RestartPolicyNever{}}
		k := w.start(p)
		settle()
		killing := slices.DeleteFunc(eventsOf(k), func(e api.Event) bool { return e.Reason != "killing" || e.Container != "main" })
		if len(killing) != 1 || !strings.Contains(killing[0].Message, "its postStart hook failed") || !strings.Contains(killing[0].Message, "no database") {
			t.Errorf("the events have %+v", killing)
		}
	})
}

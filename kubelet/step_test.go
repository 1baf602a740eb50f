package kubelet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
)

// person is at the terminal of a kubelet that asks before it acts.
type person struct {
	w    *world
	in   *io.PipeWriter
	left bool // the kubelet reads no more

	mu  sync.Mutex
	out bytes.Buffer // guarded by mu; what was printed and not read yet
}

func (p *person) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(text)
}

// atTerminal starts a kubelet with a person at its terminal.
func atTerminal(w *world, pods ...api.Pod) (*person, *kubelet) {
	p := &person{w: w}
	s := &step.Stepper{Out: p}
	w.options = func(opts *Options) { opts.Step = s }
	k := w.run(pods...)
	in, out := io.Pipe()
	p.in = out
	var reading sync.WaitGroup
	reading.Go(func() {
		s.Read(in)
		p.left = true
	})
	w.t.Cleanup(func() {
		out.Close()
		reading.Wait()
	})
	return p, k
}

// enters types a line, and checks the live containers.
func (p *person) enters(line string, live ...string) {
	p.w.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.w.t.Fatal(err)
	}
	p.w.settle("after "+line, live...)
}

// reads checks that the text printed since the last call has these parts, in this order; without parts, that there is
// none.
func (p *person) reads(parts ...string) {
	p.w.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.out.String()
	p.out.Reset()
	if rest := text; len(parts) > 0 {
		for _, part := range parts {
			_, after, found := strings.Cut(rest, part)
			if rest = after; !found {
				p.w.t.Errorf("%q is not, or not in its place, in\n%s", part, text)
			}
		}
	} else if text != "" {
		p.w.t.Errorf("printed without a reason:\n%s", text)
	}
	if strings.Contains(text, "s3cret") {
		p.w.t.Errorf("a value is shown:\n%s", text)
	}
}

func TestStep(t *testing.T) {
	inWorld(t, func(w *world) {
		p, k := atTerminal(w, pod("a", "main"), pod("b", "main"))
		w.check("before anybody has said a word")
		p.reads("pod a.default.file (a.yaml)", "≠ net", "runs", "nothing", "≠ main", "nothing", "step 1", "create net", "step 2", "create main", "Enter: do a. 1:",
			"pod b.default.file (b.yaml)", "Enter: do a; b waits too. 1:")
		for _, status := range k.statuses(w) {
			if status.Reason != api.ReasonWaitsForStep || status.Phase != api.PodPending {
				t.Errorf("%s is %s for %s, want pending for WaitsForStep", status.Name, status.Phase, status.Reason)
			}
		}

		p.enters("1")
		p.reads("pod a.default.file", "≠ net", "attempt 1 is created", "step 1", "start net")
		p.enters("", "a/main", "a/net")
		p.reads("pod a.default.file: nothing to do now", "Enter: do b. 1:")
		p.enters("c", "a/main", "a/net")
		p.reads(`"c" is none of the pods that wait: b.default.file`)
		p.enters("b"+strings.Repeat(" ", 1<<20), "a/main", "a/net")
		p.enters(strings.Repeat(" ", 1<<20), "a/main", "a/net")
		p.reads(`"b…" is none of the pods that wait`, `"…" is none of the pods that wait`)
		p.enters("b", "a/main", "a/net", "b/main", "b/net")
		p.enters("", "a/main", "a/net", "b/main", "b/net")
		p.reads("no pod waits")

		k.set(pod("a", "main:s3cret"), pod("b", "main"))
		w.settle("an edit waits", "a/main", "a/net", "b/main", "b/net")
		p.reads("= net", "attempt 1 is running", "≠ main", "attempt 1 is running, of another version", "edited", "main: env TAG changed",
			"create main (attempt 2)", "stop main (attempt 1)", "start main (attempt 2)")
		w.kill("b", "main", 3)
		w.settle("a crash waits, too", "a/main", "a/net", "b/net")
		p.reads("pod b.default.file", "≠ main", "attempt 1 ended with exit code 3", "create main (attempt 2)")
		k.set(pod("a", "main:again", "side"), pod("b", "main"))
		w.settle("another edit before the first was carried out", "a/main", "a/net", "b/net")
		p.reads("pod a.default.file", "edited", "main: env TAG changed", "edited", "container side added")
		p.enters("b.default.file", "a/main", "a/net", "b/main", "b/net")
		p.enters("", "a/main:again", "a/net", "a/side", "b/main", "b/net")
		p.reads("pod b.default.file: nothing to do now", "pod a.default.file: nothing to do now")
		w.kill("a", "net", 9)
		settle()
		p.reads("≠ side", "attempt 1 is running\n  step 1", "create net (attempt 2)")
		p.enters("", "a/main:again", "a/net", "a/side", "b/main", "b/net")

		k.set(pod("a", "main", "side"), pod("b", "main"))
		settle()
		k.set(pod("a", "main:again", "side"), pod("b", "main"))
		settle()
		p.enters("", "a/main:again", "a/net", "a/side", "b/main", "b/net")
		p.reads("edited", "pod a.default.file: nothing to do now", "no pod waits") // the edit was undone

		p.enters("a", "a/main:again", "a/net", "a/side", "b/main", "b/net")
		k.set(pod("b", "main"))
		w.settle("all are carried out", "b/main", "b/net")
		p.reads()
		p.enters("s", "b/main", "b/net")
		k.set()
		w.settle("and now none", "b/main", "b/net")
		p.reads("≠ main", "nothing", "attempt 2 is running", "stop main (attempt 2)", "stop net")
		p.enters("q", "b/main", "b/net")
		if !p.left {
			t.Error("the kubelet reads on after q")
		}
	})
}

// TestStepsAreAllowedOnce lets an allowed start fail: the next try has to be allowed again, and so do the plans of a
// restarted kubelet.
func TestStepsAreAllowedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		p, k := atTerminal(w, ofImage(pod("a", "main"), "no-such-image:1", api.PullNever))
		p.enters("", "a/net")
		p.reads("create net", "pod a.default.file", "= net", "≠ main", "create main")
		calls := w.docker.Calls()["CreateContainer"]
		settle()
		w.checkCalls("CreateContainer", calls)
		p.enters("", "a/net")
		p.reads("≠ main")
		k.end()
		again, _ := atTerminal(w, pod("a", "main"))
		w.check("after a restart of the kubelet", "a/net")
		again.reads("pod a.default.file", "≠ main", "create main")
		again.in.Close() // as at the end of a script
		settle()
		if !again.left {
			t.Error("the kubelet reads on after the end of its input")
		}
	})
}

// While its image is pulled, an allowed step stays allowed, but no other step and no edit.
func TestStepWhileAnImageIsPulled(t *testing.T) {
	inWorld(t, func(w *world) {
		images := map[string]api.Pod{}
		for _, image := range []string{"first:1", "second:1", "third:1", "gone:1"} {
			images[image] = ofImage(pod("a", "main"), image, "")
			if image != "gone:1" {
				w.docker.AddRemoteImage(image, dockertest.RemoteImage{Takes: 90 * time.Second})
			}
		}
		p, k := atTerminal(w, images["first:1"])
		p.reads("create main")
		p.enters("", "a/net")
		p.reads()
		w.after(time.Minute, "its image is there", "a/main", "a/net")
		p.reads("nothing to do now")

		k.set(images["second:1"])
		settle()
		p.enters("1", "a/main", "a/net")
		p.reads("create main (attempt 2)", "stop main (attempt 1)")
		w.after(time.Minute, "the first step is carried out", "a/main", "a/net")
		p.reads("attempt 1 is running, of another version; attempt 2 is created", "stop main (attempt 1)")
		p.enters("", "a/main", "a/net")

		k.set(images["third:1"])
		settle()
		p.enters("", "a/main", "a/net")
		running := w.id("a", "main")
		k.set(images["gone:1"])
		w.after(2*time.Minute, "an edit while the image is pulled", "a/main", "a/net")
		w.checkID("a", "main", running, true)
		p.enters("", "a/main", "a/net")
		pulls := w.docker.Calls()["PullImage"]
		w.after(time.Hour, "the pull has failed", "a/main", "a/net")
		w.checkCalls("PullImage", pulls)
	})
}

// A person who does not read delays nothing, and unread text takes little memory.
func TestStepWhileNobodyReads(t *testing.T) {
	inWorld(t, func(w *world) {
		reader, out := io.Pipe()
		s := &step.Stepper{Out: out}
		w.options = func(opts *Options) { opts.Step = s }
		k := w.run(pod("a", "main"), pod("b", "main"))
		s.Allow(s.Waiting()[1], math.MaxInt)
		w.settle("a client of the server allows a plan", "b/main", "b/net")
		k.set(pod("a", "main"))
		settle()
		if n := len(s.Waiting()); n != 2 {
			t.Errorf("%d pods wait, want 2", n)
		}
		k.end()

		const plans = 4000
		s.Compare = func(*status.Pod) ([]trace.Row, []string) {
			return []trace.Row{{Container: strings.Repeat("x", 1000)}}, nil
		}
		for i := range plans {
			s.Ask(step.Plan{Pod: &status.Pod{Name: fmt.Sprintf("pod%d.default.file", i)}, ID: "plan"})
		}
		var text strings.Builder
		go io.Copy(&text, reader)
		synctest.Wait()
		reader.Close()
		for i, want := range map[int]bool{0: false, plans - 1: true} {
			if strings.Contains(text.String(), fmt.Sprintf("pod pod%d.", i)) != want {
				t.Errorf("plan %d is printed: %v", i, !want)
			}
		}
		if !strings.Contains(text.String(), "is lost") || text.Len() > 2<<20 {
			t.Errorf("%d unread plans leave %d bytes", plans, text.Len())
		}
	})
}

// A client can allow only the plan that it has seen, and only once.
func TestStepByTicket(t *testing.T) {
	inWorld(t, func(w *world) {
		s := &step.Stepper{Out: io.Discard}
		w.options = func(opts *Options) { opts.Step = s }
		k := w.run(pod("a", "main"))
		first := s.Waiting()
		if len(first) != 1 || first[0].Pod != "a.default.file" || s.Allow(step.Waiting{Pod: "a.default.file"}, 1) || !s.Allow(first[0], 1) {
			t.Fatalf("%+v waits", first)
		}
		w.settle("the first step of the plan is carried out")
		second := s.Waiting()
		if s.Allow(first[0], 1) || len(second) != 1 || second[0] == first[0] {
			t.Errorf("after %+v was allowed, %+v waits", first, second)
		}
		k.set(pod("a", "main:other"))
		settle()
		if s.Allow(second[0], math.MaxInt) {
			t.Error("a plan that nobody has seen was allowed")
		}
		if !s.Allow(s.Waiting()[0], math.MaxInt) || len(s.Waiting()) > 0 {
			t.Errorf("an allowed plan waits: %+v", s.Waiting())
		}
		w.settle("all is done", "a/main:other", "a/net")
	})
}

// An edited pod may have the memory address of an earlier one, but its plan has another id.
func TestAPlanHasTheIDOfItsVersion(t *testing.T) {
	p, seen := podRecord{}, map[string]bool{}
	for range 10000 {
		p.desire(&plan.Pod{})
		if seen[p.planID()] {
			t.Fatalf("%q was the id of another plan", p.planID())
		}
		seen[p.planID()] = true
	}
}

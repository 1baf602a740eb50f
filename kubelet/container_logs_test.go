package kubelet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

var (
	allOfLog    = api.LogOptions{Tail: -1, Stdout: true, Stderr: true}
	previousLog = api.LogOptions{Tail: -1, Stdout: true, Stderr: true, Previous: true}
)

// countingProgram prints the number of the run twice at each start.
func (w *world) countingProgram(program dockertest.Program) {
	runs := 0
	w.program = func(name string) dockertest.Program {
		runs++
		p := program
		p.Log = fmt.Sprintf("run %d\nrun %d\n", runs, runs)
		return p
	}
}

func (w *world) print(stderr bool, text string) {
	w.t.Helper()
	w.must(w.docker.Print(w.id("web", "main"), stderr, text))
}

func TestLogsAreThoseOfTheAttemptAndPartAskedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.countingProgram(dockertest.Program{})
		w.docker.SetFault(on("CreateContainer", dockertest.Fault{Before: errors.New("no space left on device")}, "k8s_late"))
		k := w.run(pod("web", "main", "late"))
		for _, test := range []struct {
			pod, container string
			opts           api.LogOptions
		}{
			{"no.default.file", "main", allOfLog},
			{"web.default.file", "no", allOfLog},
			{"web.default.file", "late", allOfLog},
			{"web.default.file", "main", previousLog},
		} {
			var out strings.Builder
			err := k.kl.ContainerLogs(w.t.Context(), test.pod, test.container, test.opts, &out)
			if !errors.Is(err, api.ErrNotFound) || out.Len() > 0 {
				w.t.Errorf("%s of %s: %v, and %q", test.container, test.pod, err, out.String())
			}
		}
		w.kill("web", "main", 137)
		settle()
		began := time.Now().UTC()
		w.print(true, "on stderr\n")
		stamped := began.Format("2006-01-02T15:04:05.000000000Z") + " on stderr\n"
		for name, test := range map[string]struct {
			opts api.LogOptions
			want string
		}{
			"all":          {allOfLog, "run 2\nrun 2\non stderr\n"},
			"two lines":    {api.LogOptions{Tail: 2, Stdout: true, Stderr: true}, "run 2\non stderr\n"},
			"no line":      {api.LogOptions{Stdout: true, Stderr: true}, ""},
			"stdout":       {api.LogOptions{Tail: -1, Stdout: true}, "run 2\nrun 2\n"},
			"stderr":       {api.LogOptions{Tail: -1, Stderr: true}, "on stderr\n"},
			"with times":   {api.LogOptions{Tail: 1, Stdout: true, Stderr: true, Timestamps: true}, stamped},
			"since":        {api.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: began}, "on stderr\n"},
			"the previous": {previousLog, "run 1\nrun 1\n"},
		} {
			var got strings.Builder
			err := k.kl.ContainerLogs(w.t.Context(), "web.default.file", "main", test.opts, &got)
			if got.String() != test.want || err != nil {
				w.t.Errorf("%s: %q, %v; want %q", name, got.String(), err, test.want)
			}
		}
	})
}

// logFollower is a client that follows the log of container main of pod web.
type logFollower struct {
	t    *testing.T
	stop func() // goes away
	over chan struct{}
	err  error

	mu   sync.Mutex
	text string
	full error         // returned by Write, if not nil
	busy chan struct{} // Write waits until it is closed, if not nil
}

func (f *logFollower) Write(line []byte) (int, error) {
	if f.busy != nil {
		<-f.busy
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full != nil {
		return 0, f.full
	}
	if n := strings.Count(string(line), "\n"); n != 1 {
		f.t.Errorf("one Write has %d lines: %q", n, line)
	}
	f.text += string(line)
	return len(line), nil
}

func (k *kubelet) follow(w *world, opts api.LogOptions) *logFollower {
	return k.followBusy(w, opts, nil)
}

func (k *kubelet) followBusy(w *world, opts api.LogOptions, busy chan struct{}) *logFollower {
	ctx, cancel := context.WithCancel(w.t.Context())
	f := &logFollower{t: w.t, stop: cancel, over: make(chan struct{}), busy: busy}
	opts.Follow = true
	go func() {
		defer close(f.over)
		f.err = k.kl.ContainerLogs(ctx, "web.default.file", "main", opts, f)
	}()
	synctest.Wait()
	return f
}

// check compares what the client has got, and whether it still follows.
func (f *logFollower) check(when, want string, goesOn bool) {
	f.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	over := false
	select {
	case <-f.over:
		over = true
	default:
	}
	if f.text != want || over == goesOn || over && f.err != nil {
		f.t.Errorf("%s the client has %q, over: %v, %v; want %q, over: %v", when, f.text, over, f.err, want, !goesOn)
	}
}

// end makes the client go away, which is no error.
func (f *logFollower) end() {
	f.t.Helper()
	f.stop()
	<-f.over
	if f.err != nil {
		f.t.Errorf("after the client has gone away: %v, want no error", f.err)
	}
}

// A client that stops reading for a while delays no other client, and misses no attempt that Docker still has.
func TestFollowingGoesOnWithTheNextAttempts(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.MaxDeadContainers = 10 }
		w.countingProgram(dockertest.Program{})
		k := w.run(pod("web", "main"))
		tail := api.LogOptions{Tail: 1, Stdout: true, Stderr: true}
		busy := make(chan struct{})
		slow, quick, end := k.followBusy(w, allOfLog, busy), k.follow(w, allOfLog), k.follow(w, tail)
		w.print(false, "one\ntwo\n")
		end.check("as it prints", "run 1\none\ntwo\n", true)
		w.print(false, "last\n")
		want := "run 1\none\ntwo\nlast\n"
		for run := 2; run < 6; run++ { // the back-off is longer each time
			w.kill("web", "main", 137)
			settle()
			want += fmt.Sprintf("run %d\nrun %d\n", run, run)
			quick.check("while another does not read", "run 1\n"+want, true)
		}
		slow.check("while it does not read", "", true)
		close(busy)
		settle()
		slow.check("when it reads again", "run 1\n"+want, true)
		end.check("from its last line on", want, true)
		for _, f := range []*logFollower{slow, quick, end} {
			f.end()
		}
	})
}

func TestFollowingOutlivesDocker(t *testing.T) {
	for name, breaks := range map[string]func(w *world){
		"a restart":        func(w *world) { w.docker.RestartDaemon(true) },
		"a loss of power":  func(w *world) { w.docker.RestartDaemon(false) },
		"containers live":  func(w *world) { w.docker.Down(); time.Sleep(time.Minute); w.docker.Up() },
		"a docker restart": func(w *world) { w.docker.Restart(w.id("web", "main")) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.countingProgram(dockertest.Program{})
				k := w.run(pod("web", "main"))
				f := k.follow(w, allOfLog)
				w.print(false, "one\none\n") // two of the same moment
				f.check("before", "run 1\nrun 1\none\none\n", true)
				breaks(w)
				settle()
				w.print(false, "two\n")
				want := "run 1\nrun 1\none\none\nrun 2\nrun 2\ntwo\n"
				if name == "containers live" {
					want = "run 1\nrun 1\none\none\ntwo\n"
				}
				f.check("after", want, true)
				f.end()
			})
		})
	}
}

func TestFollowingWaitsForTheCreation(t *testing.T) {
	inWorld(t, func(w *world) {
		w.countingProgram(dockertest.Program{})
		w.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: time.Hour}, "k8s_main"))
		k := w.run(pod("web", "main"))
		f := k.follow(w, allOfLog)
		settle()
		f.check("before the creation", "", true)
		time.Sleep(time.Hour)
		settle()
		f.check("after the start", "run 1\nrun 1\n", true)
		f.end()
	})
}

func TestFollowingEnds(t *testing.T) {
	web := pod("web", "main")
	for name, test := range map[string]struct {
		pod  api.Pod
		end  func(w *world, k *kubelet)
		want string
	}{
		"the pod is removed":                {web, func(w *world, k *kubelet) { k.set() }, "bye\n"},
		"the container is no longer wanted": {web, func(w *world, k *kubelet) { k.set(pod("web", "other")) }, "bye\n"},
		"it has succeeded":                  {onFailure(web), func(w *world, k *kubelet) { w.kill("web", "main", 0) }, ""},
		"it never runs again":               {never(web), func(w *world, k *kubelet) { w.kill("web", "main", 137) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.options = func(o *Options) { o.MaxDeadContainers = 0 }
				w.countingProgram(dockertest.Program{StopLog: "bye\n"})
				k := w.run(test.pod)
				f := k.follow(w, allOfLog)
				f.check("before", "run 1\nrun 1\n", true)
				test.end(w, k)
				settle()
				f.check("after", "run 1\nrun 1\n"+test.want, false)
			})
		})
	}
}

// A person stops a container and starts it again before the kubelet has created the next attempt.
func TestFollowingSeesAStartByHand(t *testing.T) {
	for _, tail := range []int{-1, 0, 1} {
		inWorld(t, func(w *world) {
			runs := 0
			w.program = func(string) dockertest.Program {
				runs++
				return dockertest.Program{Log: strings.Repeat("line\n", 2*(runs-1))}
			}
			k := w.run(pod("web", "main"))
			f := k.follow(w, api.LogOptions{Tail: tail, Stdout: true, Stderr: true})
			w.docker.SetFault(on("CreateContainer", dockertest.Fault{Before: errors.New("no space left on device")}))
			id := w.id("web", "main")
			w.must(w.docker.ByHand().StopContainer(w.t.Context(), id, time.Second))
			settle()
			w.must(w.docker.ByHand().StartContainer(w.t.Context(), id))
			settle()
			f.check(fmt.Sprintf("from the last %d lines on", tail), "line\nline\n", true)
			f.end()
		})
	}
}

// cutShort is a Docker that withholds the last line of a log from a client that follows it to the end of the container.
type cutShort struct{ *dockertest.Fake }

func (d cutShort) Logs(ctx context.Context, id string, opts dockertools.LogOptions, each func(dockertools.LogLine) error) error {
	return d.Fake.Logs(ctx, id, opts, func(line dockertools.LogLine) error {
		if details, err := d.ByHand().InspectContainer(ctx, id); err == nil && details.State.Live() && string(line.Text) == "last\n" {
			return nil
		}
		return each(line)
	})
}

func TestFollowingALifeByHandGoesToItsEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.Docker = cutShort{w.docker} }
		k := w.run(pod("web", "main"))
		f := k.follow(w, allOfLog)
		defer f.end()
		w.docker.SetFault(on("CreateContainer", dockertest.Fault{Before: errors.New("no space left on device")}))
		id := w.id("web", "main")
		for _, life := range []string{"first", "second"} {
			w.print(false, life+"\n")
			synctest.Wait()
			w.print(false, "last\n")
			synctest.Wait()
			w.kill("web", "main", 137)
			settle()
			w.must(w.docker.ByHand().StartContainer(w.t.Context(), id))
			settle()
		}
		f.check("after two lives", "first\nlast\nsecond\nlast\n", true)
	})
}

func TestFollowingReturnsPermanentErrors(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		f := k.follow(w, allOfLog)
		f.mu.Lock()
		f.full = errors.New("the client takes no more")
		f.mu.Unlock()
		w.print(false, "line\n")
		w.docker.SetFault(on("Logs", dockertest.Fault{Before: dockertools.ErrLogNotKept}))
		notKept := k.follow(w, allOfLog)
		for f, want := range map[*logFollower]error{f: f.full, notKept: dockertools.ErrLogNotKept} {
			if <-f.over; !errors.Is(f.err, want) {
				t.Errorf("it ended with %v, want %v", f.err, want)
			}
		}
	})
}

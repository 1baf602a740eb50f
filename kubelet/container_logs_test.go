package kubelet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

var allOfLog = api.LogOptions{Tail: -1, Stdout: true, Stderr: true}

// logs returns the log of container main of pod web.
func (k *kubelet) logs(opts api.LogOptions) (string, error) {
	var text strings.Builder
	err := k.kl.ContainerLogs(context.Background(), "web.default.file", "main", opts, &text)
	return text.String(), err
}

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
		k := w.run(pod("web", "main"))
		w.kill("web", "main", 137)
		settle()
		began := time.Now().UTC()
		w.print(true, "on stderr\n")
		with := func(change func(*api.LogOptions)) api.LogOptions {
			opts := allOfLog
			change(&opts)
			return opts
		}
		stamped := began.Format("2006-01-02T15:04:05.000000000Z") + " on stderr\n"
		for name, test := range map[string]struct {
			opts api.LogOptions
			want string
		}{
			"all":          {allOfLog, "run 2\nrun 2\non stderr\n"},
			"two lines":    {with(func(o *api.LogOptions) { o.Tail = 2 }), "run 2\non stderr\n"},
			"no line":      {with(func(o *api.LogOptions) { o.Tail = 0 }), ""},
			"stdout":       {with(func(o *api.LogOptions) { o.Stderr = false }), "run 2\nrun 2\n"},
			"stderr":       {with(func(o *api.LogOptions) { o.Stdout = false }), "on stderr\n"},
			"with times":   {with(func(o *api.LogOptions) { o.Tail, o.Timestamps = 1, true }), stamped},
			"the previous": {with(func(o *api.LogOptions) { o.Previous = true }), "run 1\nrun 1\n"},
		} {
			if got, err := k.logs(test.opts); got != test.want || err != nil {
				w.t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
			}
		}
	})
}

func TestLogsThatAreNotThere(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if strings.Contains(c.Container, "k8s_late") {
				return dockertest.Fault{Before: errors.New("no space left on device")}
			}
			return dockertest.Fault{}
		})
		k := w.run(pod("web", "main", "late"))
		previous := allOfLog
		previous.Previous = true
		for _, test := range []struct {
			pod, container string
			opts           api.LogOptions
		}{
			{"no.default.file", "main", allOfLog},
			{"web.default.file", "no", allOfLog},
			{"web.default.file", "late", allOfLog},
			{"web.default.file", "main", previous},
		} {
			var out strings.Builder
			err := k.kl.ContainerLogs(w.t.Context(), test.pod, test.container, test.opts, &out)
			if !errors.Is(err, api.ErrNotFound) || out.Len() > 0 {
				w.t.Errorf("%s of %s: %v, and %q", test.container, test.pod, err, out.String())
			}
		}
		if _, err := k.logs(allOfLog); err != nil {
			w.t.Errorf("the container that is there: %v", err)
		}
	})
}

// Before the first sync it is not known which pods there are.
func TestLogsBeforeTheFirstSync(t *testing.T) {
	inWorld(t, func(w *world) {
		kl, closeRoot := w.newKubelet()
		defer closeRoot()
		err := kl.ContainerLogs(w.t.Context(), "web.default.file", "main", allOfLog, &strings.Builder{})
		if err == nil || errors.Is(err, api.ErrNotFound) {
			w.t.Errorf("got %v, want that it is not known", err)
		}
	})
}

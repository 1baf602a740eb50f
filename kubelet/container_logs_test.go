package kubelet

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
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
		k := w.run(pod("web", "main"))
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

func TestLogsThatAreNotThere(t *testing.T) {
	inWorld(t, func(w *world) {
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
	})
}

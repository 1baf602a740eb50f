package kubelet

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestCommandsAndStatsOfAContainer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome {
			return dockertest.ExecOutcome{Output: "ran\n", After: time.Hour, ExitCode: 3}
		})
		p := pod("web", "main")
		p.Manifest.Containers[0].Memory, p.Manifest.Containers[0].CPU = 64<<20, 500
		k := w.run(p)
		created := time.Now()
		w.kill("web", "main", 137)
		wait(100 * time.Second)
		got, err := k.kl.ContainerStats(w.t.Context(), "web.default.file", "main")
		w.must(err)
		want := api.ContainerStats{
			Time:   time.Now(),
			CPU:    api.CPUStats{Total: 1e8, User: 75e6, System: 25e6, PerCPU: []uint64{1e8}},
			Memory: api.MemoryStats{Usage: 3 << 20, WorkingSet: 2 << 20},
			// The network is older than the container.
			Network:   api.NetworkStats{RxPackets: 160, RxBytes: 16000},
			CPUShares: 512, MemoryLimit: 64 << 20, Created: created.Truncate(time.Second), Image: "hello:1", ID: w.id("web", "main"), Name: got.Name,
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(got.Name, "k8s_main.") {
			w.t.Errorf("(-want +got):\n%s", diff)
		}

		var out strings.Builder
		code, err := k.kl.RunInContainer(w.t.Context(), "web.default.file", "main", []string{"date"}, api.Streams{Stdout: &out, Stderr: &out})
		if code != 3 || err != nil || out.String() != "ran\n" {
			w.t.Errorf("exit code %d, %v, output %q", code, err, out.String())
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		_, err = k.kl.RunInContainer(ctx, "web.default.file", "main", []string{"date"}, api.Streams{Stdout: &out, Stderr: &out})
		if n, _ := w.docker.Commands(w.id("web", "main")); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
			w.t.Errorf("after the time limit of the caller: %v, and %d commands go on", err, n)
		}
	})
}

func TestRunInAContainerThatDoesNotRun(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "done"} }
		k := w.run(onFailure(pod("web", "main", "done", "paused")))
		w.must(w.docker.Pause(w.id("web", "paused")))
		ask := func(podFullName, name string) (errs []error) {
			_, runErr := k.kl.RunInContainer(w.t.Context(), podFullName, name, []string{"date"}, api.Streams{Stdout: io.Discard, Stderr: io.Discard})
			_, statsErr := k.kl.ContainerStats(w.t.Context(), podFullName, name)
			return []error{runErr, statsErr}
		}
		settle()
		for _, test := range []struct{ pod, container, message string }{
			{"no.default.file", "main", "there is no pod no.default.file"},
			{"web.default.file", "no", `no container "no"`},
			{"web.default.file", "done", "does not run"},
			{"web.default.file", "paused", "docker unpause"},
		} {
			for _, err := range ask(test.pod, test.container) {
				if !errors.Is(err, api.ErrNotFound) || !strings.Contains(err.Error(), test.message) {
					w.t.Errorf("%s of %s: %v, want %q", test.container, test.pod, err, test.message)
				}
			}
		}
		// The container ends just before the request to Docker, when the kubelet cannot know it.
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "Exec" || c.Method == "Stats" {
				w.docker.Kill(c.Container, 137)
			}
			return dockertest.Fault{}
		})
		for range 2 {
			for _, err := range ask("web.default.file", "main") {
				if !errors.Is(err, api.ErrNotFound) {
					w.t.Errorf("a container that ends meanwhile: %v", err)
				}
			}
			settle()
		}
	})
}

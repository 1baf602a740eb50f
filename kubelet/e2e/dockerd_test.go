package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIntegrationKubeletBeforeDocker(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	d.start()
	d.makeImage()
	d.end("TERM")

	h := newHostOn(t, d.endpoint)
	h.write("pod.yaml", twoContainers)
	p := h.start()
	p.says("waiting for Docker", "cannot reach Docker at "+d.endpoint)
	d.start()
	h.eventually("the pod comes up with Docker", func() error { return h.whole("pod", "main", "side") })
	p.stop()
}

func TestIntegrationDockerRestarts(t *testing.T) {
	for _, signal := range []string{"TERM", "KILL"} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			d := newDockerd(t)
			d.start()
			d.makeImage()
			h := newHostOn(t, d.endpoint)
			starts := startsOf{h, t.TempDir()}
			for _, pod := range tenPods {
				h.write(pod.id+".yaml", pod.manifest(starts.dir))
			}
			p := h.start()
			h.eventually("ten pods are as they should be", func() error { return tenPodsAre(h, starts, before) })

			d.end(signal)
			p.says("Docker's events have stopped")
			d.start()
			h.eventually("every pod is whole again, once", func() error { return tenPodsAre(h, starts, after) })

			// A kubelet that knows nothing looks at every pod and says what it finds.
			p.stop()
			p = h.start()
			for _, pod := range tenPods {
				p.says("pod "+pod.id+".default.file", pod.verdict)
			}
			if err := tenPodsAre(h, starts, after); err != nil {
				t.Errorf("after another start of the kubelet: %v\n%s", err, h.describe())
			}
			p.stop()
		})
	}
}

// testPod is a pod of the restart of Docker. Each of its containers notes its own
// start in a file of the host.
type testPod struct {
	id         string
	containers []string
	policy     string // as in a manifest
	then       string // flags of what the containers do after that
	before     int    // how many of its containers live before the restart
	after      int    // and afterwards; those that live have been started once more
	verdict    string // what the kubelet says of it at the end
}

var (
	twoNames = []string{"main", "side"}
	oneName  = []string{"main"}

	// Asked to stop, hello exits with 1 where told so: else it would have done its
	// work by onFailure's rule.
	tenPods = []testPod{
		{"always-1", twoNames, "always", "", 2, 2, "is up"},
		{"always-2", twoNames, "always", "", 2, 2, "is up"},
		{"always-3", twoNames, "always", "", 2, 2, "is up"},
		{"always-4", twoNames, "always", "", 2, 2, "is up"},
		{"failing", twoNames, "onFailure", `, "-exit-on-term", "1"`, 2, 2, "is up"},
		{"finished-1", oneName, "onFailure", `, "-for", "1ms"`, 0, 0, "has done its work"},
		{"finished-2", twoNames, "onFailure", `, "-for", "1ms"`, 0, 0, "has done its work"},
		{"never-ended", oneName, "never", `, "-for", "1ms"`, 0, 0, "has done its work"},
		{"never-failed", oneName, "never", `, "-for", "1ms", "-exit", "3"`, 0, 0, "is not started again"},
		{"never-runs", twoNames, "never", "", 2, 0, "has done its work"},
	}
)

func (p *testPod) manifest(startsDir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: v1beta1\nid: %s\nrestartPolicy: {%s: {}}\n", p.id, p.policy)
	fmt.Fprintf(&b, "volumes: [{name: starts, source: {hostDir: {path: %q}}}]\ncontainers:\n", startsDir)
	for _, name := range p.containers {
		fmt.Fprintf(&b, "  - name: %s\n    image: HELLO\n    volumeMounts: [{name: starts, mountPath: /starts}]\n", name)
		fmt.Fprintf(&b, "    command: [/hello, append%s, /starts/%s.%s, started]\n", p.then, p.id, name)
	}
	return b.String()
}

// startsOf counts starts.
type startsOf struct {
	h   *host
	dir string
}

func (s startsOf) count(pod, container string) int {
	s.h.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, pod+"."+container))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.h.t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func before(p *testPod) (live, starts int) { return p.before, 1 }

func after(p *testPod) (live, starts int) {
	if p.after > 0 {
		return p.after, 2
	}
	return 0, 1
}

// tenPodsAre checks that of each pod as many containers live, and that each was
// started as often, as is expected.
func tenPodsAre(h *host, starts startsOf, expect func(*testPod) (live, starts int)) error {
	for i := range tenPods {
		pod := &tenPods[i]
		live, want := expect(pod)
		if live > 0 {
			if err := h.whole(pod.id, pod.containers...); err != nil {
				return err
			}
		} else if err := h.ended(pod.id); err != nil {
			return err
		}
		for _, name := range pod.containers {
			if got := starts.count(pod.id, name); got != want {
				return fmt.Errorf("container %q of pod %s was started %d times, want %d", name, pod.id, got, want)
			}
		}
	}
	return nil
}

// ended checks that no container of a pod lives, its network container neither.
func (h *host) ended(id string) error {
	seen := 0
	for _, c := range h.containers() {
		if c.pod != id+".default.file" {
			continue
		}
		if seen++; c.live() || c.of == "net" {
			return fmt.Errorf("%s is still there", c)
		}
	}
	if seen == 0 {
		return fmt.Errorf("pod %s has not run", id)
	}
	return nil
}

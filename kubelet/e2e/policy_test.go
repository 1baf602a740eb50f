package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// noting is a pod whose containers note each of their starts in a directory of the
// host, and then do as their flags say.
func noting(id, policy, dir, flags string, containers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: v1beta1\nid: %s\nrestartPolicy: {%s: {}}\n", id, policy)
	fmt.Fprintf(&b, "volumes: [{name: starts, source: {hostDir: {path: %q}}}]\ncontainers:\n", dir)
	for _, name := range containers {
		fmt.Fprintf(&b, "  - name: %s\n    image: HELLO\n    volumeMounts: [{name: starts, mountPath: /starts}]\n", name)
		fmt.Fprintf(&b, "    command: [/hello, append%s, /starts/%s.%s, started]\n", flags, id, name)
	}
	return b.String()
}

// starts checks how often a container has noted a start.
func starts(dir, pod, container string, want int) error {
	data, err := os.ReadFile(filepath.Join(dir, pod+"."+container))
	if got := strings.Count(string(data), "\n"); got != want && (err == nil || errors.Is(err, os.ErrNotExist)) {
		err = fmt.Errorf("container %q of pod %s was started %d times, want %d", container, pod, got, want)
	}
	return err
}

func TestIntegrationRestartPolicies(t *testing.T) {
	table := []struct {
		policy, end string
		phase       string // of the pod afterwards; a running one was started again
	}{
		{"always", "exit-0", "running"},
		{"always", "exit-1", "running"},
		{"always", "killed", "running"},
		{"onFailure", "exit-0", "succeeded"},
		{"onFailure", "exit-1", "running"},
		{"onFailure", "killed", "running"},
		{"never", "exit-0", "succeeded"},
		{"never", "exit-1", "failed"},
		{"never", "killed", "failed"},
	}
	for _, alive := range []bool{true, false} {
		t.Run(fmt.Sprintf("containers end while the kubelet runs: %v", alive), func(t *testing.T) {
			t.Parallel()
			h, dir := newHost(t), t.TempDir()
			var ids []string
			for _, row := range table {
				id := strings.ToLower(row.policy) + "-" + row.end
				ids = append(ids, id)
				code := strings.NewReplacer("exit-", "", "killed", "0").Replace(row.end)
				h.write(id, noting(id, row.policy, dir, fmt.Sprintf(`, "-exit-on-term", %q`, code), "main"))
			}
			p := h.start()
			h.await("all pods are up, and handle signals", func() error {
				for _, id := range ids {
					if err := starts(dir, id, "main", 1); err != nil {
						return err
					}
				}
				return h.up(ids...)
			})
			if !alive {
				p.kill()
			}
			for i, row := range table {
				signal := docker.SIGTERM
				if row.end == "killed" {
					signal = docker.SIGKILL
				}
				h.must(h.docker.KillContainer(docker.KillContainerOptions{ID: h.live(ids[i], "main").id, Signal: signal}))
			}
			if !alive {
				h.await("all have ended", func() error {
					i := slices.IndexFunc(h.containers(), func(c container) bool { return c.of == "main" && c.live() })
					if i >= 0 {
						return fmt.Errorf("%s lives", h.containers()[i])
					}
					return nil
				})
				p = h.start()
			}
			kept := func() error {
				for i, row := range table {
					err, want := h.ended(ids[i]), 1
					if row.phase == "running" {
						err, want = h.up(ids[i]), 2
					}
					if err := errors.Join(err, starts(dir, ids[i], "main", want), p.shows(ids[i], row.phase)); err != nil {
						return err
					}
				}
				return nil
			}
			h.await("each policy is kept", kept)
			before := h.ids()
			p.kill()
			p = h.start()
			h.await("the next kubelet knows the pods", kept)
			p.awaitUp("always-exit-0", "always-exit-1", "always-killed", "onfailure-exit-1", "onfailure-killed")
			h.must(kept())
			h.mustBe("after another start of the kubelet", before)
		})
	}
}

func TestIntegrationPodsThatWantOnePort(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	port, otherPort := freePort(t), freePort(t)
	holder := strings.Replace(server("holder", port), "containers:", "restartPolicy: {onFailure: {}}\ncontainers:", 1)
	h.write("holder", holder)
	h.write("runs", server("runs", otherPort))
	p := h.start()
	h.awaitUp("holder", "runs")
	before := h.ids()
	taken := fmt.Sprintf("%d/tcp", port)

	// Neither a pod that would come first by its name nor an edit takes the port away.
	h.write("a-loser", server("a-loser", port))
	p.awaitShows("a-loser", "pending", "PortTaken: ", taken, "holder.default.file")
	p.awaitShows("a-loser/main", "waiting", "PortTaken: ", taken)
	h.write("runs", server("runs", port))
	p.awaitShows("runs", "running", "PortTaken: ", taken, "holder.default.file")
	h.writeSleepers("other")
	h.awaitUp("other")
	h.mustBe("while two pods wait for the port", before, "other")
	h.await("both servers answer", func() error {
		return errors.Join(answers(port, "/", "pod holder"), answers(otherPort, "/", "pod runs"))
	})

	// A pod that has done its work gives its port to the next one, and no next kubelet
	// takes it back.
	answers(port, "/exit?code=0")
	h.await("the next pod has the port", func() error {
		return errors.Join(h.ended("holder"), h.up("a-loser"), answers(port, "/", "pod a-loser"))
	})
	before = h.ids()
	p.kill()
	p = h.start()
	p.awaitUp("a-loser", "other")
	p.awaitShows("holder", "succeeded")
	h.mustBe("after another start of the kubelet", before)
	h.write("holder", strings.Replace(holder, `"80"]`, `"80", -show, /]`, 1))
	p.awaitShows("holder", "running", "PortTaken: ", taken, "a-loser.default.file")
	p.awaitShows("runs", "running", "PortTaken: ", taken, "a-loser.default.file")
	h.mustBe("while the finished pod wants the port again", before)
	h.check(answers(otherPort, "/", "pod runs"))

	h.remove("a-loser", "holder")
	h.await("the last pod has the port", func() error { return errors.Join(h.up("runs"), answers(port, "/", "pod runs")) })
}

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	t.Parallel()
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
	// The first end is beside a kubelet that runs, the second one while there is none.
	for end := 1; end <= 2; end++ {
		for i, row := range table {
			signal := docker.SIGTERM
			if row.end == "killed" {
				signal = docker.SIGKILL
			}
			if end == 1 || row.phase == "running" {
				c := h.live(ids[i], "main")
				h.must(h.docker.KillContainer(docker.KillContainerOptions{ID: c.id, Signal: signal}))
				h.await("it has ended", func() error { return h.exited(c) })
			}
		}
		if end == 2 {
			p = h.start()
		}
		h.await("each policy is kept", func() error {
			for i, row := range table {
				err, want := h.ended(ids[i]), 1
				if row.phase == "running" {
					err, want = h.up(ids[i]), 1+end
				}
				if err := errors.Join(err, starts(dir, ids[i], "main", want), p.shows(ids[i], row.phase)); err != nil {
					return err
				}
			}
			return nil
		})
		p.kill()
	}
}

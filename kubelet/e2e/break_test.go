package e2e

import (
	"fmt"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// What a person does to containers behind the kubelet's back.
var breakages = []struct {
	name string
	do   func(c *docker.Client, id string) error
}{
	{"kill", func(c *docker.Client, id string) error {
		return c.KillContainer(docker.KillContainerOptions{ID: id})
	}},
	{"stop", func(c *docker.Client, id string) error { return c.StopContainer(id, 5) }},
	{"restart", func(c *docker.Client, id string) error { return c.RestartContainer(id, 5) }},
	{"rm", func(c *docker.Client, id string) error {
		return c.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true})
	}},
}

func TestIntegrationBreakAndMend(t *testing.T) {
	for _, victim := range []string{"main", "net"} {
		for _, breakage := range breakages {
			t.Run("docker "+breakage.name+" of "+victim, func(t *testing.T) {
				t.Parallel()
				h := newHost(t)
				h.write("pod.yaml", twoContainers)
				h.write("other.yaml", sleeper("other"))
				h.start()
				h.eventually("the pods are up", func() error { return h.wholeAll() })
				other := h.live("other", "main")
				broken := h.live("pod", victim)
				started, err := h.inspect(broken.id)
				if err != nil {
					t.Fatal(err)
				}

				if err := breakage.do(h.docker, broken.id); err != nil {
					t.Fatal(err)
				}
				h.eventually("the pod is whole again", func() error {
					if err := h.wholeAll(); err != nil {
						return err
					}
					c, err := h.one("pod", victim)
					if err != nil {
						return err
					}
					now, err := h.inspect(c.id)
					if err == nil && now.ID == started.ID && now.State.StartedAt.Equal(started.State.StartedAt) {
						err = fmt.Errorf("the breakage has not shown yet")
					}
					return err
				})
				if now := h.live("other", "main"); now.id != other.id {
					t.Errorf("the other pod was touched: %s, before %s", now, other)
				}
			})
		}
	}
}

const twoContainers = `version: v1beta1
id: pod
containers:
  - {name: main, image: HELLO, command: [/hello, sleep]}
  - {name: side, image: HELLO, command: [/hello, sleep]}
`

// wholeAll checks the two pods of these tests.
func (h *host) wholeAll() error {
	if err := h.whole("other", "main"); err != nil {
		return err
	}
	return h.whole("pod", "main", "side")
}

func TestIntegrationPausedIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", twoContainers)
	h.write("other.yaml", sleeper("other"))
	h.start("-sync_frequency=200ms")
	h.eventually("the pods are up", h.wholeAll)
	paused, side := h.live("pod", "main"), h.live("pod", "side")
	if err := h.docker.PauseContainer(paused.id); err != nil {
		t.Fatal(err)
	}
	// That the kubelet mends another container afterwards shows that it has looked.
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: side.id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("the killed container is back", func() error {
		if err := h.wholeAll(); err != nil {
			return err
		}
		return h.replaced("pod", "side", side)
	})
	if now := h.live("pod", "main"); now.id != paused.id || now.state != "paused" {
		t.Errorf("the paused container is now %s, before %s", now, paused)
	}
	if err := h.docker.UnpauseContainer(paused.id); err != nil {
		t.Fatal(err)
	}
}

func TestIntegrationAnOldAttemptStartedByHandIsStopped(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", twoContainers)
	h.write("other.yaml", sleeper("other"))
	h.start()
	h.eventually("the pods are up", h.wholeAll)
	old := h.live("pod", "main")
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: old.id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("a new attempt runs", func() error {
		if err := h.wholeAll(); err != nil {
			return err
		}
		return h.replaced("pod", "main", old)
	})
	newest := h.live("pod", "main")
	if err := h.docker.StartContainer(old.id, nil); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	h.eventually("the newest attempt is alone again", func() error {
		detail, err := h.inspect(old.id)
		if err == nil && detail.State.Running {
			err = fmt.Errorf("the old attempt still runs, %v after its start", time.Since(begun))
		}
		return err
	})
	h.eventually("the pods are whole", h.wholeAll)
	if now := h.live("pod", "main"); now.id != newest.id {
		t.Errorf("the newest attempt was replaced: %s, before %s", now, newest)
	}
}

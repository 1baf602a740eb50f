package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// breakages are what a person may do to a container.
var breakages = map[string]func(c *docker.Client, id string) error{
	"kill":    func(c *docker.Client, id string) error { return c.KillContainer(docker.KillContainerOptions{ID: id}) },
	"stop":    func(c *docker.Client, id string) error { return c.StopContainer(id, 5) },
	"restart": func(c *docker.Client, id string) error { return c.RestartContainer(id, 5) },
	"rm": func(c *docker.Client, id string) error {
		return c.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true})
	},
}

func TestIntegrationBreakAndRepair(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("other")
	type victim struct {
		pod, of  string
		do       func(c *docker.Client, id string) error
		original *docker.Container
	}
	var victims []*victim
	for how, do := range breakages {
		for _, of := range []string{"main", "net"} {
			victims = append(victims, &victim{pod: how + "-" + of, of: of, do: do})
			h.write(how+"-"+of, twoContainers(how+"-"+of))
		}
	}
	whole := func() error {
		for _, v := range victims {
			if err := h.whole(v.pod, "main", "side"); err != nil {
				return err
			}
		}
		return h.up("other")
	}
	h.start()
	h.await("the pods are up", whole)
	other := h.live("other", "main")
	for _, v := range victims {
		v.original = h.mustInspect(h.live(v.pod, v.of).id)
	}
	var all sync.WaitGroup
	for _, v := range victims {
		all.Go(func() {
			if err := v.do(h.docker, v.original.ID); err != nil {
				t.Errorf("%s: %v", v.pod, err)
			}
		})
	}
	all.Wait()
	h.await("the pods are whole again", func() error {
		for _, v := range victims {
			c, err := h.one(v.pod, v.of)
			if err != nil {
				return err
			}
			now, err := h.inspect(c.id)
			if err != nil || now.ID == v.original.ID && now.State.StartedAt.Equal(v.original.State.StartedAt) {
				return fmt.Errorf("%s is still as it was, %v", c, err)
			}
		}
		return whole()
	})
	if now := h.live("other", "main"); now.id != other.id {
		t.Errorf("the other pod was touched: %s, before %s", now, other)
	}
}

// What a person does to a container that is neither right nor wrong.
func TestIntegrationPausedAndOldContainers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod", twoContainers("pod"))
	h.start("-sync_frequency=200ms")
	whole := func() error { return h.whole("pod", "main", "side") }
	h.await("the pod is up", whole)
	paused := h.live("pod", "main")
	h.must(h.docker.PauseContainer(paused.id))
	side := h.kill("pod", "side")
	h.await("the killed container is back", func() error { return errors.Join(whole(), h.replaced(side)) })
	if now := h.live("pod", "main"); now.id != paused.id || now.state != "paused" {
		t.Errorf("the paused container is %s, before %s", now, paused)
	}
	h.must(h.docker.UnpauseContainer(paused.id))

	newest := h.live("pod", "side")
	h.must(h.docker.StartContainer(side.id, nil))
	h.await("an old attempt that was started by hand is stopped", func() error { return errors.Join(h.exited(side), whole()) })
	if now := h.live("pod", "side"); now.id != newest.id {
		t.Errorf("the newest attempt was replaced: %s, before %s", now, newest)
	}
}

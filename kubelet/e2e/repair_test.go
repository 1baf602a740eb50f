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
	other := h.live("other", "main") // paused, it is neither right nor wrong
	h.must(h.docker.PauseContainer(other.id))
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
	if now := h.live("other", "main"); now.id != other.id || now.state != "paused" {
		t.Errorf("the paused container is %s, before %s", now, other)
	}
	h.must(h.docker.UnpauseContainer(other.id))

	old, newest := h.of("kill-main", "main")[0], h.live("kill-main", "main")
	h.must(h.docker.StartContainer(old.id, nil))
	h.await("an old attempt that was started by hand is stopped", func() error { return errors.Join(h.exited(old), whole()) })
	if now := h.live("kill-main", "main"); now.id != newest.id {
		t.Errorf("the newest attempt was replaced: %s, before %s", now, newest)
	}
}

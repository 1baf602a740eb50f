package e2e

import (
	"fmt"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"

	docker "github.com/fsouza/go-dockerclient"
	"golang.org/x/sync/errgroup"
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
	type victim struct {
		pod, of  string
		do       func(c *docker.Client, id string) error
		original *docker.Container
	}
	var victims []*victim
	for how, do := range breakages {
		for _, of := range []string{"main", "net"} {
			victims = append(victims, &victim{pod: how + "-" + of, of: of, do: do})
			h.Write(how+"-"+of, hosttest.TwoContainers(how+"-"+of))
		}
	}
	pods := map[string][]string{}
	for _, v := range victims {
		pods[v.pod] = []string{"main", "side"}
	}
	whole := func() error { return h.AllWhole(pods) }
	h.Start()
	h.Await("the pods are up", whole)
	for _, v := range victims {
		v.original = h.MustInspect(h.Live(v.pod, v.of).ID)
	}
	var all errgroup.Group
	for _, v := range victims {
		all.Go(func() error { return v.do(h.Docker, v.original.ID) })
	}
	h.Must(all.Wait())
	h.Await("the pods are whole again", func() error {
		all := h.Containers()
		for _, v := range victims {
			c, err := all.One(v.pod, v.of)
			if err != nil {
				return err
			}
			now, err := h.Inspect(c.ID)
			if err != nil || now.ID == v.original.ID && now.State.StartedAt.Equal(v.original.State.StartedAt) {
				return fmt.Errorf("%s is still as it was, %v", c, err)
			}
		}
		return whole()
	})
}

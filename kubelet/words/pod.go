package words

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/client"
)

// pods returns the status of all pods, and a client of their kubelet.
func (c *call) pods(ctx context.Context) (*client.Client, []api.PodStatus, error) {
	cl, err := c.kubelet()
	if err != nil {
		return nil, nil, err
	}
	var list struct{ Items []api.PodStatus }
	err = cl.Get(ctx, "/pods", nil, &list)
	return cl, list.Items, err
}

// pod returns the pod that the first argument names, and a client of its kubelet.
func (c *call) pod(ctx context.Context) (*client.Client, *api.PodStatus, error) {
	cl, pods, err := c.pods(ctx)
	if err != nil {
		return nil, nil, err
	}
	name := c.args[0]
	named := api.PodsNamed(pods, name)
	if len(named) == 1 {
		return cl, &named[0], nil
	}
	if len(named) > 1 {
		text := fmt.Sprintf("%d pods are named %s: give a full name", len(named), name)
		for _, p := range named {
			text += fmt.Sprintf("\n  %s (%s)", p.FullName(), p.Origin)
		}
		return nil, nil, errors.New(text)
	}
	var known []string
	for _, p := range pods {
		known = append(known, p.Name, p.Name+"."+p.Namespace, p.FullName())
	}
	if nearest := api.Nearest(name, known); nearest != "" {
		return nil, nil, fmt.Errorf("there is no pod %s: did you mean %s?", name, nearest)
	}
	return nil, nil, fmt.Errorf("there is no pod %s: kubelet14 ps lists the pods", name)
}

// container returns the container of a pod that -c names, or its only one.
func container(p *api.PodStatus, name string) (string, error) {
	known := map[string]bool{}
	for _, c := range p.Containers {
		known[c.Name] = true
	}
	switch apps := apps(p); {
	case known[name]:
		return name, nil
	case name != "":
		return "", fmt.Errorf("pod %s has no container %q: %s", p.FullName(), name, api.Suggest(name, known))
	case len(apps) == 1:
		return apps[0], nil
	default:
		return "", fmt.Errorf("pod %s has the containers %s: say which by -c NAME", p.FullName(), strings.Join(apps, ", "))
	}
}

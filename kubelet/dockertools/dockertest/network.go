package dockertest

import (
	"context"
	"maps"
)

func (f *Fake) MakeNetwork(ctx context.Context, name string) error {
	_, err := ask(ctx, f, "MakeNetwork", name, func() (any, error) {
		if _, exists := f.networks[name]; !exists {
			f.networks[name] = true
		}
		return nil, nil
	})
	return err
}

func (f *Fake) RemoveNetwork(ctx context.Context, name string) error {
	_, err := ask(ctx, f, "RemoveNetwork", name, func() (any, error) {
		for _, c := range f.containers {
			if c.Spec.Network == name && c.ListState.Live() {
				return nil, nil
			}
		}
		if f.networks[name] {
			delete(f.networks, name)
		}
		return nil, nil
	})
	return err
}

// AddNetwork is `docker network create`.
func (d *fakeDocker) AddNetwork(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.networks[name] = false
	return nil
}

// Networks returns the names of the networks, and whether MakeNetwork has made each.
func (d *fakeDocker) Networks() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.networks)
}

// Connect is `docker network connect`. The container keeps its address and its endpoint
// in the network of its creation.
func (d *fakeDocker) Connect(container, _ string) error {
	return d.change(container, func(*fakeContainer) error { return nil })
}

// Disconnect is `docker network disconnect`.
func (d *fakeDocker) Disconnect(container, network string) error {
	return d.change(container, func(c *fakeContainer) error {
		if c.Spec.Network == network {
			c.Endpoint, c.Details.IP = "", ""
		}
		return nil
	})
}

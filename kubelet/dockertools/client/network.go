package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// MakeNetwork gives the network's Linux bridge a name that follows from the network's:
// Docker can make two networks of one name when two requests come at once, but never two
// on one bridge. A request that is refused for the bridge is sent again until Docker finds
// the other network by its name.
func (c *Client) MakeNetwork(ctx context.Context, name string) error {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	options := docker.CreateNetworkOptions{
		Name: name, Driver: "bridge", CheckDuplicate: true,
		Labels:  map[string]string{dockertools.LabelNetwork: name},
		Options: map[string]any{"com.docker.network.bridge.name": fmt.Sprintf("k14-%08x", hash.Sum32())}, // at most 15 bytes
	}
	const tries = 100
	for try := 1; ; try++ {
		r := c.begin(ctx, callLimit, "make network %q", name)
		options.Context = r.ctx
		_, err := c.api.CreateNetwork(options)
		switch err = r.end(err); {
		case isRefusal(err, "already exists"):
			return nil
		case !isRefusal(err, "same bridge name") || try == tries:
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done(): // the next request returns its cause
		}
	}
}

// isRefusal reports whether the daemon has refused a request with these words.
func isRefusal(err error, words string) bool {
	refused, ok := errors.AsType[*apiError](err)
	return ok && strings.Contains(refused.text, words)
}

// RemoveNetwork makes its own requests: the library's take no context.
func (c *Client) RemoveNetwork(ctx context.Context, name string) error {
	filters, _ := json.Marshal(map[string][]string{"label": {dockertools.LabelNetwork + "=" + name}}) // strings always marshal
	var found []struct{ ID string }
	err := c.begin(ctx, callLimit, "find network %q", name).getJSON("networks", url.Values{"filters": {string(filters)}}, &found)
	for _, network := range found {
		r := c.begin(ctx, callLimit, "remove network %q", name)
		body, removeErr := r.open(http.MethodDelete, "networks/"+network.ID, nil, nil, nil)
		if removeErr == nil {
			removeErr = body.Close()
		}
		removeErr = r.end(removeErr)
		if !isRefusal(removeErr, "has active endpoints") && !errors.Is(removeErr, dockertools.ErrNoSuchNetwork) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}

// addressIn returns the address that a container has in the network that it was created
// in. Without one, it returns that in the first by name of the networks that the container
// was connected to later.
func addressIn(networks map[string]docker.ContainerNetwork, mode string) (ip string) {
	if mode == "default" {
		mode = "bridge"
	}
	ip = networks[mode].IPAddress
	for _, name := range slices.Sorted(maps.Keys(networks)) {
		ip = cmp.Or(ip, networks[name].IPAddress)
	}
	return ip
}

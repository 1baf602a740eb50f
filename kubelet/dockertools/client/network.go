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

// MakeNetwork derives the name of the Linux bridge from the network's name. If two requests come at once, Docker can
// create two networks of one name, but never two on one bridge. A request that is refused because of the bridge is
// repeated until Docker finds the other network by its name.
func (c *Client) MakeNetwork(ctx context.Context, name string) error {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	options := docker.CreateNetworkOptions{
		Name: name, Driver: "bridge", CheckDuplicate: true,
		Labels:  map[string]string{dockertools.LabelNetwork: name},
		Options: map[string]any{"com.docker.network.bridge.name": fmt.Sprintf("k14-%08x", hash.Sum32())}, // at most 15 bytes
	}
	r := c.begin(ctx, "make network %q", name)
	options.Context = r.ctx
	_, err := c.api.CreateNetwork(options)
	for try := 1; isRefusal(err, "same bridge name") && try < 100; try++ {
		time.Sleep(100 * time.Millisecond)
		_, err = c.api.CreateNetwork(options)
	}
	if isRefusal(err, "already exists") {
		err = nil
	}
	return r.end(err)
}

// isRefusal reports whether the daemon refused a request with these words.
func isRefusal(err error, words string) bool {
	refused, ok := errors.AsType[*apiError](err)
	return ok && strings.Contains(refused.text, words)
}

// RemoveNetwork makes its own requests, because the library's take no context.
func (c *Client) RemoveNetwork(ctx context.Context, name string) error {
	filters, _ := json.Marshal(map[string][]string{"label": {dockertools.LabelNetwork + "=" + name}}) // strings always marshal
	var found []struct{ ID string }
	r := c.begin(ctx, "remove network %q", name)
	err := r.getJSON("networks", url.Values{"filters": {string(filters)}}, &found)
	for i := 0; i < len(found) && err == nil; i++ {
		_, err = r.open(http.MethodDelete, "networks/"+found[i].ID, nil, nil, nil)
		if isRefusal(err, "has active endpoints") || errors.Is(err, dockertools.ErrNoSuchNetwork) {
			err = nil
		}
	}
	return r.end(err)
}

// addressIn returns a container's address in the network that it was created in. If it has
// none there, addressIn takes the first, by name, of its other networks.
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

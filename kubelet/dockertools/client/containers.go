package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

func (c *Client) Version(ctx context.Context) (v dockertools.Version, err error) {
	err = c.call(ctx, callLimit, "ask for the version", func(ctx context.Context, api *docker.Client) error {
		env, err := api.VersionWithContext(ctx)
		if err != nil {
			return err
		}
		v = dockertools.Version{
			Version:    env.Get("Version"),
			APIVersion: env.Get("ApiVersion"),
			OS:         env.Get("Os"),
			// Some daemons use the words of uname.
			Arch: strings.NewReplacer("x86_64", "amd64", "aarch64", "arm64").Replace(env.Get("Arch")),
		}
		return nil
	})
	return v, err
}

func (c *Client) ListContainers(ctx context.Context, labels map[string]string) ([]dockertools.Container, error) {
	var list []docker.APIContainers
	err := c.call(ctx, callLimit, "list containers", func(ctx context.Context, api *docker.Client) (err error) {
		list, err = api.ListContainers(docker.ListContainersOptions{
			All:     true,
			Filters: map[string][]string{"label": labelFilter(labels)},
			Context: ctx,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	containers := make([]dockertools.Container, len(list))
	for i := range list {
		containers[i] = convertListed(&list[i])
	}
	return containers, nil
}

// labelFilter is labels in Docker's words, where a name without a value asks for
// the label alone.
func labelFilter(labels map[string]string) []string {
	filter := []string{}
	for name, value := range labels {
		if value != "" {
			name += "=" + value
		}
		filter = append(filter, name)
	}
	return filter
}

func convertListed(listed *docker.APIContainers) dockertools.Container {
	c := dockertools.Container{
		ID:      listed.ID,
		Image:   listed.Image,
		Labels:  listed.Labels,
		State:   dockertools.State(listed.State),
		Status:  listed.Status,
		Created: time.Unix(listed.Created, 0),
		Ports:   publishedPorts(listed.Ports),
	}
	for _, name := range listed.Names {
		// "/other/name" is a link that another container has to this one.
		if name = strings.TrimPrefix(name, "/"); !strings.Contains(name, "/") {
			c.Name = name
			break
		}
	}
	var endpoints []string
	for _, name := range slices.Sorted(maps.Keys(listed.Networks.Networks)) {
		if id := listed.Networks.Networks[name].EndpointID; id != "" {
			endpoints = append(endpoints, id)
		}
	}
	c.Endpoint = strings.Join(endpoints, " ")
	return c
}

// publishedPorts leaves out ports that are only exposed, and makes one of a port
// that Docker names twice because it listens on every IPv4 and every IPv6
// address.
func publishedPorts(listed []docker.APIPort) []dockertools.PublishedPort {
	var ports []dockertools.PublishedPort
	for _, p := range listed {
		if p.PublicPort == 0 {
			continue
		}
		port := dockertools.PublishedPort{HostIP: p.IP, HostPort: int(p.PublicPort), ContainerPort: int(p.PrivatePort), Protocol: p.Type}
		if isEveryAddress(p.IP) {
			port.HostIP = ""
		}
		ports = append(ports, port)
	}
	slices.SortFunc(ports, func(a, b dockertools.PublishedPort) int {
		return cmp.Or(cmp.Compare(a.HostPort, b.HostPort), cmp.Compare(a.Protocol, b.Protocol),
			cmp.Compare(a.HostIP, b.HostIP), cmp.Compare(a.ContainerPort, b.ContainerPort))
	})
	return slices.Compact(ports)
}

func isEveryAddress(hostIP string) bool {
	ip, err := netip.ParseAddr(hostIP)
	return hostIP == "" || err == nil && ip.IsUnspecified()
}

func (c *Client) InspectContainer(ctx context.Context, id string) (dockertools.Details, error) {
	var found *docker.Container
	err := c.call(ctx, callLimit, fmt.Sprintf("inspect container %q", id), func(ctx context.Context, api *docker.Client) (err error) {
		found, err = api.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id, Context: ctx})
		return err
	})
	if err != nil {
		return dockertools.Details{}, err
	}
	details := dockertools.Details{
		State:      dockertools.State(found.State.Status),
		StartedAt:  found.State.StartedAt,
		FinishedAt: found.State.FinishedAt,
		ExitCode:   found.State.ExitCode,
		Error:      found.State.Error,
		OOMKilled:  found.State.OOMKilled,
		ImageID:    found.Image,
	}
	if found.NetworkSettings != nil {
		for _, name := range slices.Sorted(maps.Keys(found.NetworkSettings.Networks)) {
			details.IP = cmp.Or(details.IP, found.NetworkSettings.Networks[name].IPAddress)
		}
	}
	return details, nil
}

func (c *Client) StartContainer(ctx context.Context, id string) error {
	return c.call(ctx, callLimit, fmt.Sprintf("start container %q", id), func(ctx context.Context, api *docker.Client) error {
		err := api.StartContainerWithContext(id, nil, ctx)
		if running := (*docker.ContainerAlreadyRunning)(nil); errors.As(err, &running) {
			return nil
		}
		return err
	})
}

// StopContainer rounds grace up: Docker counts it in seconds.
func (c *Client) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	seconds := uint((max(grace, 0) + time.Second - 1) / time.Second)
	// Docker answers when the container has ended, so the grace comes on top.
	limit := time.Duration(seconds)*time.Second + callLimit
	return c.call(ctx, limit, fmt.Sprintf("stop container %q", id), func(ctx context.Context, api *docker.Client) error {
		err := api.StopContainerWithContext(id, seconds, ctx)
		if ended := (*docker.ContainerNotRunning)(nil); errors.As(err, &ended) {
			return nil
		}
		return err
	})
}

func (c *Client) RemoveContainer(ctx context.Context, id string) error {
	return c.call(ctx, callLimit, fmt.Sprintf("remove container %q", id), func(ctx context.Context, api *docker.Client) error {
		return api.RemoveContainer(docker.RemoveContainerOptions{ID: id, RemoveVolumes: true, Force: true, Context: ctx})
	})
}

func (c *Client) RenameContainer(ctx context.Context, id, name string) error {
	return c.call(ctx, callLimit, fmt.Sprintf("rename container %q to %q", id, name), func(ctx context.Context, api *docker.Client) error {
		return api.RenameContainer(docker.RenameContainerOptions{ID: id, Name: name, Context: ctx})
	})
}

func (c *Client) CreateContainer(ctx context.Context, spec dockertools.ContainerSpec) (id string, err error) {
	err = c.call(ctx, callLimit, fmt.Sprintf("create container %q", spec.Name), func(ctx context.Context, api *docker.Client) error {
		config, host := createConfig(&spec)
		created, err := api.CreateContainer(docker.CreateContainerOptions{
			Name:       spec.Name,
			Config:     config,
			HostConfig: host,
			Context:    ctx,
		})
		if err != nil {
			return err
		}
		id = created.ID
		return nil
	})
	return id, err
}

// createConfig is a spec in Docker's words. The host's part goes with the
// creation: 2014 gave it to the start, which Docker has ignored since API 1.24.
func createConfig(spec *dockertools.ContainerSpec) (*docker.Config, *docker.HostConfig) {
	config := &docker.Config{
		Image:        spec.Image,
		Labels:       spec.Labels,
		Entrypoint:   spec.Entrypoint,
		Cmd:          spec.Command,
		Env:          spec.Env,
		WorkingDir:   spec.WorkingDir,
		StopSignal:   spec.StopSignal,
		Hostname:     spec.Hostname,
		ExposedPorts: map[docker.Port]struct{}{},
	}
	host := &docker.HostConfig{
		Memory:     spec.Memory,
		CPUShares:  spec.CPUShares,
		Privileged: spec.Privileged,
		// The kubelet alone restarts: with two that do, nobody knows the attempts.
		RestartPolicy: docker.NeverRestart(),
		PortBindings:  map[docker.Port][]docker.PortBinding{},
	}
	if spec.NetworkContainer != "" {
		host.NetworkMode = "container:" + spec.NetworkContainer
	}
	for _, p := range spec.Ports {
		port := docker.Port(fmt.Sprintf("%d/%s", p.ContainerPort, cmp.Or(p.Protocol, "tcp")))
		config.ExposedPorts[port] = struct{}{}
		host.PortBindings[port] = append(host.PortBindings[port],
			docker.PortBinding{HostIP: p.HostIP, HostPort: strconv.Itoa(p.HostPort)})
	}
	if spec.Log != (dockertools.LogLimit{}) {
		host.LogConfig = docker.LogConfig{Type: "json-file", Config: map[string]string{
			"max-size": strconv.FormatInt(spec.Log.MaxSize, 10),
			"max-file": strconv.Itoa(spec.Log.MaxFiles),
		}}
	}
	for _, m := range spec.Mounts {
		host.Mounts = append(host.Mounts,
			docker.HostMount{Type: "bind", Source: m.HostPath, Target: m.ContainerPath, ReadOnly: m.ReadOnly})
	}
	return config, host
}

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// containerdRootDir holds the images if Docker leaves them to containerd, as 29 does in a new installation. If it is missing,
// dockerd runs its own containerd, which keeps them in dockerd's directory.
var containerdRootDir = "/var/lib/containerd"

// Info makes its own request, because the library's takes no context.
func (c *Client) Info(ctx context.Context) (dockertools.Info, error) {
	var info struct {
		ServerVersion, OSType, OperatingSystem, Architecture, LoggingDriver, Name, KernelVersion, DockerRootDir string

		DriverStatus [][2]string
	}
	r := c.begin(ctx, "ask for the version")
	err := r.end(r.getJSON("info", nil, &info))
	// Docker names the architecture as uname does.
	arch := strings.NewReplacer("x86_64", "amd64", "aarch64", "arm64").Replace(info.Architecture)
	if slices.Contains(info.DriverStatus, [2]string{"driver-type", "io.containerd.snapshotter.v1"}) {
		if _, err := os.Stat(containerdRootDir); err == nil {
			info.DockerRootDir = containerdRootDir
		}
	}
	if host, _ := os.Hostname(); info.Name != host || !strings.HasPrefix(c.endpoint, "unix:") {
		info.DockerRootDir = ""
	}
	return dockertools.Info{Version: info.ServerVersion, OS: info.OSType, OSImage: info.OperatingSystem, Arch: arch, LogDriver: info.LoggingDriver,
		Name: info.Name, Kernel: info.KernelVersion, RootDir: info.DockerRootDir}, err
}

func (c *Client) ListContainers(ctx context.Context, labels map[string]string) ([]dockertools.Container, error) {
	list, err := c.list(ctx, labels, nil)
	if err != nil {
		return nil, err
	}
	containers := make([]dockertools.Container, len(list))
	for i := range list {
		containers[i] = convertListed(&list[i])
	}
	return containers, nil
}

func (c *Client) ContainerSizes(ctx context.Context, labels map[string]string) (map[string]int64, error) {
	list, err := c.list(ctx, labels, url.Values{"size": {"1"}})
	sizes := map[string]int64{}
	for i := range list {
		sizes[list[i].ID] = list[i].SizeRw
	}
	return sizes, err
}

// listed has the needed fields of a container in the daemon's list.
type listed struct {
	ID, Image, ImageID, State, Status string
	Names                             []string
	Labels                            map[string]string
	Created, SizeRw                   int64
	Ports                             []docker.APIPort
	NetworkSettings                   struct {
		Networks map[string]struct{ EndpointID string }
	}
}

// list makes its own request, because the library's answer has no ImageID and is slower to decode.
func (c *Client) list(ctx context.Context, labels map[string]string, query url.Values) (list []listed, err error) {
	filters, _ := json.Marshal(map[string][]string{"label": labelFilter(labels)}) // strings always marshal
	values := url.Values{"all": {"1"}, "filters": {string(filters)}}
	maps.Copy(values, query)
	r := c.begin(ctx, "list containers")
	err = r.end(r.getJSON("containers/json", values, &list))
	return list, err
}

// labelFilter returns labels in the syntax of Docker's filter.
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

func convertListed(listed *listed) dockertools.Container {
	c := dockertools.Container{
		ID:        listed.ID,
		Image:     listed.Image,
		ImageID:   listed.ImageID,
		Labels:    listed.Labels,
		ListState: dockertools.State(listed.State),
		Status:    listed.Status,
		Created:   time.Unix(listed.Created, 0),
	}
	if c.ListState.Live() { // Docker 26.1 also lists those of an exited container
		c.Ports = publishedPorts(listed.Ports)
	}
	for _, name := range listed.Names {
		// "/other/name" is a link from another container to this one.
		if name = strings.TrimPrefix(name, "/"); !strings.Contains(name, "/") {
			c.Name = name
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed.NetworkSettings.Networks)) {
		if cmp.Or(c.Labels[dockertools.LabelNetwork], name) == name {
			c.Endpoint += listed.NetworkSettings.Networks[name].EndpointID
		}
	}
	return c
}

// publishedPorts leaves out ports that are only exposed, and lists a port once even if
// Docker lists it for IPv4 and for IPv6.
func publishedPorts(listed []docker.APIPort) []api.Port {
	var ports []api.Port
	for _, p := range listed {
		if p.PublicPort == 0 {
			continue
		}
		if ip, err := netip.ParseAddr(p.IP); err == nil && ip.IsUnspecified() {
			p.IP = ""
		}
		ports = append(ports, api.Port{
			HostIP: p.IP, HostPort: int(p.PublicPort), ContainerPort: int(p.PrivatePort), Protocol: api.Protocol(strings.ToUpper(p.Type)),
		})
	}
	slices.SortFunc(ports, func(a, b api.Port) int {
		return cmp.Or(cmp.Compare(a.HostPort, b.HostPort), cmp.Compare(a.Protocol, b.Protocol),
			cmp.Compare(a.HostIP, b.HostIP), cmp.Compare(a.ContainerPort, b.ContainerPort))
	})
	return slices.Compact(ports)
}

func (c *Client) InspectContainer(ctx context.Context, id string) (dockertools.Inspected, error) {
	r := c.begin(ctx, "inspect container %q", id)
	found, err := c.api.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id, Context: r.ctx})
	if err := r.end(err); err != nil {
		return dockertools.Inspected{}, err
	}
	details := dockertools.Inspected{
		State:      dockertools.State(found.State.Status),
		CreatedAt:  found.Created,
		StartedAt:  found.State.StartedAt,
		FinishedAt: found.State.FinishedAt,
		ExitCode:   found.State.ExitCode,
		Error:      found.State.Error,
		OOMKilled:  found.State.OOMKilled,
		ImageID:    found.Image,
	}
	if details.State == dockertools.StateCreated && strings.Contains(details.Error, context.Canceled.Error()) {
		details.Error, details.ExitCode = "", 0 // the caller of the start went away; Docker 20.10 then starts the container anyway
	}
	if found.HostConfig != nil && found.HostConfig.RestartPolicy.Name != "no" {
		details.RestartPolicy = found.HostConfig.RestartPolicy.Name
	}
	if found.HostConfig != nil && found.HostConfig.NetworkMode == "host" && found.State.Running {
		details.IP = dockertools.HostIP()
	} else if found.HostConfig != nil && found.NetworkSettings != nil {
		details.IP = addressIn(found.NetworkSettings.Networks, found.HostConfig.NetworkMode)
	}
	return details, nil
}

func (c *Client) StartContainer(ctx context.Context, id string) error {
	r := c.begin(ctx, "start container %q", id)
	err := c.api.StartContainerWithContext(id, nil, r.ctx)
	if _, running := errors.AsType[*docker.ContainerAlreadyRunning](err); running {
		err = nil
	}
	return r.end(err)
}

// StopContainer rounds grace up to a second, Docker's unit.
func (c *Client) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	seconds := (max(grace, 0) + time.Second - 1) / time.Second
	r := c.begin(ctx, "stop container %q", id)
	r.limit += seconds * time.Second // Docker answers once the container has ended
	err := c.api.StopContainerWithContext(id, uint(seconds), r.ctx)
	if _, ended := errors.AsType[*docker.ContainerNotRunning](err); ended {
		err = nil
	}
	return r.end(err)
}

func (c *Client) RemoveContainer(ctx context.Context, id string) error {
	r := c.begin(ctx, "remove container %q", id)
	return r.end(c.api.RemoveContainer(docker.RemoveContainerOptions{ID: id, RemoveVolumes: true, Force: true, Context: r.ctx}))
}

func (c *Client) CreateContainer(ctx context.Context, spec dockertools.ContainerSpec) (id string, err error) {
	options := createOptions(&spec)
	if spec.SeccompFile != "" {
		profile, err := os.ReadFile(spec.SeccompFile)
		if err != nil {
			return "", fmt.Errorf("read the seccomp profile: %w", err)
		}
		options.HostConfig.SecurityOpt = append(options.HostConfig.SecurityOpt, "seccomp="+string(profile))
	}
	r := c.begin(ctx, "create container %q", spec.Name)
	options.Context = r.ctx
	created, err := c.api.CreateContainer(options)
	if err := r.end(err); err != nil {
		return "", err
	}
	return created.ID, nil
}

// createOptions includes the HostConfig. In 2014 it was sent with the start, where Docker
// has ignored it since API 1.24.
func createOptions(spec *dockertools.ContainerSpec) docker.CreateContainerOptions {
	config := &docker.Config{
		Image:        spec.Image,
		Labels:       spec.Labels,
		Entrypoint:   spec.Entrypoint,
		Cmd:          spec.Command,
		Env:          spec.Env,
		WorkingDir:   spec.WorkingDir,
		StopSignal:   spec.StopSignal,
		Hostname:     spec.Hostname,
		User:         spec.User,
		OpenStdin:    spec.Stdin,
		Tty:          spec.TTY,
		ExposedPorts: map[docker.Port]struct{}{},
	}
	host := &docker.HostConfig{
		Memory:         spec.Memory,
		CPUShares:      spec.CPUShares,
		Privileged:     spec.Privileged,
		CapAdd:         spec.CapAdd,
		CapDrop:        spec.CapDrop,
		ReadonlyRootfs: spec.ReadOnlyRootFS,
		NetworkMode:    spec.Network,
		ExtraHosts:     spec.ExtraHosts,
		GroupAdd:       spec.Groups,
		PidMode:        spec.PIDMode,
		IpcMode:        spec.IPCMode,
		Init:           spec.Init,
		// Only the kubelet restarts containers: it counts the attempts.
		RestartPolicy: docker.NeverRestart(),
		PortBindings:  map[docker.Port][]docker.PortBinding{},
	}
	if spec.NoNewPrivileges {
		host.SecurityOpt = append(host.SecurityOpt, "no-new-privileges")
	}
	if spec.Unconfined {
		host.SecurityOpt = append(host.SecurityOpt, "seccomp=unconfined")
	}
	if spec.CPULimit > 0 { // microseconds in each 100 ms, at least 1 ms; NanoCPUs must not exceed the host's cores
		host.CPUQuota = max(spec.CPULimit*100, 1000)
	}
	if spec.NetworkContainer != "" {
		host.NetworkMode = "container:" + spec.NetworkContainer
	}
	if dns := spec.DNS; dns != nil {
		host.DNS, host.DNSSearch, host.DNSOptions = dns.Nameservers, dns.Searches, dns.Options
	}
	for _, p := range spec.Ports {
		port := docker.Port(fmt.Sprintf("%d/%s", p.ContainerPort, strings.ToLower(string(p.Protocol))))
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
	options := docker.CreateContainerOptions{Name: spec.Name, Config: config, HostConfig: host}
	if len(spec.Aliases) > 0 {
		options.NetworkingConfig = &docker.NetworkingConfig{EndpointsConfig: map[string]*docker.EndpointConfig{spec.Network: {Aliases: spec.Aliases}}}
	}
	return options
}

// Stats makes its own request, because the library's waits for ever if it cannot connect,
// and waits for a second measurement.
func (c *Client) Stats(ctx context.Context, id string) (api.ContainerStats, error) {
	var answer struct {
		docker.Stats
		Networks map[string]api.NetworkStats `json:"networks"`
	}
	query := url.Values{"stream": {"0"}, "one-shot": {"1"}}
	r := c.begin(ctx, "measure container %q", id)
	err := r.getJSON("containers/"+id+"/stats", query, &answer)
	if err == nil && answer.Read.IsZero() {
		err = &apiError{dockertools.ErrNotRunning.Error(), dockertools.ErrNotRunning}
	}
	if err := r.end(err); err != nil {
		return api.ContainerStats{}, err
	}
	cpu, memory := answer.CPUStats.CPUUsage, answer.MemoryStats
	// The first exists in cgroup v1 only, where the second leaves out child cgroups.
	inactive := cmp.Or(memory.Stats.TotalInactiveFile, memory.Stats.InactiveFile)
	s := api.ContainerStats{
		Time: answer.Read,
		CPU:  api.CPUStats{Total: cpu.TotalUsage, User: cpu.UsageInUsermode, System: cpu.UsageInKernelmode, PerCPU: cpu.PercpuUsage},
		// The two were not read at the same moment.
		Memory: api.MemoryStats{Usage: memory.Usage, WorkingSet: memory.Usage - min(memory.Usage, inactive)},
	}
	for _, n := range answer.Networks {
		s.Network.Add(n)
	}
	return s, nil
}

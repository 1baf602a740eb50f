package execute

import (
	"fmt"
	"slices"
	"strconv"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/envvars"
	"kubelet14/kubelet/plan"
)

// containerSpec returns the spec of the container that a Create action makes.
func (e *Executor) containerSpec(pod *plan.Pod, a plan.Action, mounts []dockertools.Mount) (dockertools.ContainerSpec, error) {
	spec := dockertools.ContainerSpec{
		Name: a.Name.String(), Labels: e.Identity.Labels(a.Name.String()), Image: e.ImageOf(a.Container), Log: e.LogLimit,
	}
	spec.Labels[dockertools.LabelOrigin] = pod.Origin
	for key, value := range pod.Complete.Labels {
		spec.Labels[dockertools.LabelOfPod+key] = value
	}
	for key, value := range pod.Complete.Annotations {
		spec.Labels[dockertools.LabelOfAnnotation+key] = value
	}
	label := func(name string, when bool, value any) {
		if when {
			spec.Labels[name] = fmt.Sprint(value)
		}
	}
	label(dockertools.LabelGrace, a.Grace != "", a.Grace)
	label(dockertools.LabelQuickEnds, a.Crashes > 0, a.Crashes)
	label(dockertools.LabelRestarts, a.Name.Attempt > 1, a.Restarts)
	label(dockertools.LabelRestart, pod.Restart > 0, pod.Restart)
	label(dockertools.LabelServices, a.Container.Services != "", a.Container.Services)
	if a.Container.Spec == nil {
		e.networkSpec(&spec, pod)
		return spec, nil
	}
	spec.Labels[dockertools.LabelNetworkContainer] = a.NetworkID
	spec.NetworkContainer = a.NetworkID
	label(dockertools.LabelSidecar, a.Container.IsSidecar(), len(pod.Init)-a.Container.Turn)
	label(dockertools.LabelLifecycle, a.Lifecycle != "", a.Lifecycle)
	label(dockertools.LabelMessagePolicy, a.Container.Spec.TerminationMessagePolicy == api.MessageFile, api.MessageFile)
	if err := e.setCommand(&spec, pod, a); err != nil {
		return spec, err
	}
	appSpec(&spec, a.Container.Spec, e.Identity.RootDir)
	sharedSpec(&spec, &pod.Complete)
	path, err := e.Volumes.MakeTerminationFile(pod.UID, a.Name.TerminationFile())
	spec.Mounts = append(slices.Clip(mounts), dockertools.Mount{HostPath: path, ContainerPath: a.Container.Spec.TerminationMessagePath})
	return spec, err
}

// ImageOf returns the image of a container.
func (e *Executor) ImageOf(c *plan.Container) string {
	if c.Spec == nil {
		return e.NetworkImage
	}
	return c.Spec.Image
}

// networkSpec completes the spec of a network container. It does nothing but hold the pod's network
// namespace, host name, ports and names.
func (e *Executor) networkSpec(spec *dockertools.ContainerSpec, pod *plan.Pod) {
	spec.Labels[dockertools.LabelInit] = pod.InitHash()
	if spec.Image == dockertools.PauseImage {
		spec.Entrypoint = dockertools.PauseCommand()
		spec.StopSignal = "SIGKILL" // it has no handler for SIGTERM, so Linux does not deliver that to it
	}
	for _, alias := range pod.Complete.HostAliases {
		for _, name := range alias.Hostnames {
			spec.ExtraHosts = append(spec.ExtraHosts, name+":"+alias.IP)
		}
	}
	spec.DNS = pod.Complete.DNS
	if pod.Complete.HostNetwork {
		spec.Network = "host" // with the host's name and ports
		return
	}
	spec.Hostname = pod.Hostname
	spec.Ports = pod.Ports
	spec.Init = pod.Complete.ShareProcessNamespace
	e.joinNetwork(spec, pod)
}

// appSpec completes the spec of an app container as its manifest describes it.
func appSpec(spec *dockertools.ContainerSpec, c *api.Container, rootDir string) {
	spec.WorkingDir = c.WorkingDir
	spec.Memory = c.Memory
	spec.CPUShares, spec.CPULimit = dockertools.CPUShares(c.CPU), c.CPULimit
	spec.Privileged = c.Privileged
	spec.Stdin, spec.TTY = c.Stdin, c.TTY
	if s := c.SecurityContext; s != nil {
		spec.NoNewPrivileges, spec.Unconfined, spec.SeccompFile = s.NoNewPrivileges, s.Unconfined, s.SeccompFile(rootDir)
		spec.CapAdd, spec.CapDrop, spec.ReadOnlyRootFS = s.CapAdd, s.CapDrop, s.ReadOnlyRootFilesystem
		if s.RunAsUser != nil {
			spec.User = strconv.FormatInt(*s.RunAsUser, 10)
		}
		if s.RunAsGroup != nil { // validation refuses it without a user: Docker would take root
			spec.User += ":" + strconv.FormatInt(*s.RunAsGroup, 10)
		}
	}
}

// sharedSpec completes the spec of an app container with what all containers of the pod share.
func sharedSpec(spec *dockertools.ContainerSpec, m *api.ContainerManifest) {
	switch {
	case m.HostPID:
		spec.PIDMode = "host"
	case m.ShareProcessNamespace:
		spec.PIDMode = "container:" + spec.NetworkContainer
	}
	if m.HostIPC {
		spec.IPCMode = "host"
	}
	for _, group := range m.Groups() {
		spec.Groups = append(spec.Groups, strconv.FormatInt(group, 10))
	}
}

// setCommand sets the environment and the command of a container. In a v1 Pod $(NAME) in the command stands for a variable.
func (e *Executor) setCommand(spec *dockertools.ContainerSpec, pod *plan.Pod, a plan.Action) error {
	c := a.Container.Spec
	vars, err := e.Configs.Variables(pod, c, func(field string) string {
		switch field {
		case api.FieldPodIP:
			return a.PodIP
		case api.FieldNodeName:
			return e.Identity.Hostname
		case api.FieldHostIP:
			return dockertools.HostIP() // which asks for a route
		}
		return ""
	})
	if spec.Env = vars.List; vars.Used != "" {
		spec.Labels[dockertools.LabelConfig] = vars.Used
	}
	expand := func(words []string) (all []string) {
		for _, word := range words {
			if pod.Complete.Version == api.VersionV1 {
				word = envvars.Expand(word, vars.Value)
			}
			all = append(all, word)
		}
		return all
	}
	spec.Entrypoint, spec.Command = expand(c.Entrypoint), expand(c.Command)
	return err
}

package kubelet

import (
	"context"
	"fmt"
	"strconv"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/volume"
)

// errPrivileged is checked here once more, as it was in 2014: validation keeps
// such manifests out, and this keeps out what came round it.
var errPrivileged = trouble{reason: api.ReasonPrivilegedRefused, message: "it asks for privileged mode, and -allow_privileged is not set"}

// containerSpec says what to create for a create action. The directories of the
// volumes it mounts are made on the way.
func (kl *Kubelet) containerSpec(ctx context.Context, want *wantedPod, a action) (dockertools.ContainerSpec, error) {
	spec := dockertools.ContainerSpec{Name: a.name.String(), Labels: kl.opts.Identity.Labels(a.name.String())}
	spec.Labels[dockertools.LabelOrigin] = want.Origin
	if a.quickEnds > 0 {
		spec.Labels[dockertools.LabelQuickEnds] = strconv.Itoa(a.quickEnds)
	}
	spec.Log = kl.logLimit
	if a.want.spec == nil {
		kl.describeNetwork(&spec, want)
		return spec, nil
	}
	spec.Labels[dockertools.LabelNetworkContainer] = a.netID
	spec.NetworkContainer = a.netID
	if a.lifecycle != "" {
		spec.Labels[dockertools.LabelLifecycle] = a.lifecycle
	}
	if err := kl.describeApp(&spec, want, a.want.spec); err != nil {
		return spec, err
	}
	path, err := kl.opts.Volumes.MakeTerminationFile(want.UID, terminationFile(a.name))
	spec.Mounts = append(spec.Mounts, dockertools.Mount{HostPath: path, ContainerPath: a.want.spec.TerminationMessagePath})
	return spec, err
}

// describeNetwork fills in the network container: it holds the pod's network
// namespace, host name and ports, and does nothing.
func (kl *Kubelet) describeNetwork(spec *dockertools.ContainerSpec, want *wantedPod) {
	spec.Image = kl.opts.NetworkContainerImage
	if spec.Image == dockertools.PauseImage {
		spec.Entrypoint = dockertools.PauseCommand()
		// It has nothing to tidy up and no handler for SIGTERM, which Linux keeps
		// from a first process without one.
		spec.StopSignal = "SIGKILL"
	}
	spec.Hostname = want.hostname
	for _, port := range want.ports {
		spec.Ports = append(spec.Ports, published(port))
	}
}

// describeApp fills in an app container as its manifest says.
func (kl *Kubelet) describeApp(spec *dockertools.ContainerSpec, want *wantedPod, c *api.Container) error {
	if c.Privileged && !kl.opts.AllowPrivileged {
		return errPrivileged
	}
	spec.Image = c.Image
	spec.Command = c.Command
	spec.WorkingDir = c.WorkingDir
	spec.Memory = c.Memory
	spec.CPUShares = cpuShares(c.CPU)
	spec.Privileged = c.Privileged
	for _, env := range c.Env {
		spec.Env = append(spec.Env, env.Name+"="+env.Value)
	}
	for _, mount := range c.VolumeMounts {
		path, err := kl.setUpVolume(want, mount.Name)
		if err != nil {
			return err
		}
		spec.Mounts = append(spec.Mounts, dockertools.Mount{HostPath: path, ContainerPath: mount.MountPath, ReadOnly: mount.ReadOnly})
	}
	return nil
}

// setUpVolume makes a volume of the pod ready and returns its path on the host.
func (kl *Kubelet) setUpVolume(want *wantedPod, name string) (path string, err error) {
	for i := range want.manifest.Volumes {
		v := &want.manifest.Volumes[i]
		if v.Name != name {
			continue
		}
		vol, err := volume.CreateVolume(v, want.UID, kl.opts.Volumes)
		if err != nil {
			return "", err
		}
		if err := vol.SetUp(); err != nil {
			return "", fmt.Errorf("set up volume %q: %w", name, err)
		}
		return vol.GetPath(), nil
	}
	return "", fmt.Errorf("mount volume %q: the pod has no volume of this name", name)
}

// cpuShares turns thousandths of a core into Docker's relative shares: 1024 a
// core, and no less than the 2 that Linux takes. 0 stays Docker's default.
func cpuShares(milliCPU int64) int64 {
	if milliCPU == 0 {
		return 0
	}
	return max(milliCPU*1024/1000, 2)
}

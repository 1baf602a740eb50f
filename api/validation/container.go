package validation

import (
	"cmp"
	"path"
	"strings"

	"github.com/distribution/reference"

	"kubelet14/api"
)

// The limits of Docker: the least memory, in bytes, and the most thousandths of a core,
// which are 262144 of its shares.
const (
	minMemory = 6 << 20
	maxCPU    = 256_000
)

// validateContainer checks a container, and adds its name and its host ports to what is taken.
func (r Rules) validateContainer(c checker, in *api.Container, taken, volumes names, hostPorts hostPorts) {
	c.name(in.Name, taken)
	c.check(in.Name != api.NetworkContainerName, forbidden, "name", in.Name, "this is the name of every pod's network container")
	if _, err := reference.ParseDockerRef(in.Image); in.Image == "" {
		c.check(false, required, "image", "", "")
	} else if err != nil {
		c.check(false, invalid, "image", in.Image, err.Error())
	}
	if in.WorkingDir != "" {
		c.absolute("workingDir", in.WorkingDir)
	}
	if in.TerminationMessagePath != "" {
		c.absolute("terminationMessagePath", in.TerminationMessagePath)
	}
	messagePath := path.Clean(cmp.Or(in.TerminationMessagePath, api.DefaultTerminationMessagePath))
	c.check(messagePath != "/", invalid, "terminationMessagePath", in.TerminationMessagePath,
		"a file cannot replace the whole file system of the container")
	c.check(in.Memory == 0 || in.Memory >= minMemory, invalid, "memory", in.Memory,
		"this is in bytes; Docker needs at least 6291456 (6 MiB), and 0 means no limit")
	c.check(in.CPU >= 0 && in.CPU <= maxCPU, invalid, "cpu", in.CPU,
		"this is in thousandths of a core: use 0 to 256000; 0 means Docker's default share")
	c.check(r.AllowPrivileged || !in.Privileged, forbidden, "privileged", in.Privileged, "the kubelet runs without -allow_privileged")
	switch in.ImagePullPolicy {
	case "", api.PullAlways, api.PullNever, api.PullIfNotPresent:
	default:
		c.check(false, unsupported, "imagePullPolicy", in.ImagePullPolicy, "use PullAlways, PullNever or PullIfNotPresent")
	}
	portNames := names{}
	for i := range in.Ports {
		validatePort(c.in("ports[%d]", i), &in.Ports[i], portNames, hostPorts)
	}
	for i, e := range in.Env {
		if e.Name == "" {
			c.in("env[%d]", i).check(false, required, "name", "", "")
		} else if !isCIdentifier(e.Name) {
			// With a typing error it may be PASSWORD=secret.
			c.in("env[%d]", i).check(false, invalid, "name", "(hidden)", "use A-Z, a-z, 0-9 and '_', and no digit first")
		}
	}
	mountPaths := names{messagePath: true} // a file is mounted there
	for i := range in.VolumeMounts {
		validateMount(c.in("volumeMounts[%d]", i), &in.VolumeMounts[i], volumes, mountPaths)
	}
	validateProbe(c.in("livenessProbe"), in.LivenessProbe, in.Ports)
	if in.Lifecycle != nil {
		validateHandler(c.in("lifecycle.postStart"), in.Lifecycle.PostStart, in.Ports)
		validateHandler(c.in("lifecycle.preStop"), in.Lifecycle.PreStop, in.Ports)
	}
}

func validateMount(c checker, m *api.VolumeMount, volumes, taken names) {
	if m.Name == "" {
		c.check(false, required, "name", "", "")
	} else {
		c.check(volumes[m.Name], notFound, "name", m.Name, "the pod has no volume of this name")
	}
	c.absolute("mountPath", m.MountPath)
	clean := path.Clean(m.MountPath)
	c.check(!strings.Contains(m.MountPath, ":"), invalid, "mountPath", m.MountPath, "a ':' cannot be part of it")
	c.check(clean != "/", invalid, "mountPath", m.MountPath, "a volume cannot replace the whole file system of the container")
	c.check(!taken[clean], duplicate, "mountPath", m.MountPath, "another volume or the termination message has this path")
	taken[clean] = m.MountPath != ""
}

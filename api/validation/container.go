package validation

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/distribution/reference"

	"kubelet14/api"
)

// What Docker starts a container with: the least memory, in bytes, and the most
// thousandths of a core, which are 262144 of its shares.
const (
	minMemory = 6 << 20
	maxCPU    = 256_000
)

// validateContainer checks c, and notes its name and host ports as taken.
func (r Rules) validateContainer(c *api.Container, taken, volumes names, hostPorts hostPorts) api.FieldErrors {
	errs := taken.validateName(c.Name)
	if c.Name == api.NetworkContainerName {
		add(&errs, Forbidden, "name", c.Name, "this is the name of every pod's network container")
	}
	if c.Image == "" {
		add(&errs, Required, "image", c.Image, "")
	} else if _, err := reference.ParseDockerRef(c.Image); err != nil {
		add(&errs, Invalid, "image", c.Image, "%v", err)
	}
	if c.WorkingDir != "" {
		validatePath(&errs, "workingDir", c.WorkingDir)
	}
	messagePath := path.Clean(cmp.Or(c.TerminationMessagePath, api.DefaultTerminationMessagePath))
	if c.TerminationMessagePath != "" {
		validatePath(&errs, "terminationMessagePath", c.TerminationMessagePath)
	}
	if messagePath == "/" {
		add(&errs, Invalid, "terminationMessagePath", c.TerminationMessagePath, "a file cannot take the place of the container's whole file system")
	}
	if c.Memory < 0 || c.Memory > 0 && c.Memory < minMemory {
		add(&errs, Invalid, "memory", c.Memory, "this is in bytes; Docker needs at least %d (6 MiB), and 0 means no limit", minMemory)
	}
	if c.CPU < 0 || c.CPU > maxCPU {
		add(&errs, Invalid, "cpu", c.CPU, "this is in thousandths of a core: use 0 to %d; 0 means Docker's default share", maxCPU)
	}
	if c.Privileged && !r.AllowPrivileged {
		add(&errs, Forbidden, "privileged", true, "the kubelet runs without -allow_privileged")
	}
	switch c.ImagePullPolicy {
	case "", api.PullAlways, api.PullNever, api.PullIfNotPresent:
	default:
		add(&errs, Unsupported, "imagePullPolicy", c.ImagePullPolicy, "use PullAlways, PullNever or PullIfNotPresent")
	}
	portNames := names{}
	for i := range c.Ports {
		addItem(&errs, "ports", i, validatePort(&c.Ports[i], portNames, hostPorts))
	}
	for i, e := range c.Env {
		if e.Name == "" {
			add(&errs, Required, fmt.Sprintf("env[%d].name", i), e.Name, "")
		} else if !isCIdentifier(e.Name) {
			add(&errs, Invalid, fmt.Sprintf("env[%d].name", i), e.Name, wantIdentifier)
		}
	}
	mountPaths := names{messagePath: true} // a file is mounted there
	for i := range c.VolumeMounts {
		addItem(&errs, "volumeMounts", i, validateMount(&c.VolumeMounts[i], volumes, mountPaths))
	}
	errs.AddIn("livenessProbe", validateProbe(c.LivenessProbe, c.Ports))
	if c.Lifecycle != nil {
		errs.AddIn("lifecycle.postStart", validateHandler(c.Lifecycle.PostStart, c.Ports))
		errs.AddIn("lifecycle.preStop", validateHandler(c.Lifecycle.PreStop, c.Ports))
	}
	return errs
}

func validateMount(m *api.VolumeMount, volumes, paths names) api.FieldErrors {
	var errs api.FieldErrors
	switch {
	case m.Name == "":
		add(&errs, Required, "name", m.Name, "")
	case !volumes[m.Name]:
		add(&errs, NotFound, "name", m.Name, "the pod has no volume of this name")
	}
	validatePath(&errs, "mountPath", m.MountPath)
	clean := path.Clean(m.MountPath)
	switch {
	case strings.Contains(m.MountPath, ":"):
		add(&errs, Invalid, "mountPath", m.MountPath, "a ':' cannot be part of it")
	case clean == "/":
		add(&errs, Invalid, "mountPath", m.MountPath, "a volume cannot take the place of the container's whole file system")
	case paths[clean]:
		add(&errs, Duplicate, "mountPath", m.MountPath, "only one volume fits on a path, and none on that of the termination message")
	}
	paths[clean] = m.MountPath != ""
	return errs
}

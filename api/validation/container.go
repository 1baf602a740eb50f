package validation

import (
	"fmt"
	"path"
	"strings"

	"github.com/distribution/reference"

	"kubelet14/api"
)

// minMemory is the least memory, in bytes, that Docker starts a container with.
const minMemory = 6 << 20

// validateContainer checks c, and notes its name and host ports as taken.
func (r Rules) validateContainer(c *api.Container, taken, volumes names, hostPorts hostPorts) ErrorList {
	errs := taken.validateName(c.Name)
	if c.Name == api.NetworkContainerName {
		errs.add(Forbidden, "name", c.Name, "this is the name of every pod's network container")
	}
	if c.Image == "" {
		errs.add(Required, "image", c.Image, "")
	} else if !isPlainImage(c.Image) {
		if _, err := reference.ParseDockerRef(c.Image); err != nil {
			errs.add(Invalid, "image", c.Image, "%v", err)
		}
	}
	if c.WorkingDir != "" {
		validatePath(&errs, "workingDir", c.WorkingDir)
	}
	if c.TerminationMessagePath != "" {
		validatePath(&errs, "terminationMessagePath", c.TerminationMessagePath)
	}
	if c.Memory < 0 || c.Memory > 0 && c.Memory < minMemory {
		errs.add(Invalid, "memory", c.Memory, "this is in bytes; Docker needs at least %d (6 MiB), and 0 means no limit", minMemory)
	}
	if c.CPU < 0 {
		errs.add(Invalid, "cpu", c.CPU, "this is in thousandths of a core; 0 means no limit")
	}
	if c.Privileged && !r.AllowPrivileged {
		errs.add(Forbidden, "privileged", true, "the kubelet runs without -allow_privileged")
	}
	if !isPullPolicy(c.ImagePullPolicy) {
		errs.add(Unsupported, "imagePullPolicy", c.ImagePullPolicy, "use PullAlways, PullNever or PullIfNotPresent")
	}
	portNames := names{}
	for i := range c.Ports {
		errs.addItem("ports", i, validatePort(&c.Ports[i], portNames, hostPorts))
	}
	for i, e := range c.Env {
		if e.Name == "" {
			errs.add(Required, fmt.Sprintf("env[%d].name", i), e.Name, "")
		} else if !isCIdentifier(e.Name) {
			errs.add(Invalid, fmt.Sprintf("env[%d].name", i), e.Name, wantIdentifier)
		}
	}
	mountPaths := names{}
	for i := range c.VolumeMounts {
		errs.addItem("volumeMounts", i, validateMount(&c.VolumeMounts[i], volumes, mountPaths))
	}
	errs.addIn("livenessProbe", validateProbe(c.LivenessProbe, c.Ports))
	if c.Lifecycle != nil {
		errs.addIn("lifecycle.postStart", validateHandler(c.Lifecycle.PostStart, c.Ports))
		errs.addIn("lifecycle.preStop", validateHandler(c.Lifecycle.PreStop, c.Ports))
	}
	return errs
}

func isPullPolicy(p api.PullPolicy) bool {
	for _, known := range []api.PullPolicy{"", api.PullAlways, api.PullNever, api.PullIfNotPresent} {
		if strings.EqualFold(string(p), string(known)) {
			return true
		}
	}
	return false
}

func validateMount(m *api.VolumeMount, volumes, paths names) ErrorList {
	var errs ErrorList
	switch {
	case m.Name == "":
		errs.add(Required, "name", m.Name, "")
	case !volumes[m.Name]:
		errs.add(NotFound, "name", m.Name, "the pod has no volume of this name")
	}
	validatePath(&errs, "mountPath", m.MountPath)
	clean := path.Clean(m.MountPath)
	switch {
	case strings.Contains(m.MountPath, ":"):
		errs.add(Invalid, "mountPath", m.MountPath, "a ':' cannot be part of it")
	case clean == "/":
		errs.add(Invalid, "mountPath", m.MountPath, "a volume cannot take the place of the container's whole file system")
	case paths[clean]:
		errs.add(Duplicate, "mountPath", m.MountPath, "only one volume fits on a path")
	}
	paths[clean] = m.MountPath != ""
	return errs
}

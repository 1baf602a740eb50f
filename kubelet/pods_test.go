package kubelet

import (
	"strings"

	"kubelet14/api"
)

// never gives a pod the restart policy never.
func never(p api.Pod) api.Pod {
	p.Manifest.RestartPolicy = api.RestartPolicy{Never: &api.RestartPolicyNever{}}
	return p
}

// onFailure gives a pod the restart policy onFailure.
func onFailure(p api.Pod) api.Pod {
	p.Manifest.RestartPolicy = api.RestartPolicy{OnFailure: &api.RestartPolicyOnFailure{}}
	return p
}

// pod makes a pod with these app containers. Each may have a tag after a colon, the value of a variable, so that
// another tag is an edit.
func pod(name string, containers ...string) api.Pod {
	p := api.Pod{Name: name, Namespace: "default", UID: "uid-" + name, Source: "file", Origin: name + ".yaml"}
	p.Manifest = api.ContainerManifest{Version: "v1beta1", ID: name, Volumes: []api.Volume{{Name: "data"}}}
	for _, c := range containers {
		c, tag, _ := strings.Cut(c, ":")
		p.Manifest.Containers = append(p.Manifest.Containers, api.Container{
			Name: c, Image: "hello:1", Env: []api.EnvVar{{Name: "TAG", Value: tag}},
			VolumeMounts: []api.VolumeMount{{Name: "data", MountPath: "/data"}},
		})
	}
	return p
}

// publish gives the pod's first container a port of the host.
func publish(p api.Pod, hostPort int) api.Pod {
	p.Manifest.Containers[0].Ports = []api.Port{{HostPort: hostPort, ContainerPort: 80}}
	return p
}

// withUID gives a pod another UID.
func withUID(p api.Pod, uid string) api.Pod {
	p.UID = uid
	return p
}

// ofImage gives the pod's first container another image.
func ofImage(p api.Pod, image string, policy api.PullPolicy) api.Pod {
	p.Manifest.Containers[0].Image, p.Manifest.Containers[0].ImagePullPolicy = image, policy
	return p
}

// probed gives the pod's first container a probe by exec.
func probed(p api.Pod, initialDelay int64) api.Pod {
	check := &api.ExecAction{Command: []string{"check"}}
	p.Manifest.Containers[0].LivenessProbe = &api.Probe{Exec: check, InitialDelaySeconds: initialDelay}
	return p
}

// hooked gives the pod's first container both hooks, by exec.
func hooked(p api.Pod) api.Pod {
	run := func(command string) *api.Handler {
		return &api.Handler{Exec: &api.ExecAction{Command: []string{command}}}
	}
	p.Manifest.Containers[0].Lifecycle = &api.Lifecycle{PostStart: run("hello"), PreStop: run("bye")}
	return p
}

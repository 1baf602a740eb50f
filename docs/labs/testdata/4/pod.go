package main

import "fmt"

// wanted is a container of a pod that should run.
type wanted struct {
	name    string   // in its pod
	network string   // the name of the container whose network it joins; empty: it has its own
	args    []string // of docker create, after name, label and network
}

// pauseImage waits for ever. Only SIGKILL ends it.
const pauseImage = "kubelet14/pause:1"

// network returns the container that holds the network of a pod: its host name, its address and its ports.
func network(m Manifest) wanted {
	args := []string{"--hostname", m.ID, "--stop-signal", "KILL"}
	for _, c := range m.Containers {
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				args = append(args, "--publish", fmt.Sprintf("%d:%d", p.HostPort, p.ContainerPort))
			}
		}
	}
	return wanted{"net", "", append(args, pauseImage, "/pause")}
}

// app returns a container of the manifest, which joins a network container.
func app(pod, net string, c Container) wanted {
	var args []string
	for _, env := range c.Env {
		args = append(args, "--env", env.Name+"="+env.Value)
	}
	for _, m := range c.VolumeMounts {
		args = append(args, "--volume", volume(pod, m.Name)+":"+m.MountPath) // Docker makes it if it is not there
	}
	return wanted{c.Name, net, append(append(args, c.Image), c.Command...)}
}

// volume returns the name that Docker knows a volume of a pod by.
func volume(pod, name string) string { return pod + "_" + name }

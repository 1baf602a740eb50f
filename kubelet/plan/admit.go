package plan

import (
	"fmt"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Admit returns the pods that must wait because another pod has their UID or one of their
// host ports, by full name, with the reason. A pod that must wait keeps its containers.
//
// The pod whose containers have the UID or the port keeps it, also while it is being
// removed; otherwise the first by name gets it. (In 2014 the order was that of a Go map.)
// Pods with one UID would share their volumes.
//
// The pods are ordered by full name. Those for which finished is true need no port.
func Admit(pods []*Pod, finished func(*Pod) bool, list []dockertools.Owned) map[string]Problem {
	desired := map[string]*Pod{}
	for _, pod := range pods {
		desired[pod.FullName] = pod
	}
	a := admission{owners: map[string]string{}}
	for i := range list {
		a.observe(&list[i], desired[list[i].Of.PodFullName])
	}
	waiting := map[string]Problem{}
	for _, pod := range pods {
		problem := a.uidConflict(pod, desired)
		if problem == nil && !finished(pod) {
			problem = a.portConflict(pod)
		}
		if problem != nil {
			waiting[pod.FullName] = *problem
		} else if !finished(pod) {
			for _, port := range pod.Ports {
				a.ports = append(a.ports, portOwner{Published(port), pod.FullName, "which comes first by name"})
			}
		}
	}
	return waiting
}

// admission is what pods have of that which can be had only once.
type admission struct {
	owners map[string]string // full name of the pod, by UID
	ports  []portOwner
}

type portOwner struct {
	port     dockertools.PublishedPort
	pod, why string
}

// observe records what an existing container has. Its pod is nil if it is not desired.
func (a *admission) observe(c *dockertools.Owned, pod *Pod) {
	owner, owned := a.owners[c.Of.UID]
	if (pod == nil || pod.UID == c.Of.UID) && (!owned || c.Of.PodFullName < owner) {
		a.owners[c.Of.UID] = c.Of.PodFullName
	}
	if !c.State.Live() {
		return
	}
	for _, port := range c.Ports {
		if pod == nil {
			a.ports = append(a.ports, portOwner{port, c.Of.PodFullName, "whose containers are still there"})
		} else if pod.publishes(port) {
			a.ports = append(a.ports, portOwner{port, pod.FullName, "which runs"})
		}
	}
}

func (a *admission) uidConflict(pod *Pod, desired map[string]*Pod) *Problem {
	owner, owned := a.owners[pod.UID]
	message := "uuid %s belongs to pod %s, whose containers are still there"
	switch {
	case !owned:
		a.owners[pod.UID] = pod.FullName
		return nil
	case owner == pod.FullName:
		return nil
	case desired[owner] != nil:
		message = "uuid %s belongs to pod %s: give one of the two another uuid"
		owner = desired[owner].String()
	}
	return &Problem{Reason: api.ReasonUUIDTaken, Message: fmt.Sprintf(message, pod.UID, owner)}
}

func (a *admission) portConflict(pod *Pod) *Problem {
	for _, port := range pod.Ports {
		for _, owner := range a.ports {
			if owner.pod != pod.FullName && overlap(Published(port), owner.port) {
				return &Problem{Reason: api.ReasonPortTaken, Message: fmt.Sprintf("host port %d/%s is taken by pod %s, %s",
					port.HostPort, strings.ToLower(string(port.Protocol)), owner.pod, owner.why)}
			}
		}
	}
	return nil
}

// publishes reports whether a port that Docker publishes for the pod is still desired.
func (p *Pod) publishes(port dockertools.PublishedPort) bool {
	return slices.ContainsFunc(p.Ports, func(want api.Port) bool { return overlap(Published(want), port) })
}

// Published returns a port of a manifest in the form of Docker's list.
func Published(port api.Port) dockertools.PublishedPort {
	return dockertools.PublishedPort{
		HostIP: port.HostIP, HostPort: port.HostPort, ContainerPort: port.ContainerPort, Protocol: strings.ToLower(string(port.Protocol)),
	}
}

// overlap reports whether two ports share number, protocol and a host address.
func overlap(a, b dockertools.PublishedPort) bool {
	everyAddress := func(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }
	return a.HostPort == b.HostPort && a.Protocol == b.Protocol &&
		(a.HostIP == b.HostIP || everyAddress(a.HostIP) || everyAddress(b.HostIP))
}

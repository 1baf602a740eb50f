package kubelet

import (
	"fmt"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// claim is a port of the host that a pod has or is to get.
type claim struct {
	port dockertools.PublishedPort
	pod  string // full name
	why  string // what the pod does with it, for people
}

// admit says which pods must wait for a port of the host, and why. Two ports
// conflict when number and protocol are the same and the host IPs overlap.
//
// The pod that holds a port wins while it wants it, and also while it is being
// removed; then the first in the order of pods, which is that of their names.
// One that must wait keeps running as it is. In 2014 the order was that of a Go
// map, so at each sync another pod could win.
//
// pods are those that want their ports; a pod that has done its work is not
// among them.
func admit(pods []*wantedPod, list []dockertools.Owned) (blocked map[string]trouble) {
	wanted := map[string]*wantedPod{}
	for _, pod := range pods {
		wanted[pod.fullName] = pod
	}
	var claims []claim
	for i := range list {
		c := &list[i]
		if !c.State.Live() {
			continue
		}
		for _, port := range c.Ports {
			pod := wanted[c.Of.PodFullName]
			switch {
			case pod == nil:
				claims = append(claims, claim{port, c.Of.PodFullName, "whose containers are still there"})
			case pod.wantsPort(port):
				claims = append(claims, claim{port, pod.fullName, "which runs"})
			}
		}
	}

	blocked = map[string]trouble{}
	for _, pod := range pods {
		if reason := conflict(pod, claims); reason != "" {
			blocked[pod.fullName] = trouble{reason: api.ReasonPortTaken, message: reason}
			continue // what it does not get, it does not claim
		}
		for _, port := range pod.ports {
			claims = append(claims, claim{published(port), pod.fullName, "which comes first by name"})
		}
	}
	return blocked
}

// sharedUIDs says which pods must wait because another pod has their UID, and why.
// No source gives a UID to two pods, but a manifest may be copied, or moved, from
// one source to another with its uuid. Pods with one UID would share their volumes,
// and one that goes would take them along.
//
// As with ports, the pod that has containers of the UID wins while it wants it, and
// while it is being removed; then the first in the order of pods, which is that of
// their names. So a pod that was moved waits for the old one to go, and inherits
// its volumes.
func sharedUIDs(pods []*wantedPod, list []dockertools.Owned) (blocked map[string]trouble) {
	wanted, holders := map[string]*wantedPod{}, map[string]string{}
	for _, pod := range pods {
		wanted[pod.fullName] = pod
	}
	for i := range list {
		uid, name := list[i].Of.UID, list[i].Of.PodFullName
		if pod := wanted[name]; pod != nil && pod.UID != uid {
			continue // it has got another uuid, and these containers go
		}
		if first, held := holders[uid]; !held || name < first {
			holders[uid] = name
		}
	}
	blocked = map[string]trouble{}
	for _, pod := range pods {
		name, held := holders[pod.UID]
		switch holder := wanted[name]; {
		case !held:
			holders[pod.UID] = pod.fullName
		case holder == nil:
			blocked[pod.fullName] = trouble{reason: api.ReasonUUIDTaken, message: fmt.Sprintf("uuid %s is that of pod %s, whose containers are still there", pod.UID, name)}
		case holder != pod:
			blocked[pod.fullName] = trouble{reason: api.ReasonUUIDTaken, message: fmt.Sprintf("uuid %s is also that of pod %s: give one of the two another uuid", pod.UID, holder)}
		}
	}
	return blocked
}

// conflict finds the first port of a pod that another pod claims.
func conflict(pod *wantedPod, claims []claim) string {
	for _, port := range pod.ports {
		for _, c := range claims {
			if c.pod != pod.fullName && overlap(published(port), c.port) {
				return fmt.Sprintf("host port %d/%s is taken by pod %s, %s", port.HostPort, strings.ToLower(string(port.Protocol)), c.pod, c.why)
			}
		}
	}
	return ""
}

func (w *wantedPod) wantsPort(held dockertools.PublishedPort) bool {
	for _, port := range w.ports {
		if overlap(published(port), held) {
			return true
		}
	}
	return false
}

// published is a port of a manifest in Docker's words.
func published(port api.Port) dockertools.PublishedPort {
	return dockertools.PublishedPort{
		HostIP:        port.HostIP,
		HostPort:      port.HostPort,
		ContainerPort: port.ContainerPort,
		Protocol:      strings.ToLower(string(port.Protocol)),
	}
}

func overlap(a, b dockertools.PublishedPort) bool {
	return a.HostPort == b.HostPort && a.Protocol == b.Protocol &&
		(a.HostIP == b.HostIP || everyAddress(a.HostIP) || everyAddress(b.HostIP))
}

func everyAddress(ip string) bool {
	return ip == "" || ip == "0.0.0.0" || ip == "::"
}

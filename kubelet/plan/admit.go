package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Admit returns the pods that must wait because another pod has their UID, and so would share their volumes, or one of
// their host ports, or can write above a part of a claim that they mount. It returns the reason by full name. A pod that
// waits keeps its containers.
//
// A pod whose containers have the UID or the port keeps it, even while it is being removed. So does a busy pod: the list may not
// show the containers that its worker has created. Otherwise the first pod by name wins. (In 2014 it was the order of a Go map.)
//
// Finished pods need no port, and evicted pods choose first. The busy pods are as their workers are starting them.
func Admit(pods map[string]*Pod, finished, evicted func(*Pod) bool, busy []*Pod, list []dockertools.Listed) map[string]Problem {
	uids, ports := owners(pods, busy, list)
	waiting := map[string]Problem{}
	rank := map[bool]int{true: 0, false: 1} // by whether it was evicted
	names := slices.Sorted(maps.Keys(pods))
	order := slices.SortedStableFunc(slices.Values(names), func(a, b string) int {
		return cmp.Compare(rank[evicted(pods[a])], rank[evicted(pods[b])])
	})
	for _, name := range order {
		pod := pods[name]
		uids[pod.UID] = cmp.Or(uids[pod.UID], name)
		claimConflict, portConflict := pod.claimConflict(names, pods), pod.portConflict(ports)
		switch owner := uids[pod.UID]; {
		case owner != name:
			message := "uuid %s belongs to pod %s, whose containers are still there"
			if other := pods[owner]; other != nil {
				message, owner = "uuid %s belongs to pod %s: give one of the two another uuid", other.String()
			}
			waiting[name] = Problem{Reason: api.ReasonUUIDTaken, Message: fmt.Sprintf(message, pod.UID, owner)}
		case finished(pod):
		case claimConflict != "":
			waiting[name] = Problem{Reason: api.ReasonClaimShared, Message: claimConflict}
		case portConflict != "":
			waiting[name] = Problem{Reason: api.ReasonPortTaken, Message: portConflict}
		default:
			for _, port := range pod.Ports {
				ports = append(ports, portOwner{port, name, "which comes first"})
			}
		}
	}
	return waiting
}

// portOwner is a pod that has a host port or is about to get it.
type portOwner struct {
	port     api.Port
	pod, why string
}

// owners returns the UIDs and ports that busy pods and existing containers hold.
func owners(desired map[string]*Pod, busy []*Pod, list []dockertools.Listed) (uids map[string]string, ports []portOwner) {
	uids = map[string]string{} // full name of the pod by UID
	for i := range list {
		c := &list[i]
		name, pod := c.Of.PodFullName, desired[c.Of.PodFullName]
		if owner, owned := uids[c.Of.UID]; (pod == nil || pod.UID == c.Of.UID) && (!owned || name < owner) {
			uids[c.Of.UID] = name
		}
		held := c.Ports
		if pod != nil && pod.Complete.HostNetwork { // Docker does not list the ports that a program opens on the host
			held = slices.Concat(held, pod.Ports)
		}
		for _, port := range held {
			switch {
			case !c.ListState.Live():
			case pod == nil:
				ports = append(ports, portOwner{port, name, "whose containers are still there"})
			case slices.ContainsFunc(pod.Ports, port.Overlaps):
				ports = append(ports, portOwner{port, name, "which runs"})
			}
		}
	}
	for _, pod := range busy {
		uids[pod.UID] = cmp.Or(uids[pod.UID], pod.FullName())
		for _, port := range pod.Ports {
			ports = append(ports, portOwner{port, pod.FullName(), "which is being started"})
		}
	}
	return uids, ports
}

// portConflict describes the first port of a pod that another pod has, or returns "".
func (p *Pod) portConflict(owners []portOwner) string {
	for _, port := range p.Ports {
		for _, owner := range owners {
			if owner.pod != p.FullName() && port.Overlaps(owner.port) {
				protocol := strings.ToLower(string(port.Protocol))
				return fmt.Sprintf("host port %d/%s is taken by pod %s, %s", port.HostPort, protocol, owner.pod, owner.why)
			}
		}
	}
	return ""
}

// claimConflict describes another pod that can write above a part of a claim that the pod mounts, or returns "". Validation has
// checked the containers of the pod itself.
func (p *Pod) claimConflict(names []string, pods map[string]*Pod) string {
	for claim, part := range p.Complete.ClaimParts() {
		isClaim := func(v *api.Volume) bool { return v.ClaimName() == claim }
		for _, name := range names {
			other := pods[name]
			if writer := other.Complete.WriterAbove(part, other.Complete.All(), isClaim); writer != "" && other != p && other.Namespace == p.Namespace {
				return fmt.Sprintf("container %q of pod %s can write to the directories above %s in claim %s, and could put a link there: "+
					"let it mount other parts of the claim, or mount it readOnly", writer, name, part, claim)
			}
		}
	}
	return ""
}

package dockertools

import (
	"fmt"
	"strconv"
	"strings"
)

// NameParts are the parts of a container's name. The last is the number of the attempt, so two workers that create the
// same container choose the same name, and Docker refuses one of them. In 2014 it was a random number.
type NameParts struct {
	Name        string // of the container in its manifest, or api.NetworkContainerName
	Hash        string // of its desired state, in lower-case hex
	PodFullName string // name.namespace.source
	UID         string // of the pod
	Attempt     int    // 1 for the first container of this pod and name
}

// String returns the container name: k8s_<name>.<hash>_<full name>_<uid>_<attempt>. No
// part has an underscore: they are DNS names, hex digits and UIDs.
func (p NameParts) String() string {
	return fmt.Sprintf("k8s_%s.%s_%s_%s_%d", p.Name, p.Hash, p.PodFullName, p.UID, p.Attempt)
}

// TerminationFile returns the name of the container's termination message file in a volume.RootDir.
func (p NameParts) TerminationFile() string { return fmt.Sprintf("%s.%d", p.Name, p.Attempt) }

// ParseContainerName is the inverse of String. ok is false for every other name.
func ParseContainerName(name string) (p NameParts, ok bool) {
	fields := strings.Split(name, "_")
	if len(fields) != 5 {
		return NameParts{}, false
	}
	p.Name, p.Hash, _ = strings.Cut(fields[1], ".")
	p.PodFullName, p.UID = fields[2], fields[3]
	p.Attempt, _ = strconv.Atoi(fields[4])
	if p.Name == "" || p.Hash == "" || p.PodFullName == "" || p.UID == "" || p.Attempt < 1 || p.String() != name {
		return NameParts{}, false
	}
	return p, true
}

// BridgeNetwork is Docker's default network, which all pods shared in 2014. Containers have no names in it.
const BridgeNetwork = "bridge"

// The labels of the kubelet's containers.
const (
	LabelHostname = "kubelet14.hostname" // half of the kubelet's identity
	LabelRootDir  = "kubelet14.root_dir" // the other half
	// LabelName holds the container's own name. An image committed from the container
	// has its labels too, but a container of that image has another name.
	LabelName   = "kubelet14.name"
	LabelOrigin = "kubelet14.origin" // where its manifest was read, for display

	LabelNetworkContainer = "kubelet14.network_container" // the id of the container whose network it joins
	LabelQuickEnds        = "kubelet14.quick_ends"        // how many attempts in a row crashed before it
	LabelRestarts         = "kubelet14.restarts"          // how many attempts with the same hash were started before it
	LabelRestart          = "kubelet14.restart"           // the newest restart of its pod by a person, in milliseconds since 1970
	LabelLifecycle        = "kubelet14.lifecycle"         // its hooks, as the JSON of an api.Lifecycle whose ports are numbers
	LabelGrace            = "kubelet14.grace"             // seconds that stopping it may take, including its preStop hook
	LabelInit             = "kubelet14.init"              // of a network container: the plan.Pod.InitHash of its pod
	LabelSidecar          = "kubelet14.sidecar"           // of a sidecar: its turn to be stopped after the apps, from 1
	LabelServices         = "kubelet14.services"          // what it got from services
	LabelConfig           = "kubelet14.config"            // what it got from ConfigMaps and Secrets, see configmaps.Variables
	LabelMessagePolicy    = "kubelet14.message_policy"    // an api.TerminationMessagePolicy

	// Prefixes for the keys of the pod's labels and annotations, which are for people and other programs.
	LabelOfPod        = "kubelet14.label/"
	LabelOfAnnotation = "kubelet14.annotation/"
)

// LabelNetwork is the label of a network that a kubelet made, and of the network containers
// in it. Its value is the network's name.
const LabelNetwork = "kubelet14.network"

// Identity is the identity of a kubelet. Several kubelets can share a Docker if both fields differ.
type Identity struct {
	Hostname string
	RootDir  string // absolute
}

// Selector returns the labels that every container of this kubelet has.
func (id Identity) Selector() map[string]string {
	return map[string]string{LabelHostname: id.Hostname, LabelRootDir: id.RootDir}
}

// Labels returns the labels that identify a container of this kubelet with that name.
func (id Identity) Labels(name string) map[string]string {
	labels := id.Selector()
	labels[LabelName] = name
	return labels
}

// Listed is a container of this kubelet, with its name and labels parsed.
type Listed struct {
	Container
	Of               NameParts
	NetworkContainer string // see LabelNetworkContainer
	QuickEnds        int    // see LabelQuickEnds
	Restarts         int    // see LabelRestarts
	Restart          int64  // see LabelRestart
}

// Own reports whether a container belongs to this kubelet. The name alone does not tell:
// Kubernetes' own kubelets named containers k8s_... too.
func (id Identity) Own(c Container) (Listed, bool) {
	parts, ok := ParseContainerName(c.Name)
	if !ok || !c.hasOwnNameLabel() || c.identity() != id {
		return Listed{}, false
	}
	crashes, _ := strconv.Atoi(c.Labels[LabelQuickEnds]) // 0 if it is not a number
	restarts, _ := strconv.Atoi(c.Labels[LabelRestarts])
	restart, _ := strconv.ParseInt(c.Labels[LabelRestart], 10, 64)
	return Listed{
		Container:        c,
		Of:               parts,
		NetworkContainer: c.Labels[LabelNetworkContainer],
		QuickEnds:        max(crashes, 0),
		Restarts:         max(restarts, 0),
		Restart:          restart,
	}, true
}

func (c *Container) identity() Identity {
	return Identity{c.Labels[LabelHostname], c.Labels[LabelRootDir]}
}

func (c *Container) hasOwnNameLabel() bool {
	return c.Labels[LabelName] == c.Name
}

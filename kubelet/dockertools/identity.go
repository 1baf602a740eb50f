package dockertools

import (
	"fmt"
	"strconv"
	"strings"
)

// NameParts is what the name of a container says. It ends with the number of the
// attempt, which two who build it at once both know. 2014 ended its names with a
// random number instead, and two of a kind could live side by side.
type NameParts struct {
	Name        string // of the container in its manifest, or api.NetworkContainerName
	Hash        string // of what it was made from, lower-case hex
	PodFullName string // name.namespace.source
	UID         string // of the pod
	Attempt     int    // 1 for the first container of this pod and name
	// AwaitsHook: its postStart has not succeeded yet. The container is created
	// under such a name and renamed when it has, so that Docker remembers which
	// hooks are still to run.
	AwaitsHook bool
}

// hookSuffix ends the name of a container that awaits its postStart.
const hookSuffix = "_poststart"

// String builds the container name: k8s_<name>.<hash>_<full name>_<uid>_<attempt>,
// with _poststart behind it while the container awaits that hook. No part holds an
// underscore: they are DNS names, hex digits and UIDs.
func (p NameParts) String() string {
	name := fmt.Sprintf("k8s_%s.%s_%s_%s_%d", p.Name, p.Hash, p.PodFullName, p.UID, p.Attempt)
	if p.AwaitsHook {
		name += hookSuffix
	}
	return name
}

// ParseContainerName undoes String. ok is false for every name that String would
// not have built.
func ParseContainerName(name string) (p NameParts, ok bool) {
	plain, awaitsHook := strings.CutSuffix(name, hookSuffix)
	p.AwaitsHook = awaitsHook
	fields := strings.Split(plain, "_")
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

// The labels of every container the kubelet makes.
const (
	LabelHostname = "kubelet14.hostname" // first half of the kubelet's identity
	LabelRootDir  = "kubelet14.root_dir" // second half
	LabelName     = "kubelet14.name"     // the container's own name, without _poststart: an image committed from it copies labels, and cannot copy this truth
	LabelOrigin   = "kubelet14.origin"   // where its manifest was read, for people

	LabelNetworkContainer = "kubelet14.network_container" // id of the container whose network it joined; app containers only
	LabelQuickEnds        = "kubelet14.quick_ends"        // how many attempts before it ended quickly, one after another
	LabelLifecycle        = "kubelet14.lifecycle"         // its hooks, as the JSON of an api.Lifecycle whose ports are numbers
)

// Identity is what makes a container this kubelet's own. Several kubelets share
// one Docker in peace when both halves differ.
type Identity struct {
	Hostname string
	RootDir  string // absolute
}

// Owned is a container of this kubelet: a line of Docker's list, and what its
// name and labels say.
type Owned struct {
	Container
	Of               NameParts
	NetworkContainer string // see LabelNetworkContainer
	QuickEnds        int    // see LabelQuickEnds
	Lifecycle        string // see LabelLifecycle
}

// Labels gives the labels by which a container named name is known as ours.
func (id Identity) Labels(name string) map[string]string {
	labels := id.Halves()
	labels[LabelName] = strings.TrimSuffix(name, hookSuffix)
	return labels
}

// Halves are the labels that every container of this kubelet carries.
func (id Identity) Halves() map[string]string {
	return map[string]string{LabelHostname: id.Hostname, LabelRootDir: id.RootDir}
}

// identity is whose container it is by its labels.
func (c *Container) identity() Identity {
	return Identity{c.Labels[LabelHostname], c.Labels[LabelRootDir]}
}

// bearsItsName says that a container's label and its name agree.
func (c *Container) bearsItsName() bool {
	return c.Labels[LabelName] == strings.TrimSuffix(c.Name, hookSuffix)
}

// Own recognises a container of this kubelet. Its name alone proves nothing:
// other programs name containers k8s_... too.
func (id Identity) Own(c Container) (Owned, bool) {
	parts, ok := ParseContainerName(c.Name)
	if !ok || !c.bearsItsName() || c.identity() != id {
		return Owned{}, false
	}
	// A label that is no number is one of no quick ends.
	quickEnds, _ := strconv.Atoi(c.Labels[LabelQuickEnds])
	return Owned{
		Container:        c,
		Of:               parts,
		NetworkContainer: c.Labels[LabelNetworkContainer],
		QuickEnds:        max(quickEnds, 0),
		Lifecycle:        c.Labels[LabelLifecycle],
	}, true
}

// HalfIdentityError says that a container bears one half of our identity and not
// the other.
type HalfIdentityError struct{ error }

// CheckHalves refuses to go on, with a HalfIdentityError, beside containers that
// were made under another -hostname_override or -root_dir by what is likely the
// same kubelet: they would be doubled.
func (id Identity) CheckHalves(containers []Container) error {
	for _, c := range containers {
		theirs := c.identity()
		if c.bearsItsName() && (theirs.Hostname == id.Hostname) != (theirs.RootDir == id.RootDir) {
			return &HalfIdentityError{fmt.Errorf("container %q on this Docker was made by a kubelet with hostname %q and root_dir %q; this one has hostname %q and root_dir %q, and two kubelets on one Docker must differ in both. "+
				"To go on as that kubelet, give -hostname_override=%s -root_dir=%s; to be another one, choose a -hostname_override and a -root_dir that are both new; "+
				"to remove what that kubelet made, run it with its own two flags and -cleanup",
				c.Name, theirs.Hostname, theirs.RootDir, id.Hostname, id.RootDir, theirs.Hostname, theirs.RootDir)}
		}
	}
	return nil
}

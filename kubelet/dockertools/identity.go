package dockertools

import (
	"fmt"
	"strconv"
)

// The labels of every container the kubelet makes.
const (
	LabelHostname = "kubelet14.hostname" // first half of the kubelet's identity
	LabelRootDir  = "kubelet14.root_dir" // second half
	LabelName     = "kubelet14.name"     // the container's own name: an image committed from it copies labels, and cannot copy this truth
	LabelOrigin   = "kubelet14.origin"   // where its manifest was read, for people

	LabelNetworkContainer = "kubelet14.network_container" // id of the container whose network it joined; app containers only
	LabelQuickEnds        = "kubelet14.quick_ends"        // how many attempts before it ended quickly, one after another
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
}

// Labels gives the labels by which a container named name is known as ours.
func (id Identity) Labels(name string) map[string]string {
	labels := id.Halves()
	labels[LabelName] = name
	return labels
}

// Halves are the labels that every container of this kubelet carries.
func (id Identity) Halves() map[string]string {
	return map[string]string{LabelHostname: id.Hostname, LabelRootDir: id.RootDir}
}

// Own recognises a container of this kubelet. Its name alone proves nothing:
// other programs name containers k8s_... too.
func (id Identity) Own(c Container) (Owned, bool) {
	parts, ok := ParseContainerName(c.Name)
	if !ok || c.Labels[LabelName] != c.Name ||
		c.Labels[LabelHostname] != id.Hostname || c.Labels[LabelRootDir] != id.RootDir {
		return Owned{}, false
	}
	// A label that is no number is one of no quick ends.
	quickEnds, _ := strconv.Atoi(c.Labels[LabelQuickEnds])
	return Owned{
		Container:        c,
		Of:               parts,
		NetworkContainer: c.Labels[LabelNetworkContainer],
		QuickEnds:        max(quickEnds, 0),
	}, true
}

// HalfIdentityError says that a container bears one half of our identity and not
// the other.
type HalfIdentityError struct {
	Ours, Theirs Identity
	Container    string // its name
}

func (e *HalfIdentityError) Error() string {
	return fmt.Sprintf("container %q on this Docker was made by a kubelet with hostname %q and root_dir %q; this one has hostname %q and root_dir %q, and two kubelets on one Docker must differ in both. "+
		"To go on as that kubelet, give -hostname_override=%s -root_dir=%s; to be another one, choose a -hostname_override and a -root_dir that are both new; "+
		"to remove what that kubelet made, run it with its own two flags and -cleanup",
		e.Container, e.Theirs.Hostname, e.Theirs.RootDir, e.Ours.Hostname, e.Ours.RootDir, e.Theirs.Hostname, e.Theirs.RootDir)
}

// CheckHalves refuses to go on beside containers that bear one half of our
// identity and not the other, with a HalfIdentityError: they were made under
// another -hostname_override or -root_dir by what is likely the same kubelet, and
// would be doubled.
func (id Identity) CheckHalves(containers []Container) error {
	for _, c := range containers {
		theirs := Identity{c.Labels[LabelHostname], c.Labels[LabelRootDir]}
		if c.Labels[LabelName] == c.Name && (theirs.Hostname == id.Hostname) != (theirs.RootDir == id.RootDir) {
			return &HalfIdentityError{Ours: id, Theirs: theirs, Container: c.Name}
		}
	}
	return nil
}

package dockertools

import (
	"cmp"
	"fmt"
	"slices"
)

// IdentityConflictError reports a container with the hostname of this kubelet and
// another root_dir, or the other way round.
type IdentityConflictError struct{ Err error }

func (e *IdentityConflictError) Error() string { return e.Err.Error() }

// Conflict returns an *IdentityConflictError if a container was made by a kubelet with the
// hostname or the root_dir of this one.
func (id Identity) Conflict(c Container) error {
	theirs := c.identity()
	if !c.hasOwnNameLabel() || (theirs.Hostname == id.Hostname) == (theirs.RootDir == id.RootDir) {
		return nil
	}
	return &IdentityConflictError{Err: fmt.Errorf("container %q on this Docker was made by a kubelet with hostname %q and root_dir %q; "+
		"this one has hostname %q and root_dir %q, and two kubelets on one Docker must differ in both. "+
		"To go on as that kubelet, give -hostname_override=%s -root_dir=%s; "+
		"to be another one, choose a -hostname_override and a -root_dir that are both new; "+
		"to remove what that kubelet made, run it with its own two flags and -cleanup",
		c.Name, theirs.Hostname, theirs.RootDir, id.Hostname, id.RootDir, theirs.Hostname, theirs.RootDir)}
}

// CheckConflict looks for containers that are probably those of this kubelet under another
// -hostname_override or -root_dir: it would start all its pods a second time. err is an
// *IdentityConflictError. It is returned as tolerated if this kubelet may go on: of two with
// one hostname that were started side by side, the one whose oldest container is older. With
// another root_dir it does not hinder a cleanup, which removes nothing of the other's.
//
// Both come to one answer: only the kubelet itself creates its containers, so it knows the
// oldest of them once its workers are idle, and the other's can only be older than it sees.
func (id Identity) CheckConflict(containers []Container, cleanup bool) (tolerated, err error) {
	for _, c := range containers {
		conflict := id.Conflict(c)
		if conflict == nil {
			continue
		}
		isFirst := slices.ContainsFunc(containers, func(mine Container) bool {
			return mine.hasOwnNameLabel() && mine.identity() == id && cmp.Or(mine.Created.Compare(c.Created), cmp.Compare(mine.ID, c.ID)) < 0
		})
		if c.identity().RootDir == id.RootDir || !cleanup && !isFirst {
			return nil, conflict
		}
		tolerated = cmp.Or(tolerated, conflict)
	}
	return tolerated, nil
}

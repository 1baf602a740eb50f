package dockertools

import (
	"cmp"
	"fmt"
	"slices"
)

// IdentityConflictError reports a container with this kubelet's hostname but another root_dir, or the other way round.
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
		"To carry on as that kubelet, give -hostname_override=%s -root_dir=%s; "+
		"to be another one, choose a -hostname_override and a -root_dir that are both new; "+
		"to remove the pods of that kubelet, run it with its own two flags and -cleanup",
		c.Name, theirs.Hostname, theirs.RootDir, id.Hostname, id.RootDir, theirs.Hostname, theirs.RootDir)}
}

// CheckConflict looks for containers that this kubelet probably made under another -hostname_override or -root_dir: it
// would start all its pods a second time. The error is an *IdentityConflictError. It is returned as tolerated if this
// kubelet may carry on: if two kubelets with one hostname run side by side, the one with the older oldest container
// does. A cleanup tolerates a container with another root_dir, since it does not remove it.
//
// Both kubelets reach the same answer: only a kubelet itself creates its containers, so while its workers are idle it
// knows its oldest one, and the other's oldest can only be older than the one it sees.
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

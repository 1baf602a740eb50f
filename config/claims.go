package config

import (
	"fmt"
	"maps"
	"slices"

	"kubelet14/api"
)

// part is what a source reads as a whole: a file, a body, a key. It is good or bad
// as a whole too.
type part struct {
	place string // for people: where it is

	// What was read last.
	parsed  []api.Pod // nil when it is bad
	readErr error     // why it is
	missing bool      // it is not there, but may be back at once

	// The pods in force: the last good ones. They change as a whole, and only in
	// settleClaims, so that no pod and no UID is in two parts.
	held []api.Pod
	err  error // readErr, or why the parsed pods are not the held ones

	logged error // the latest problem that was logged
}

func (p *part) asPart() *part { return p }

// inOrder are the parts that a source knows, which embed part, in the order of
// their places. It is the order of everything that is said of them.
func inOrder[P interface{ asPart() *part }](known map[string]P) []*part {
	parts := make([]*part, 0, len(known))
	for _, place := range slices.Sorted(maps.Keys(known)) {
		parts = append(parts, known[place].asPart())
	}
	return parts
}

// claim is something only one part may have: the name or the UID of a pod. Two
// pods with one name would be the same pod, and two with one UID would share
// their volumes and end each other's containers.
type claim struct{ kind, value string }

// claimsOf returns what a pod claims.
func claimsOf(pod *api.Pod) []claim {
	return []claim{{"name", pod.Name}, {"uid", pod.UID}}
}

// shared says that a and b both make the claim c.
func (c claim) shared(a, b *api.Pod) string {
	if c.kind == "name" {
		return fmt.Sprintf("pod %q in %s is also in %s", c.value, a.Origin, b.Origin)
	}
	return fmt.Sprintf("uuid %q of pod %q in %s is also that of pod %q in %s", c.value, a.Name, a.Origin, b.Name, b.Origin)
}

// claimant is a part, and the pod for which it makes a claim.
type claimant struct {
	part *part
	pod  *api.Pod
}

// settleClaims makes the parsed pods of each part its held ones, as far as that
// leaves every name and UID in one part. The part whose held pods have it
// already wins; when there is none, nobody does; and one that is missing gives
// way to one that is there, so that renaming a file leaves no gap. Who loses
// keeps what it held.
//
// What was parsed is kept, so the loser's turn comes when the winner goes.
func settleClaims(parts []*part) {
	wanted := make(map[*part][]api.Pod, len(parts))
	for _, p := range parts {
		p.err = p.readErr
		wanted[p] = p.held
		if p.parsed != nil && !p.missing {
			wanted[p] = p.parsed
		}
	}
	// A loser goes back to what it held, and that can be what another part hoped
	// for, which then loses in the next round. Nobody can lose what it held, so
	// this ends.
	claimants := map[claim][]claimant{}
	for again := true; again; {
		again = false
		clear(claimants)
		for _, p := range parts {
			for i := range wanted[p] {
				pod := &wanted[p][i]
				for _, c := range claimsOf(pod) {
					claimants[c] = append(claimants[c], claimant{p, pod})
				}
			}
		}
		for _, p := range parts {
			if err := conflict(p, wanted[p], claimants); err != nil && !p.missing {
				wanted[p], p.err, again = p.held, err, true
			}
		}
	}
	// Only now is it known to whom one that is missing gives way.
	for _, p := range parts {
		p.held = wanted[p]
		if p.missing && conflict(p, p.held, claimants) != nil {
			p.held = nil
		}
	}
}

// conflict says why p cannot have the pods, and nothing when it can.
func conflict(p *part, pods []api.Pod, claimants map[claim][]claimant) error {
	for i := range pods {
		for _, c := range claimsOf(&pods[i]) {
			var tie error
			for _, rival := range claimants[c] {
				switch {
				case rival.part == p || rival.part.right(c) < p.right(c):
				case rival.part.right(c) > p.right(c):
					return fmt.Errorf("%s, which had it first: change or remove one of the two", c.shared(&pods[i], rival.pod))
				default:
					tie = fmt.Errorf("%s, so neither counts: change or remove one of the two", c.shared(&pods[i], rival.pod))
				}
			}
			if tie != nil {
				return tie
			}
		}
	}
	return nil
}

// right says how good the part's right to a claim is. The highest wins, and no
// two parts hold the same claim.
func (p *part) right(c claim) int {
	switch {
	case p.missing:
		return 0
	case slices.ContainsFunc(p.held, func(pod api.Pod) bool { return slices.Contains(claimsOf(&pod), c) }):
		return 2
	}
	return 1
}

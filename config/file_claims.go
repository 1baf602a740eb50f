package config

import (
	"fmt"
	"slices"

	"kubelet14/api"
)

// claim is something only one file may have: the name or the UID of a pod. Two
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

// claimant is a file, and the pod for which it makes a claim.
type claimant struct {
	file *manifestFile
	pod  *api.Pod
}

// settleClaims makes the parsed pods of each file its held ones, as far as that
// leaves every name and UID in one file. The file whose held pods have it
// already wins; when there is none, nobody does; and a file that is missing gives
// way to one that is there, so that renaming a file leaves no gap. Who loses
// keeps what it held.
//
// What was parsed is kept, so the loser's turn comes when the winner goes.
func settleClaims(files []*manifestFile) {
	wanted := make(map[*manifestFile][]api.Pod, len(files))
	for _, f := range files {
		f.err = f.readErr
		wanted[f] = f.held
		if f.parsed != nil && !f.missing {
			wanted[f] = f.parsed
		}
	}
	// A loser goes back to what it held, and that can be what another file hoped
	// for, which then loses in the next round. Nobody can lose what it held, so
	// this ends.
	for again := true; again; {
		again = false
		claimants := map[claim][]claimant{}
		for _, f := range files {
			for i := range wanted[f] {
				pod := &wanted[f][i]
				for _, c := range claimsOf(pod) {
					claimants[c] = append(claimants[c], claimant{f, pod})
				}
			}
		}
		for _, f := range files {
			err := conflict(f, wanted[f], claimants)
			if err == nil {
				continue
			}
			again = true
			if f.missing {
				wanted[f] = nil
			} else {
				wanted[f], f.err = f.held, err
			}
		}
	}
	for _, f := range files {
		f.held = wanted[f]
	}
}

// conflict says why f cannot have the pods, and nothing when it can.
func conflict(f *manifestFile, pods []api.Pod, claimants map[claim][]claimant) error {
	for i := range pods {
		for _, c := range claimsOf(&pods[i]) {
			var tie error
			for _, rival := range claimants[c] {
				switch {
				case rival.file == f || rival.file.right(c) < f.right(c):
				case rival.file.right(c) > f.right(c):
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

// right says how good the file's right to a claim is. The highest wins, and no
// two files hold the same claim.
func (f *manifestFile) right(c claim) int {
	switch {
	case f.missing:
		return 0
	case slices.ContainsFunc(f.held, func(pod api.Pod) bool { return slices.Contains(claimsOf(&pod), c) }):
		return 2
	}
	return 1
}

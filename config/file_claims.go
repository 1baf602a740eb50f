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
func claimsOf(pod *api.Pod) [2]claim {
	return [2]claim{{"name", pod.Name}, {"uid", pod.UID}}
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
		if f.parsed != nil && f.missingSince.IsZero() {
			wanted[f] = f.parsed
		}
	}
	// A loser goes back to what it held, and that can be what another file hoped
	// for, which then loses in the next round. Nobody can lose what it held, so
	// this ends.
	for losers := conflicts(files, wanted); len(losers) > 0; losers = conflicts(files, wanted) {
		for f, err := range losers {
			if f.missingSince.IsZero() {
				wanted[f], f.err = f.held, err
			} else {
				wanted[f], f.err = nil, nil
			}
		}
	}
	for _, f := range files {
		f.held = wanted[f]
	}
}

// conflicts returns the files that cannot have what they want, and why.
func conflicts(files []*manifestFile, wanted map[*manifestFile][]api.Pod) map[*manifestFile]error {
	claimants := map[claim][]claimant{}
	var contested []claim
	for _, f := range files {
		for i := range wanted[f] {
			pod := &wanted[f][i]
			for _, c := range claimsOf(pod) {
				claimants[c] = append(claimants[c], claimant{f, pod})
				if len(claimants[c]) == 2 {
					contested = append(contested, c)
				}
			}
		}
	}
	losers := map[*manifestFile]error{}
	for _, c := range contested {
		winner := winnerOf(c, claimants[c])
		for i, loser := range claimants[c] {
			if loser.file == winner.file || losers[loser.file] != nil {
				continue
			}
			if winner.file != nil {
				losers[loser.file] = fmt.Errorf("%s, which had it first: change or remove one of the two", c.shared(loser.pod, winner.pod))
				continue
			}
			rival := claimants[c][(i+1)%len(claimants[c])]
			losers[loser.file] = fmt.Errorf("%s, so neither counts: change or remove one of the two", c.shared(loser.pod, rival.pod))
		}
	}
	return losers
}

// winnerOf returns who may have what is claimed; its file is nil when nobody may.
func winnerOf(c claim, claimants []claimant) claimant {
	present := slices.DeleteFunc(slices.Clone(claimants), func(x claimant) bool { return !x.file.missingSince.IsZero() })
	if len(present) == 1 {
		return present[0]
	}
	for _, x := range present {
		if x.file.holds(c) {
			return x
		}
	}
	return claimant{}
}

// holds says whether the pods in force make the claim.
func (f *manifestFile) holds(c claim) bool {
	return slices.ContainsFunc(f.held, func(pod api.Pod) bool {
		claims := claimsOf(&pod)
		return slices.Contains(claims[:], c)
	})
}

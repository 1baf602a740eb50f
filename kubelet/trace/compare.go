package trace

import (
	"slices"
	"strings"
	"sync"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// versions holds the versions of the containers of each pod, for display.
type versions struct {
	mu   sync.Mutex
	pods map[string]podVersions // guarded by mu; by full name, each in the order in which they were seen
}

// version is a version of a container, shown as a letter: its hash would confirm a guessed password.
type version struct {
	container, made string
	letter          rune
	manifest        *api.ContainerManifest // nil: this kubelet has not read it
	needed          bool                   // it is desired, or there
}

// podVersions are those of one pod.
type podVersions []*version

// see returns a version of a container. A new one gets the next letter.
func (all *podVersions) see(container, uid, hash string) *version {
	next := &version{container: container, made: uid + hash, letter: 'A', needed: true}
	for _, v := range *all {
		switch {
		case v.container != container:
		case v.made == next.made:
			v.needed = true
			return v
		default:
			next.letter = 'A' + (v.letter-'A'+1)%26
		}
	}
	*all = append(*all, next)
	return next
}

// desire returns the containers that are desired, in the order in which they start.
func (all *podVersions) desire(pod *plan.Pod) (rows []Row) {
	policy := "runs"
	switch {
	case pod.Complete.RestartPolicy.OnFailure != nil:
		policy = "runs until it succeeds"
	case pod.Complete.RestartPolicy.Never != nil:
		policy = "runs once"
	}
	for _, c := range slices.Concat([]plan.Container{pod.Network}, pod.InitAndApps()) {
		v, desired := all.see(c.Name, pod.UID, c.Hash), policy
		v.manifest = &pod.Manifest
		switch {
		case c.Name == api.NetworkContainerName:
			desired = "runs with the others"
		case c.IsSidecar():
			desired = "runs beside the others, and starts before them"
		case pod.IsInit(c.Name):
			desired = "runs until it succeeds, before the others"
		}
		rows = append(rows, Row{Container: c.Name, Desired: desired, Version: string(v.letter)})
	}
	return rows
}

// Compare returns the desired containers and then the others that exist, each with its part of the plan, and what was edited in
// the manifests since they were created.
func (t *Trace) Compare(p *status.Pod) (rows []Row, edited []string) {
	all, name, pod, observed := &t.versions, p.Name, p.Desired, p.Observed
	all.mu.Lock()
	defer all.mu.Unlock()
	known := all.pods[name]
	made := map[string]*version{} // by id
	for _, c := range observed {  // ordered by container and attempt
		made[c.ID] = known.see(c.Of.Name, c.Of.UID, c.Of.Hash)
	}
	if pod != nil {
		rows = known.desire(pod)
	}
	if all.pods == nil {
		all.pods = map[string]podVersions{}
	}
	all.pods[name] = slices.DeleteFunc(known, func(v *version) bool {
		needed := v.needed
		v.needed = false
		return !needed
	})
	if len(all.pods[name]) == 0 {
		delete(all.pods, name)
	}
	for i, c := range observed {
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Container == c.Of.Name })
		if at < 0 {
			at, rows = len(rows), append(rows, Row{Container: c.Of.Name, Desired: "nothing"})
		}
		if !c.State.Live() && !plan.IsNewest(observed, i) {
			continue
		}
		row, v := &rows[at], made[c.ID]
		a := Attempt{Attempt: c.Of.Attempt, State: string(c.State), Version: string(v.letter)}
		if c.Terminated() {
			a.State, a.Message = "ended", c.Exit().Message
		}
		row.Observed = append(row.Observed, a)
		if pod != nil && v.manifest != nil && a.Version != row.Version {
			for _, text := range api.Changes(v.manifest, &pod.Manifest) {
				if field, its := strings.CutPrefix(text, row.Container+": "); its && !slices.Contains(row.Changed, field) {
					row.Changed = append(row.Changed, field)
				}
				if !slices.Contains(edited, text) {
					edited = append(edited, text)
				}
			}
		}
	}
	for i := range rows {
		addPlan(&rows[i], p.Plan)
	}
	return rows, edited
}

// CompareAll returns the rows of each pod, by full name.
func (t *Trace) CompareAll(pods []*status.Pod) map[string][]Row {
	rows := map[string][]Row{}
	for _, p := range pods {
		rows[p.Name], _ = t.Compare(p)
	}
	return rows
}

// addPlan adds to a row its part of a plan.
func addPlan(row *Row, todo plan.Plan) {
	for n, step := range todo.Steps {
		for _, a := range step {
			if a.Name.Name == row.Container {
				row.Plan = append(row.Plan, Act{Step: n + 1, Do: a.Kind.String(), Attempt: a.Name.Attempt, Reason: a.Reason})
			}
		}
	}
	row.Sign = "="
	if len(row.Plan) > 0 || slices.ContainsFunc(todo.Problems, func(p plan.Problem) bool { return p.Container == row.Container }) {
		row.Sign = "≠" // even if nothing can be done now
	}
}

//go:build chaos

package chaos

import (
	"testing"
	"time"
)

// breakages are programs whose faults a run must find. The old list alone does no harm that a list of containers shows: the second
// creation of an attempt meets the name of the first.
var breakages = map[string][]change{
	"acts on an old list, and takes the next name": {
		{"kubelet/observe/observe.go", `all, err := o.Docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})`,
			`all, err := oldList, error(nil)
	oldList, err = o.Docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})`, "\nvar oldList []dockertools.Container\n"},
		{"kubelet/execute/create.go", "own := w.Identity.Own(all[i]); own {", "own := w.Identity.Own(all[i]); own && false {", ""},
	},
	"forgets an attempt": {{"kubelet/plan/plan.go", "append(p.own, c), append(p.attempts[c.Of.Name], c)", "append(p.own, c), []*Observed{c}", ""}},
}

// TestIntegrationLongBrokenKubelets is the test of the tester: it finds each breakage within two minutes of chaos.
func TestIntegrationLongBrokenKubelets(t *testing.T) {
	t.Parallel()
	for name, changes := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, changes...)
			w.patience = 20 * time.Second
			found := func() bool { return w.witness.count(func(t *table) int { return len(t.violations) }) > 0 }
			if w.chaos(2*time.Minute, found); !found() {
				t.Error("it is not found")
			}
		})
	}
}

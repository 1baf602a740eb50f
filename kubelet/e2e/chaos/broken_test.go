//go:build chaos

package chaos

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// change replaces a text that a file has once, and adds to its end.
type change struct{ file, old, new, more string }

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
			w := newWorld(t, 1, buildBroken(t, changes))
			w.patience = 20 * time.Second
			found := func() bool { return w.witness.count(func(t *table) int { return len(t.violations) }) > 0 }
			if w.chaos(2*time.Minute, found); !found() {
				t.Error("it is not found")
			}
		})
	}
}

// buildBroken builds the program with changes.
func buildBroken(t *testing.T, changes []change) (binary string) {
	root, err := unittest.Root()
	unittest.Must(t, err)
	dir, replace := t.TempDir(), map[string]string{}
	for _, c := range changes {
		source, changed := filepath.Join(root, c.file), filepath.Join(dir, filepath.Base(c.file))
		text, err := os.ReadFile(source)
		unittest.Must(t, err)
		if strings.Count(string(text), c.old) != 1 {
			t.Fatalf("%s does not have this once: %s", c.file, c.old)
		}
		replace[source] = changed
		unittest.Must(t, os.WriteFile(changed, []byte(strings.Replace(string(text), c.old, c.new, 1)+c.more), 0o644))
	}
	overlay, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "kubelet14")
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	unittest.Must(t, err, os.WriteFile(overlay, list, 0o644))
	if out, err := exec.Command("go", "build", "-C", root, "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

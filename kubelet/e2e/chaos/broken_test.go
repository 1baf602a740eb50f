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

// breakages are changes of the program that a run must find.
var breakages = map[string]struct {
	file     string
	old, new string // in it, once
	more     string // at its end
}{
	"acts on an old list": {
		"kubelet/observe/observe.go", "all, err := o.Docker.ListContainers(ctx, map[string]string{dockertools.LabelName: \"\"})",
		"all, err := oldList, error(nil)\n\toldList, err = o.Docker.ListContainers(ctx, map[string]string{dockertools.LabelName: \"\"})", "\nvar oldList []dockertools.Container\n",
	},
	"forgets an attempt": {
		"kubelet/plan/plan.go", "append(p.own, c), append(p.attempts[c.Of.Name], c)", "append(p.own, c), []*Observed{c}", "",
	},
}

// TestIntegrationLongBrokenKubelets is the test of the tester: it finds each breakage within two minutes of chaos.
func TestIntegrationLongBrokenKubelets(t *testing.T) {
	t.Parallel()
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, buildBroken(t, b.file, b.old, b.new, b.more))
			found := func() bool { return w.witness.count(func(t *table) int { return len(t.violations) }) > 0 }
			if w.chaos(2*time.Minute, found); !found() {
				t.Error("it is not found")
			}
		})
	}
}

// buildBroken builds the program with a change in one file.
func buildBroken(t *testing.T, file, old, changed, more string) (binary string) {
	root, err := unittest.Root()
	unittest.Must(t, err)
	source := filepath.Join(root, file)
	text, err := os.ReadFile(source)
	unittest.Must(t, err)
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s does not have this once: %s", file, old)
	}
	dir := t.TempDir()
	replaced, overlay, binary := filepath.Join(dir, "replaced.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "kubelet14")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {source: replaced}})
	unittest.Must(t, err, os.WriteFile(replaced, []byte(strings.Replace(string(text), old, changed, 1)+more), 0o644), os.WriteFile(overlay, list, 0o644))
	if out, err := exec.Command("go", "build", "-C", root, "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

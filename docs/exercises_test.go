package docs

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// solutions are bash scripts that do exercises in a copy of the project.
var solutions = map[string]string{
	"tour-4": `sed -i '/^\t\tp.step(createApps)/{N;s/\(.*\)\n\(.*\)/\2\n\1/}' kubelet/plan/converge.go`,
	"565-2":  `sed -i -E 's/^type (ContainerManifest|Spec) struct \{/&\nNotes []string "json:\\"notes,omitempty\\""/' api/types.go api/v1beta1/types.go api/v1/types.go`,
	"565-4": `many() { yes "$1" | head -1000 | paste -sd,; }
printf 'version: v1beta1\nid: many\ncontainers: [&c {name: main, image: hello, command: [%s]}, %s]\n' "$(many x)" "$(many '*c')" >docs/exercises/aliases.yaml`,
	"588-1": `sed -i '/p.ended()/d' kubelet/pod_workers.go`,
}

// TestIntegrationLongExercises checks each exercise in the project as it is, and some after they were done in a copy.
func TestIntegrationLongExercises(t *testing.T) {
	root, _ := filepath.Abs("..")
	check := func(t *testing.T, dir, name string) string {
		cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "check", "EXERCISE="+name)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	var named []string
	for _, p := range pages(t) {
		named = append(named, submatches(`EXERCISE=([\w-]+)`, p.section("Exercises"))...)
	}
	listed := submatches(`EXERCISE=(\S+)`, check(t, root, ""))
	slices.Sort(named)
	slices.Sort(listed)
	if !slices.Equal(named, listed) {
		t.Errorf("the chapters have the checks %q, and make check lists %q", named, listed)
	}
	for _, name := range listed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out := check(t, root, name); !strings.HasPrefix(out, "not yet, because ") {
				t.Errorf("without a change the check says %q", out)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(solutions)) {
		t.Run(name+" done", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			script := "set -eu\ncp -r " + root + "/[!.]* .\n" + solutions[name]
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
			if cmd.Dir = dir; cmd.Run() != nil {
				t.Fatal(script)
			}
			if out := check(t, dir, name); !strings.HasPrefix(out, "done") {
				t.Errorf("after it was done the check says %q", out)
			}
		})
	}
}

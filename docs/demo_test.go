package docs

import (
	"os"
	"strings"
	"testing"
)

// The edit that make run proposes changes what curl prints: the question that the sidecar asks is on the page of the pod.
func TestTheEditOfTheDemoIsSeen(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	manifest, errManifest := os.ReadFile("../manifests/web.yaml")
	edit := submatches(`sed -i "s/([^/]+)/([^/"]+)/" manifests/web\.yaml`, string(makefile))
	if err != nil || errManifest != nil || len(edit) != 1 {
		t.Fatalf("the edits of the demo are %q; %v, %v", edit, err, errManifest)
	}
	old := edit[0]
	for line := range strings.Lines(string(manifest)) {
		if strings.Contains(line, old) != strings.Contains(line, `"-ask"`) {
			t.Errorf("the edit of %q is in the line %q", old, line)
		}
	}
}

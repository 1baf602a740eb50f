package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goodB is the pod whose file turns bad. Each round is a change.
func goodB(round int) string {
	return block("b", "/hello, sleep") + fmt.Sprintf("    env: [{name: ROUND, value: \"%d\"}]\n", round)
}

// TestIntegrationBadInput makes the file of a pod bad in several ways. Each time the error
// is reported with its place, nothing happens to any pod, also over a restart of the
// kubelet, and the next good form counts.
func TestIntegrationBadInput(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := filepath.Join(h.manifests, "b.yaml")
	inputs := []struct {
		name  string
		spoil func()
		says  []string // words of the error
	}{
		{"an unknown field", func() { h.write("b", goodB(0)+"    imgae: x\n") },
			[]string{path + ":8:5: containers[0].imgae", "unknown field", `"image"`}},
		{"privileged mode", func() { h.write("b", goodB(0)+"    privileged: true\n") },
			[]string{path + ":8:", "privileged", "-allow_privileged"}},
		{"a half-written file", func() { h.writeFile(path, strings.TrimSuffix(block("b", "/hello, sleep"), ", sleep]\n")) },
			[]string{path + ":6:"}},
		{"a link that leads nowhere", func() { h.must(errors.Join(os.Symlink("nowhere", path+".tmp"), os.Rename(path+".tmp", path))) },
			[]string{path, "no such file"}},
	}
	h.writeSleepers("a")
	h.write("b", goodB(0))
	p := h.start()
	for i, in := range inputs {
		h.writeSleepers("removed")
		h.awaitUp("a", "b", "removed")
		before, old := h.ids(), h.live("b", "main")
		in.spoil()
		p.awaitSource("file", in.says...)
		h.mustBe("with "+in.name, before)

		// A kubelet that starts now does not know which pods there should be.
		p.kill()
		h.remove("removed")
		p = h.start()
		p.awaitSource("file", in.says...)
		h.mend("a")
		h.mustBe("after a restart with "+in.name, before, "a")

		if now := h.edit("b", goodB(i+1)); now.attempt != old.attempt+1 {
			t.Errorf("after %s: %s follows %s", in.name, now, old)
		}
		h.awaitGone("removed")
		p.awaitSource("file")
	}
}

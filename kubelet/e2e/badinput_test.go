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

// TestIntegrationBadInput makes the source of a pod bad in many ways. Each time the
// error is reported with its place, nothing happens to any pod, and the next good form
// counts.
func TestIntegrationBadInput(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := filepath.Join(h.manifests, "b.yaml")
	away := h.manifests + ".away"
	text := func(text string) func() { return func() { h.write("b", text) } }
	with := func(line string) func() { return text(goodB(0) + line + "\n") }
	link := func(to string) func() {
		return func() {
			h.must(os.Symlink(to, path+".tmp"))
			h.must(os.Rename(path+".tmp", path))
		}
	}
	half, _, _ := strings.Cut(strings.ReplaceAll(goodB(0), "HELLO", helloImage), ", sleep]")
	inputs := []struct {
		name  string
		spoil func()
		says  []string // words of the error, besides the place
		mend  func(good string)
	}{
		{name: "bytes that are no text", spoil: text("version: \xff\x00\xfe"), says: []string{path, "UTF-8"}},
		{name: "an empty file", spoil: text(""), says: []string{path, "empty"}},
		{name: "an unknown field", spoil: with("    imgae: x"), says: []string{path + ":8:5: containers[0].imgae", "unknown field", `"image"`}},
		{name: "a wrong type", spoil: with("    cpu: many"), says: []string{path + ":8:10: containers[0].cpu", "many"}},
		{name: "no containers", spoil: text("version: v1beta1\nid: b\n"), says: []string{path, "containers"}},
		{name: "a path as a name", spoil: with("volumes: [{name: ../../x}]"), says: []string{path + ":8:", "volumes[0].name", "../../x"}},
		{name: "privileged mode", spoil: with("    privileged: true"), says: []string{path + ":8:", "privileged", "-allow_privileged"}},
		{name: "10 MB", spoil: with(strings.Repeat("# nothing\n", 1<<20)), says: []string{path, "1048576"}},
		{name: "a link that leads nowhere", spoil: link("nowhere"), says: []string{path, "no such file"}},
		{name: "a link to a device", spoil: link("/dev/null"), says: []string{path, "not a regular file"}},
		{
			name: "a half-written file", says: []string{path + ":6:"},
			spoil: func() { h.writeFile(path, half) },
			mend: func(good string) {
				file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				h.must(err)
				_, err = file.WriteString(good[len(half):])
				h.must(errors.Join(err, file.Close()))
			},
		},
		{
			name: "no directory", says: []string{h.manifests, "no such file"},
			spoil: func() { h.must(os.Rename(h.manifests, away)) },
			mend: func(good string) {
				h.must(os.Rename(away, h.manifests))
				h.write("b", good)
			},
		},
	}
	h.writeSleepers("a")
	h.write("b", goodB(0))
	p := h.start()
	h.awaitUp("a", "b")
	for i, in := range inputs {
		before, old := h.ids(), h.live("b", "main")
		in.spoil()
		p.awaitSource("file", in.says...)
		h.mustBe(in.name, before)
		if err := p.shows("b/main", "running"); err != nil {
			t.Errorf("%s: %v", in.name, err)
		}
		good := goodB(i + 1)
		if in.mend == nil {
			h.write("b", good)
		} else {
			in.mend(strings.ReplaceAll(good, "HELLO", helloImage))
		}
		h.await("the repaired manifest counts after "+in.name, func() error { return errors.Join(h.up("a", "b"), h.replaced(old)) })
		// Anything that came of the bad form shows in the other containers or in the
		// number of attempts.
		now := h.live("b", "main")
		env := fmt.Sprint(h.mustInspect(now.id).Config.Env)
		if now.attempt != old.attempt+1 || !strings.Contains(env, fmt.Sprintf("ROUND=%d", i+1)) {
			t.Errorf("after %s: %s follows %s, with %s", in.name, now, old, env)
		}
		delete(before, old.name)
		before[now.name] = now.id
		h.mustBe("after "+in.name, before)
		p.awaitSource("file")
	}
	p.stop()
}

func TestIntegrationRestartOnManifestsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("broken", "doubled", "removed", "good")
	p := h.start()
	h.awaitUp("broken", "doubled", "removed", "good")
	before := h.ids()
	p.kill()

	h.write("broken", "version: v1beta1\nid: broken\ncontainers: 7\n")
	h.write("doubled-again", sleeper("doubled"))
	h.remove("removed")
	p = h.start()
	p.awaitSource("file", "broken.yaml", "containers")
	p.awaitLog("doubled.yaml", "doubled-again.yaml")
	h.mend("good")
	h.mustBe("with two bad files", before, "good")

	h.writeSleepers("broken")
	p.awaitUp("broken")
	h.mend("good")
	h.mustBe("with one bad file", before, "good")

	h.remove("doubled-again")
	h.awaitGone("removed")
	h.awaitUp("broken", "doubled", "good")
	h.mustBe("with good files", before, "good", "removed")
}

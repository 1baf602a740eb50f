package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// goodB is the manifest that turns bad and is mended. ROUND makes each mend a
// change, and MORE is where some cases add their fault.
const goodB = `version: v1beta1
id: b
containers:
  - name: main
    image: HELLO
    command: [/hello, sleep]
    env: [{name: ROUND, value: "%d"}]
`

// badInput is one way in which a file turns bad.
type badInput struct {
	name string
	text string                  // of the file, or
	make func(path string) error // makes the file, for what is no text
	says []string                // words of the first line of the error, besides the file's path
}

// with is goodB and a line more, in its container when it is indented.
func with(line string) string {
	return fmt.Sprintf(goodB, 0) + line + "\n"
}

func badInputs() []badInput {
	inputs := []badInput{
		{name: "random bytes", text: randomBytes(), says: []string{"not text", "UTF-8"}},
		{name: "an empty file", text: "", says: []string{"it is empty"}},
		{name: "an unknown field", text: with("    imgae: x"), says: []string{":8:5: containers[0].imgae", "unknown field", `did you mean "image"`}},
		{name: "a wrong type", text: with("    cpu: many"), says: []string{":8:10: containers[0].cpu", "whole number", "many"}},
		{name: "a mapping for a list", text: "version: v1beta1\nid: b\ncontainers: {}\n", says: []string{":3:13: containers", "list", "mapping"}},
		{name: "two sources of a volume", text: with("volumes: [{name: v, source: {emptyDir: {}, hostDir: {path: /tmp}}}]"), says: []string{":8:", "volumes[0].source", "exactly 1"}},
		{name: "a name of 64 characters", text: strings.Replace(with(""), "name: main", "name: "+strings.Repeat("a", 64), 1), says: []string{":4:11: containers[0].name", "at most 63"}},
		{name: "a volume's name that leads out of root_dir", text: with("volumes: [{name: ../../x, source: {emptyDir: {}}}]"), says: []string{":8:", "volumes[0].name", "../../x"}},
		{name: "a uuid that leads out of root_dir", text: with("uuid: ../../x"), says: []string{":8:7: uuid", "../../x"}},
		{name: "a host port twice", text: with("    ports: [{containerPort: 1, hostPort: 17001}, {containerPort: 2, hostPort: 17001}]"), says: []string{":8:", "containers[0].ports[1].hostPort", "17001", "duplicate"}},
		{name: "an unknown version", text: strings.Replace(with(""), "v1beta1", "v1", 1), says: []string{":1:10: version", "v1beta1 or v1beta2"}},
		{name: "10 MB", text: with(strings.Repeat("# nothing\n", 1<<20)), says: []string{"too many", "limit is 1048576"}},
		{name: "an alias bomb", text: aliasBomb(), says: []string{":8:1: x0", "unknown field"}},
		{name: "an unquoted number in a string", text: strings.Replace(with(""), `"0"`, "1.10", 1), says: []string{":7:32: containers[0].env[0].value", "put quotes", `"1.10"`}},
		{name: "a link that leads nowhere", make: func(path string) error { return os.Symlink("nowhere", path) }, says: []string{"no such file"}},
		{name: "a named pipe", make: func(path string) error { return syscall.Mkfifo(path, 0o644) }, says: []string{"named pipe"}},
		{name: "a device", make: makeDevice, says: []string{"device"}},
		{name: "a link to a directory", make: func(path string) error { return os.Symlink(".", path) }, says: []string{"directory"}},
	}
	if os.Geteuid() != 0 { // root reads everything
		inputs = append(inputs, badInput{name: "a file that may not be read",
			make: func(path string) error { return os.WriteFile(path, []byte(with("")), 0) }, says: []string{"permission denied"}})
	}
	return inputs
}

// randomBytes are never text: that would take a UTF-8 sequence of the last byte.
func randomBytes() string {
	var b bytes.Buffer
	for range 4096 {
		b.WriteByte(byte(rand.Uint32()))
	}
	b.WriteByte(0xff)
	return b.String()
}

// aliasBomb is a manifest of 700 bytes that has 10^20 strings.
func aliasBomb() string {
	var b strings.Builder
	b.WriteString(with(`x0: &x0 [x, x, x, x, x, x, x, x, x, x]`))
	for i := range 20 {
		fmt.Fprintf(&b, "x%d: &x%d [%s*x%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d, ", i), 9), i)
	}
	return b.String()
}

// makeDevice makes a device of its own, or a link to one for a user who may not.
func makeDevice(path string) error {
	if err := syscall.Mknod(path, syscall.S_IFCHR|0o644, 1<<8|3); err == nil {
		return nil
	}
	return os.Symlink("/dev/null", path)
}

// put makes the file b.yaml bad, in one go.
func (in *badInput) put(h *host) {
	h.t.Helper()
	if in.make == nil {
		h.write("b.yaml", in.text)
		return
	}
	path := filepath.Join(h.manifests, "b.yaml")
	if err := in.make(path + ".tmp"); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		h.t.Fatal(err)
	}
}

// saysSince waits for a line in what the log holds beyond its first bytes.
func (p *process) saysSince(bytes int, words ...string) {
	p.t.Helper()
	err := waitFor(func() error {
		since := &buffer{}
		since.Write([]byte(p.log.String()[bytes:]))
		if !since.hasLine(words) {
			return fmt.Errorf("no line with %q in\n%s", words, since)
		}
		return nil
	})
	if err != nil {
		p.t.Fatalf("the kubelet does not say it: %v", err)
	}
}

// twoPods is a host with the pods a and b, of which b turns bad.
type twoPods struct {
	*host
	p     *process
	round int
}

func startTwoPods(t *testing.T) *twoPods {
	t.Helper()
	h := &twoPods{host: newHost(t)}
	h.write("a.yaml", sleeper("a"))
	h.write("b.yaml", fmt.Sprintf(goodB, 0))
	h.p = h.start()
	h.eventually("the pods come up", h.up)
	return h
}

func (h *twoPods) up() error {
	if err := h.whole("a", "main"); err != nil {
		return err
	}
	return h.whole("b", "main")
}

// staysAsItWas makes b's file bad, waits for the error, mends the file with a
// change by mend, and waits until that is acted on. Then it knows that the kubelet
// has looked, and what it may not have done: whatever came of the bad file but the
// error would show in a's containers, in b's network container, or in the number of
// attempts of b's own.
func (h *twoPods) staysAsItWas(bad func(), says []string, mend func(good string)) {
	h.t.Helper()
	before := h.ids()
	old := h.live("b", "main")
	log := len(h.p.log.String())

	bad()
	h.p.saysSince(log, says...)
	h.mustBe("while the file is bad", before)

	h.round++
	mend(fmt.Sprintf(goodB, h.round))
	h.eventually("b's mended manifest is acted on", func() error {
		if err := h.up(); err != nil {
			return err
		}
		return h.replaced("b", "main", old)
	})

	now := h.live("b", "main")
	if before, err := strconv.Atoi(old.attempt); err != nil || now.attempt != strconv.Itoa(before+1) {
		h.t.Errorf("b was started in between: attempt %s, before %s (%v)", now.attempt, old.attempt, err)
	}
	if detail, err := h.inspect(now.id); err != nil || !strings.Contains(fmt.Sprint(detail.Config.Env), fmt.Sprintf("ROUND=%d", h.round)) {
		h.t.Errorf("b's new container is not as the mended manifest says: %v", err)
	}
	delete(before, old.name)
	before[now.name] = now.id
	h.mustBe("after the mend", before)
}

func TestIntegrationBadInput(t *testing.T) {
	t.Parallel()
	h := startTwoPods(t)
	path := filepath.Join(h.manifests, "b.yaml")
	for _, in := range badInputs() {
		// What one of them breaks would break the next.
		if !t.Run(in.name, func(t *testing.T) {
			outer := h.t
			h.t, h.p.t = t, t
			defer func() { h.t, h.p.t = outer, outer }()
			h.staysAsItWas(
				func() { in.put(h.host) },
				append(in.says, path),
				func(good string) { h.write("b.yaml", good) })
		}) {
			return
		}
	}
	h.p.stop()
}

func TestIntegrationAHalfWrittenFileIsCompletedLater(t *testing.T) {
	t.Parallel()
	h := startTwoPods(t)
	path := filepath.Join(h.manifests, "b.yaml")
	good := strings.ReplaceAll(fmt.Sprintf(goodB, 1), "HELLO", helloImage)
	half := strings.Index(good, ", sleep]")
	h.staysAsItWas(
		func() { h.writeFile(path, good[:half]) },
		[]string{path + ":6:14: YAML syntax"},
		func(string) {
			file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := file.WriteString(good[half:]); err != nil {
				t.Fatal(err)
			}
		})
}

func TestIntegrationADirectoryThatTurnsIntoAFileAndBack(t *testing.T) {
	t.Parallel()
	h := startTwoPods(t)
	away := h.manifests + ".away"
	h.staysAsItWas(
		func() {
			if err := os.Rename(h.manifests, away); err != nil {
				t.Fatal(err)
			}
			h.writeFile(h.manifests, strings.ReplaceAll(sleeper("c"), "HELLO", helloImage))
		},
		[]string{strconv.Quote(h.manifests) + " was a directory", "is a file now"},
		func(good string) {
			if err := h.gone("c"); err != nil {
				t.Error(err)
			}
			if err := os.Remove(h.manifests); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(away, h.manifests); err != nil {
				t.Fatal(err)
			}
			h.write("b.yaml", good)
		})
	if err := h.gone("c"); err != nil {
		t.Errorf("the file in the directory's place was taken for a manifest: %v", err)
	}
}

func TestIntegrationTwoPodsThatWantOnePort(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	port, otherPort := freePort(t), freePort(t)
	h.write("holder.yaml", server("holder", port))
	h.write("runs.yaml", server("runs", otherPort))
	p := h.start()
	up := func() error {
		if err := h.whole("holder", "main"); err != nil {
			return err
		}
		return h.whole("runs", "main")
	}
	h.eventually("the first pods come up", up)
	before := h.ids()

	// By its name it would come before the holder.
	h.write("a-loser.yaml", server("a-loser", port))
	p.says("a-loser.default.file", fmt.Sprintf("host port %d/tcp", port), "holder.default.file")
	h.write("runs.yaml", server("runs", port))
	p.says("runs.default.file", "waits, as it is", fmt.Sprintf("host port %d/tcp", port), "holder.default.file")
	h.write("other.yaml", sleeper("other"))
	h.eventually("a pod that wants no port comes up", func() error { return h.whole("other", "main") })
	for name, id := range before {
		if h.ids()[name] != id {
			t.Errorf("container %s has not stayed", name)
		}
	}
	if err := h.gone("a-loser"); err != nil {
		t.Errorf("the pod that waits was begun: %v", err)
	}
	for port, want := range map[int]string{port: "pod holder", otherPort: "pod runs"} {
		if page, err := get(port, "/"); err != nil || !strings.Contains(page, want) {
			t.Errorf("port %d answers %q, want %s: %v", port, page, want, err)
		}
	}

	h.remove("holder.yaml")
	h.eventually("the next one has the port when its holder has gone", func() error {
		if err := h.gone("holder"); err != nil {
			return err
		}
		if err := h.whole("a-loser", "main"); err != nil {
			return err
		}
		page, err := get(port, "/")
		if err == nil && !strings.Contains(page, "pod a-loser") {
			err = fmt.Errorf("the port answers %q", page)
		}
		return err
	})
	p.says("runs.default.file", fmt.Sprintf("host port %d/tcp", port), "a-loser.default.file")
	if page, err := get(otherPort, "/"); err != nil || !strings.Contains(page, "pod runs") {
		t.Errorf("the pod that waits for its new port has left the old one, which answers %q: %v", page, err)
	}
	p.stop()
}

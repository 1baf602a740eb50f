package docs

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8") // the pages mostly wait
	os.Exit(m.Run())
}

// TestIntegrationPages runs the commands of the pages, all pages at once, and compares
// what they print with what the pages show.
func TestIntegrationPages(t *testing.T) {
	project := newReader(t)
	if err := os.CopyFS(project.dir, visible{os.DirFS("..")}); err != nil {
		t.Fatal(err)
	}
	project.personalize(t)
	setup := readPage(t, "README.md").marked("sh run")
	project.bash(t, setup[0].body) // builds the program and the image, once for all pages
	for _, p := range pages(t) {
		if p.path == "README.md" || len(p.marked("sh run")) == 0 {
			continue
		}
		r := newReader(t)
		t.Run(p.path, func(t *testing.T) {
			r.link(t, project.dir) // before "make run" writes there
			t.Parallel()
			script := "set -euo pipefail\n" + setup[1].body
			for _, f := range p.marked("sh run") {
				script += f.body
			}
			checkPrinted(t, p, r.bash(t, script))
			r.checkNothingLeft(t)
		})
	}
	t.Run("make run", func(t *testing.T) {
		t.Parallel()
		out := project.bash(t, `set -m
make run >log 2>&1 & make=$!
until curl -s http://127.0.0.1:8014/ | grep 'answers 200'; do sleep 0.1; done
curl -s http://127.0.0.1:8014/
until grep -q 'done its work' log && grep -q 'pod web.* is up' log; do sleep 0.1; done
kill -INT -- -$make # to the whole process group, as Ctrl-C does
wait $make || true
cat log
make clean`)
		checkPrinted(t, readPage(t, "../README.md"), out)
		project.checkNothingLeft(t)
	})
}

// checkPrinted looks for each line that a page shows in the output of its commands.
func checkPrinted(t *testing.T, p page, out string) {
	t.Helper()
	for _, f := range p.marked("text see") {
		for line := range strings.Lines(f.body) {
			// The width of a table's columns depends on their contents.
			words := regexp.QuoteMeta(strings.Join(strings.Fields(line), "\x00"))
			pattern := strings.NewReplacer("…", ".*", "\x00", ` +`).Replace(words)
			if !regexp.MustCompile(`(?m)^\s*` + pattern + `\s*$`).MatchString(out) {
				t.Errorf("%s:%d: no line of the output is like\n%s", p.path, f.line, line)
			}
		}
	}
	if t.Failed() {
		t.Logf("the output:\n%s", out)
	}
}

// reader follows a page in a directory of its own, with its own hostname and ports in
// place of those that the pages name.
type reader struct {
	dir      string
	hostname string
	toOurs   *strings.Replacer
	toPages  *strings.Replacer
}

var readers int

func newReader(t *testing.T) *reader {
	t.Helper()
	readers++
	hostname, tmp := fmt.Sprintf("kubelet14-test-%d-%d", os.Getpid(), readers), t.TempDir()
	toOurs := []string{"/tmp/try", tmp + "/try", "=try", "=" + hostname, "/hosts/try", "/hosts/" + hostname,
		"loop_toy", "loop_" + hostname + "-toy", `"toy"`, `"` + hostname + `-toy"`}
	toPages := []string{tmp + "/try", "/tmp/try", hostname + "-toy", "toy", hostname, "try"}
	// The demo, two servers that pages start, the info server, a third server, and the
	// info server of `make run`.
	for _, port := range []string{"8014", "8015", "8016", "8017", "8018", "10250"} {
		free := freePort(t)
		toOurs, toPages = append(toOurs, port, free), append(toPages, ":"+free, ":"+port)
	}
	r := &reader{filepath.Join(tmp, "kubelet14"), hostname, strings.NewReplacer(toOurs...), strings.NewReplacer(toPages...)}
	t.Cleanup(func() {
		for _, id := range strings.Fields(r.containers(t)) {
			exec.Command("docker", "rm", "-f", id).Run()
		}
		exec.Command("docker", "rm", "-f", "toyloop_"+hostname+"-toy").Run()
	})
	return r
}

var usedPorts = map[string]bool{}

// freePort returns a port below those that the kernel gives to clients.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := fmt.Sprint(10_000 + rand.IntN(20_000))
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil || usedPorts[port] {
			continue
		}
		listener.Close()
		usedPorts[port] = true
		return port
	}
	t.Fatal("there is no free port")
	return ""
}

// link makes the reader's directory of the files of a built project.
func (r *reader) link(t *testing.T, project string) {
	t.Helper()
	err := filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(project, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(r.dir, rel), 0o755)
		}
		return os.Link(path, filepath.Join(r.dir, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
	r.personalize(t)
}

// personalize puts the reader's names into the files that the pages use.
func (r *reader) personalize(t *testing.T) {
	t.Helper()
	flags := "-root_dir=.run -hostname_override=" + r.hostname + " -port=" + r.toOurs.Replace("10250")
	for name, change := range map[string]*strings.Replacer{
		"manifests/web.yaml":    r.toOurs,
		"docs/toyloop/toy.json": r.toOurs,
		"Makefile":              strings.NewReplacer("-root_dir=.run", flags),
	} {
		path := filepath.Join(r.dir, name)
		text, err := os.ReadFile(filepath.Join("..", name))
		if err == nil {
			err = os.Remove(path) // it may be a link
		}
		if err == nil {
			err = os.WriteFile(path, []byte(change.Replace(string(text))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// bash runs a script to its end and returns all that it prints.
func (r *reader) bash(t *testing.T, script string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // many times what a page takes
	defer cancel()
	// A script that fails stops what it has left running in the background.
	const stopJobs = "trap 'for job in $(jobs -p); do kill -- -$job || kill $job; done 2>/dev/null' EXIT\n"
	cmd := exec.CommandContext(ctx, "bash", "-c", stopJobs+r.toOurs.Replace(script))
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	failed := cmd.Run()
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	text := r.toPages.Replace(string(printed))
	if failed != nil {
		t.Fatalf("the script fails: %v\n%s\nIts output:\n%s", failed, script, text)
	}
	return text
}

// containers returns the ids of the reader's containers.
func (r *reader) containers(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "-aq", "--filter", "label=kubelet14.hostname="+r.hostname).CombinedOutput()
	if err != nil {
		t.Fatalf("docker ps: %v\n%s", err, out)
	}
	return string(out)
}

func (r *reader) checkNothingLeft(t *testing.T) {
	t.Helper()
	if left := r.containers(t); left != "" {
		t.Errorf("containers are left:\n%s", left)
	}
}

// visible is a file system without hidden files, and without bin, where `make etcd`
// puts large programs.
type visible struct{ fs.FS }

func (v visible) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(v.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name()[0] == '.' || e.Name() == "bin" }), err
}

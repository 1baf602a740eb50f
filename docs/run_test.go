package docs

import (
	"context"
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

// patience is how long a page may take; none takes a tenth of it.
const patience = 5 * time.Minute

// TestIntegrationDocsSayWhatOneSees runs what the pages tell a reader to run, and
// looks for what they say it prints.
func TestIntegrationDocsSayWhatOneSees(t *testing.T) {
	buildImage(t)
	prelude := scriptOf(readPage(t, "README.md"))
	for _, p := range pages(t) {
		if p.path == "README.md" || len(p.marked("sh run")) == 0 {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			r := newReader(t)
			out := r.bash("set -euo pipefail\n" + prelude + scriptOf(p))
			checkSeen(t, p, out)
			if left := r.containers(); left != "" {
				t.Errorf("the page leaves containers behind:\n%s", left)
			}
		})
	}
}

// TestIntegrationDocsOfMakeRun does what the README of the project begins with.
func TestIntegrationDocsOfMakeRun(t *testing.T) {
	buildImage(t)
	r := newReader(t)
	out := r.bash(`set -m
make run >log 2>&1 & make=$!
until curl -s http://127.0.0.1:8014/ | grep 'answers 200'; do sleep 0.1; done
curl -s http://127.0.0.1:8014/
until grep -q 'done its work' log && grep -q 'web.default.file .* is up' log; do sleep 0.1; done
kill -INT -- -$make # as Ctrl-C does, to all of them
wait $make || true
cat log
make clean`)
	checkSeen(t, readPage(t, "../README.md"), out)
	if left := r.containers(); left != "" {
		t.Errorf("`make clean` leaves containers behind:\n%s", left)
	}
}

// buildImage builds the demo image from the tree itself, so that two copies of it
// do not both find it missing.
func buildImage(t *testing.T) {
	t.Helper()
	cmd := exec.Command("go", "run", "./manifests/hello/mkimage")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

func scriptOf(p page) string {
	var script string
	for _, f := range p.marked("sh run") {
		script += f.body
	}
	return script
}

// checkSeen looks for each line of what a page shows in what was printed.
func checkSeen(t *testing.T, p page, out string) {
	t.Helper()
	for _, f := range p.marked("text see") {
		for line := range strings.Lines(f.body) {
			// How far apart the columns of a table are depends on what is in them.
			words := regexp.QuoteMeta(strings.Join(strings.Fields(line), "\x00"))
			pattern := strings.NewReplacer("…", ".*", "\x00", ` +`).Replace(words)
			if !regexp.MustCompile(`(?m)^\s*` + pattern + `\s*$`).MatchString(out) {
				t.Errorf("%s:%d: nothing like this was printed:\n%s", p.path, f.line, line)
			}
		}
	}
	if t.Failed() {
		t.Logf("all that was printed:\n%s", out)
	}
}

// pagePorts are the ports of the pages: of the demo, of a web server, of an etcd, of
// the info server, of a server as it was in 2014, and of `make run`'s info server.
var pagePorts = []string{"8014", "8015", "8016", "8017", "8018", "10250"}

// reader has a copy of the project, and a name, a directory and ports that nobody
// else uses. What the pages call try, /tmp/try and 8014 is these.
type reader struct {
	t        *testing.T
	dir      string
	toOurs   *strings.Replacer
	toPages  *strings.Replacer
	hostname string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	// A test that was killed leaves containers, which the next run of the kubelet's
	// own tests removes by this form of name.
	hostname := fmt.Sprintf("kubelet14-test-%d-docs", os.Getpid())
	tmp := t.TempDir()
	toOurs := []string{"/tmp/try", tmp + "/try", "=try", "=" + hostname, "/hosts/try", "/hosts/" + hostname}
	toPages := []string{tmp + "/try", "/tmp/try", hostname, "try"}
	for i, free := range freePorts(t, len(pagePorts)) {
		toOurs = append(toOurs, pagePorts[i], free)
		toPages = append(toPages, ":"+free, ":"+pagePorts[i])
	}
	r := &reader{
		t: t, dir: filepath.Join(tmp, "kubelet14"), hostname: hostname,
		toOurs: strings.NewReplacer(toOurs...), toPages: strings.NewReplacer(toPages...),
	}
	r.copyProject()
	t.Cleanup(func() {
		for _, id := range strings.Fields(r.containers()) {
			exec.Command("docker", "rm", "-f", id).Run()
		}
	})
	return r
}

// freePorts finds ports that nobody listens at. They are below those that the system
// gives to whoever asks for any one, so they are still free when a page comes to them.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var free []string
	for range 1000 {
		port := fmt.Sprint(10_000 + rand.IntN(20_000))
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		defer listener.Close() // not before all are found, or two could be the same
		if free = append(free, port); len(free) == n {
			return free
		}
	}
	t.Fatalf("found %d free ports, want %d", len(free), n)
	return nil
}

// copyProject copies the tree, as far as it is visible. The demo's port and the
// kubelet of the Makefile become the reader's.
func (r *reader) copyProject() {
	r.t.Helper()
	if err := os.CopyFS(r.dir, visible{os.DirFS("..")}); err != nil {
		r.t.Fatal(err)
	}
	for name, change := range map[string]*strings.Replacer{
		"manifests/web.yaml": r.toOurs,
		"Makefile":           strings.NewReplacer("-root_dir=.run", "-root_dir=.run -hostname_override="+r.hostname+" -port="+r.toOurs.Replace("10250")),
	} {
		path := filepath.Join(r.dir, name)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change.Replace(string(text))), 0o644)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

// visible is a file system without what begins with a dot, and without bin, where
// `make etcd` puts large programs.
type visible struct{ fs.FS }

func (v visible) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(v.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" }), err
}

// bash runs a script to its end and gives all that it prints.
func (r *reader) bash(script string) string {
	r.t.Helper()
	out, err := os.Create(filepath.Join(r.t.TempDir(), "out"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	// What a failed script leaves running in the background is stopped with it. A
	// fresh machine may have no curl; the demo image does as well for a plain GET.
	const before = `trap 'for job in $(jobs -p); do kill -- -$job || kill $job; done 2>/dev/null' EXIT
command -v curl >/dev/null || curl() {
	[[ $# = 2 && $1 = -s* ]] || { echo "only the real curl can do this, and it is missing: curl $*"; exit 1; }
	docker run --rm --network=host kubelet14/hello:1 /hello fetch "$2"
}
`
	cmd := exec.CommandContext(ctx, "bash", "-c", before+r.toOurs.Replace(script))
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	failed := cmd.Run()
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		r.t.Fatal(err)
	}
	text := r.toPages.Replace(string(printed))
	if failed != nil {
		r.t.Fatalf("the script fails: %v\n%s\nIt prints:\n%s", failed, script, text)
	}
	return text
}

// containers gives the ids of what the reader's kubelet has on Docker.
func (r *reader) containers() string {
	r.t.Helper()
	out, err := exec.Command("docker", "ps", "-aq", "--filter", "label=kubelet14.hostname="+r.hostname).CombinedOutput()
	if err != nil {
		r.t.Fatalf("docker ps: %v\n%s", err, out)
	}
	return string(out)
}

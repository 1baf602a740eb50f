package docs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools/registrytest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "6") // the pages mostly wait
	os.Exit(m.Run())
}

// asOurs puts what reader.bash has replaced into the files that pages use. sed breaks the links.
const asOurs = `
sed -i 's/801[4]/8014/' manifests/web.yaml
sed -i 's/"to[y]"/"toy"/' docs/toyloop/toy.json
sed -i 's/root_dir=.run/& -hostname_override=try -port=10250/' Makefile
`

// TestIntegrationPages runs the commands of the pages, all pages at once, and compares
// what they print with what the pages show.
func TestIntegrationPages(t *testing.T) {
	setup := readPage(t, "README.md").marked("sh run")
	root, _ := filepath.Abs("..")
	demo, err := net.Listen("tcp", "127.0.0.1:0") // has the port of the demo, so no chapter can use it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { demo.Close() })
	_, taken, _ := net.SplitHostPort(demo.Addr().String())
	project := newReader(t, taken)
	project.bash(t, "cp -r "+root+"/[!.]* .\n"+setup[0].body) // builds the program, once for all pages
	client, err := docker.NewClientFromEnv()
	if err := errors.Join(err, registrytest.EnsureHello(client)); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		if p.path == "README.md" || len(p.marked("sh run")) == 0 {
			continue
		}
		patient := strings.Replace(setup[1].body, "{1..600}", "{1..12000}", 1) // many pages at once are slow
		script := "set -euo pipefail\ncp -rl " + project.dir + "/. ." + asOurs + patient
		for _, f := range p.marked("sh run") {
			script += f.body
		}
		r := newReader(t, taken)
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			r.checkPrinted(t, p, r.bash(t, script))
		})
	}
	t.Run("a pattern that never comes", func(t *testing.T) {
		t.Parallel()
		r := newReader(t, taken)
		hasty := strings.Replace(setup[1].body, "{1..600}", "1", 1)
		out := r.bash(t, hasty+"echo its last line >/tmp/try/log\nlogged 'is up' || echo gave up")
		if want := "its last line\nafter 60 s the log has no line like: is up\ngave up\n"; out != want {
			t.Errorf("logged prints %q, want %q", out, want)
		}
	})
	t.Run("make run", func(t *testing.T) {
		t.Parallel()
		r := newReader(t, freePort())
		r.checkPrinted(t, readPage(t, "../README.md"), r.bash(t, "cp -rl "+project.dir+"/. ."+asOurs+`set -m
make run >log 2>&1 & make=$!
until curl -s http://127.0.0.1:8014/ | grep 'answers 200'; do sleep 0.1; done
curl -s http://127.0.0.1:8014/
until grep -q 'pod once.* has done its work' log && grep -q 'pod web.* is up' log; do sleep 0.1; done
kill -INT -- -$make # to the whole process group, as Ctrl-C does
wait $make || true
cat log
docker tag kubelet14/hello:1 `+r.hostname+` # the image itself is in use
make clean IMAGES=`+r.hostname+`
! docker image inspect `+r.hostname+` 2>/dev/null`))
	})
}

// checkPrinted looks for each line that a page shows in the output of its commands, and
// for containers that they left behind.
func (r *reader) checkPrinted(t *testing.T, p page, out string) {
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
	if left := r.containers(); left != "" {
		t.Errorf("containers are left:\n%s", left)
	}
	if t.Failed() {
		t.Logf("the output:\n%s", out)
	}
}

// reader follows a page in a copy of the project, with its own hostname and ports in place
// of those that the pages name, and with a pod network in which no other page has a pod web.
type reader struct {
	dir      string
	hostname string
	toOurs   *strings.Replacer
	toPages  *strings.Replacer
}

var readers int

func newReader(t *testing.T, demo string) *reader {
	t.Helper()
	readers++
	hostname, tmp := fmt.Sprintf("kubelet14-test-%d-%d", os.Getpid(), readers), t.TempDir()
	toOurs := []string{"-hostname_override=try", "-hostname_override=" + hostname + " -pod_network=" + hostname,
		"/tmp/try", tmp + "/try", "=try", "=" + hostname, "/hosts/try", "/hosts/" + hostname, "try-", hostname + "-",
		"{1..600}", "{1..6000}", // logged ends what hangs, also on a busy machine
		"loop_toy", "loop_" + hostname + "-toy", `"toy"`, `"` + hostname + `-toy"`}
	toPages := []string{tmp + "/try", "/tmp/try", hostname + "-toy", "toy", hostname, "try"}
	// The demo, two servers of pages, the info server, a third server, a pod of pages, the info server of `make run`.
	for _, port := range []string{"8014", "8015", "8016", "8017", "8018", "8019", "8020", "8021", "10250"} {
		free := freePort()
		if port == "8014" {
			free = demo
		}
		toOurs, toPages = append(toOurs, port, free), append(toPages, ":"+free, ":"+port, " "+free, " "+port)
	}
	r := &reader{t.TempDir(), hostname, strings.NewReplacer(toOurs...), strings.NewReplacer(toPages...)}
	t.Cleanup(func() {
		for _, id := range append(strings.Fields(r.containers()), "toyloop_"+hostname+"-toy") {
			exec.Command("docker", "rm", "-f", id).Run()
		}
		for _, network := range []string{hostname, "kubelet14-" + hostname + "-a", "kubelet14-" + hostname + "-b", "kubelet14-" + hostname + "-c"} {
			exec.Command("docker", "network", "rm", network).Run()
		}
	})
	return r
}

var lastPort = 10_000 + rand.IntN(9_000) // below those of the tests of Docker and of the kernel

func freePort() string {
	for {
		lastPort++
		if listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", lastPort)); err == nil {
			listener.Close()
			return fmt.Sprint(lastPort)
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
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // many times what a page takes, also where it builds etcd on a busy machine
	defer cancel()
	// A script that fails stops what it has left running in the background.
	const stopJobs = "trap 'for job in $(jobs -p); do kill -- -$job || kill $job; done 2>/dev/null' EXIT\n"
	cmd := exec.CommandContext(ctx, "bash", "-c", stopJobs+r.toOurs.Replace(script))
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // SIGKILL would skip the trap
	cmd.WaitDelay = 10 * time.Second
	failed := cmd.Run()
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	text := r.toPages.Replace(string(printed))
	if failed != nil {
		t.Fatalf("the script fails: %v (its time: %v)\n%s\nIts output:\n%s", failed, ctx.Err(), script, text)
	}
	return text
}

// containers returns the ids of the reader's containers, or Docker's error.
func (r *reader) containers() string {
	const format = `{{.ID}} {{.Label "kubelet14.hostname"}}`
	out, err := exec.Command("docker", "ps", "-a", "--filter", "label=kubelet14.hostname", "--format", format).CombinedOutput()
	if err != nil {
		return string(out)
	}
	return strings.Join(submatches(`(?m)^(\w+) `+r.hostname+`(?:-\w)?$`, string(out)), " ")
}

package docs

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools/registrytest"
)

// atOnce is how many pages or exercises run at once. They mostly wait.
const atOnce = 5

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", fmt.Sprint(atOnce))
	os.Exit(m.Run())
}

// TestIntegrationReadme follows what a newcomer reads first.
func TestIntegrationReadme(t *testing.T) {
	readPages(t, map[string]func(*reader, *testing.T){
		"make run": (*reader).makeRun, "tour.md": func(r *reader, t *testing.T) { r.page(t, "tour.md") },
	})
}

// TestIntegrationLongPages follows all other pages.
func TestIntegrationLongPages(t *testing.T) {
	follow := map[string]func(*reader, *testing.T){"teaching.md, typed": (*reader).class, "a pattern that never comes": (*reader).hasty}
	for _, p := range pages(t) {
		if p.path != "README.md" && p.path != "tour.md" && len(p.marked("sh run")) > 0 {
			follow[p.path] = func(r *reader, t *testing.T) { r.page(t, p.path) }
		}
	}
	follow["operators.md"] = (*reader).operator
	readPages(t, follow, "from-one-host-to-many.md", "teaching.md, typed", "sources.md") // those that take longest begin first
}

// readPages runs the commands of pages, and compares what they print with what the pages show. Each page has a student
// of its own. Some are begun first.
func readPages(t *testing.T, follow map[string]func(*reader, *testing.T), names ...string) {
	setup := readPage(t, "README.md").marked("sh run")
	root, _ := filepath.Abs("..")
	project := &reader{dir: t.TempDir()}
	project.bash(t, "cp -r "+root+"/[!.]* .\n"+setup[0].body) // builds the program, once for all pages
	client, err := docker.NewClientFromEnv()
	unittest.Must(t, err, registrytest.EnsureHello(client))
	for name := range follow {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	next := make(chan string)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for name := range next {
				t.Run(name, func(t *testing.T) { follow[name](newReader(t, project), t) })
			}
		})
	}
	for _, name := range names {
		next <- name
	}
	close(next)
	all.Wait()
}

// page runs the commands of a page.
func (r *reader) page(t *testing.T, path string) {
	script := "set -euo pipefail\n" + r.prepare(t)
	own := readPage(t, filepath.Join(r.dir, "docs", path))
	for _, f := range own.marked("sh run") {
		script += f.body
	}
	r.checkPrinted(t, own, r.bash(t, script))
}

// hasty waits, for a short time, for a line that the log never gets.
func (r *reader) hasty(t *testing.T) {
	prepare := strings.Replace(r.prepare(t), "{1..12000}", "1", 1)
	out := r.bash(t, fmt.Sprintf("%secho its last line >/tmp/try-%d/log\nlogged 'is up' || echo gave up", prepare, r.student))
	if want := "its last line\nafter 60 s the log has no line like: is up\ngave up\n"; out != want {
		t.Errorf("logged prints %q, want %q", out, want)
	}
}

// makeRun follows README.md, in a copy whose Chinese pages name the same student.
func (r *reader) makeRun(t *testing.T) {
	compareChinesePages(t, filepath.Join(r.dir, "docs"))
	r.demo.Close()
	image := fmt.Sprintf("kubelet14-test-%d", r.student)
	r.checkPrinted(t, readPage(t, filepath.Join(r.dir, "README.md")), r.bash(t, fmt.Sprintf(`set -m
page=http://127.0.0.1:%d14/
make run >log 2>&1 & make=$!
until curl -s $page | grep 'answers 200'; do sleep 0.1; done
curl -s $page
until grep -q 'pod once.* has done its work' log && grep -q 'pod web.* is up' log; do sleep 0.1; done
kill -INT -- -$make # to the whole process group, as Ctrl-C does
wait $make || true
cat log
tar -c -T /dev/null | docker import - %s
make clean IMAGES=%[2]s
! docker image inspect %[2]s 2>/dev/null &&
	! make -n clean | grep kubelet14/ # by itself it leaves what is everybody's`, 80+r.student, image)))
}

// class types the commands of teaching.md at two terminals, and checks what the teacher sees.
func (r *reader) class(t *testing.T) {
	r.demo.Close()
	blocks := readPage(t, filepath.Join(r.dir, "docs/teaching.md")).marked("sh")
	block := func() (body string) {
		body, blocks = blocks[0].body, blocks[1:]
		return body
	}
	one, two := r.terminal(t), r.terminal(t)
	one.types(block())
	one.sees(`(?s)(.*\n  docker kill.*)http://.*pod web\S* is up`)
	for i, command := range submatches(`(?m)^  (\S.*?)  +`, one.seen) {
		two.types(command + "\n")
		[]func(){
			func() { two.sees(`Hello from pod web`) },
			func() { one.sees(`started container "writer" \(attempt 2\)`) },
			func() { one.sees(`started container "writer" \(attempt 3\)`) },
		}[i]()
	}
	one.types("\x03")
	one.sees(`make clean`)

	toy, remove := block(), block()
	runs := fmt.Sprintf("until docker ps | grep -q toyloop_toy-%d; do sleep 0.1; done; ", r.student)
	one.types(toy)
	for range 2 {
		one.sees(`docker run`)
		two.types(runs + remove)
	}
	one.sees(`docker run`)
	two.types(runs + "echo it is back\n")
	two.sees(`it is back`)
	one.types("\x03")
	one.sees(`keeps running`)
	two.types(block())
	one.types(toy)
	one.sees(`"exited": docker start`)
	one.types("\x03")
	one.sees(`keeps running`)
	two.types(remove)

	step := block()
	one.types(step)
	one.sees(`step 3 +start writer \(attempt 1\)`)
	one.types("1\n")
	one.sees(`attempt 1 is created\r\n(?s:.*)step 2 +start writer`)
	one.types("\n")
	one.sees(`web.default.file: nothing to do now`)
	two.types(block())
	one.sees(`= net(?s:.*)= server(?s:.*)≠ writer(?s:.*)GREETING changed(?s:.*)stop writer`)
	two.types(block())
	one.sees(`ended with exit code 137(?s:.*)step 2 +start writer \(attempt 2\)`)
	one.types("\n")
	one.sees(`nothing to do now`)

	two.types(block())
	one.sees(`≠ net(?s:.*)≠ server(?s:.*)≠ writer(?s:.*)stop net`)
	one.types("1\n")
	one.sees(`attempt 1 is running, of another version; attempt 2 is created`)
	one.types("\n")
	one.sees(`nothing to do now`)
	two.types(block())
	one.sees(`create net \(attempt 3\)`)
	one.types("\n")
	one.sees(`step 1 +remove writer \(attempt 1\)`)
	one.types("\n")
	one.sees(`nothing to do now`)

	two.types("clear; " + block())
	two.sees(`Hello from pod web`)
	two.types("logged imgae\n" + block())

	two.types(block())
	one.sees(`create writer \(attempt 5\)`)
	one.types("1\n")
	one.sees(`attempt 5 is created`)
	one.types("\x1a")
	one.sees(`Stopped`)
	one.types(block() + "wait -f %%\n" + step[strings.Index(step, "$KUBELET"):]) // a person is slower than the end of a process
	one.sees(`Look at the pods(?s:.*)attempt 5 is created(?s:.*)step 1 +stop writer \(attempt 4\)`)
	one.types("\n")
	one.sees(`step 1 +remove writer \(attempt 2\)`)
	one.types("\n")
	one.sees(`nothing to do now`)
	one.types("q\n" + block())
	one.sees(`removed 1 pod(?s:.*)removed 3 pods(?s:.*)rm -rf bin`)
	if len(blocks) > 0 || r.containers() != "" {
		t.Errorf("blocks that nobody has typed: %v; containers that are left: %q", blocks, r.containers())
	}
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

// reader follows a page in a copy of the project, as one of the students of a shared host.
type reader struct {
	dir     string
	student int
	demo    net.Listener // has the port of the demo, so no chapter can use it
}

// No student of this run gets a number that another one had: the class removes the directory that claims it before its
// last containers are gone.
var (
	firstStudent = rand.IntN(120)
	students     atomic.Int64
)

// newReader returns a student whose ports and directory nobody has.
func newReader(t *testing.T, project *reader) *reader {
	t.Helper()
	r := &reader{dir: t.TempDir()}
	for r.demo == nil {
		r.student = 40 + (firstStudent+int(students.Add(1)))%120 // the ports are below those that the kernel gives away
		r.demo = r.claim()
	}
	t.Cleanup(func() {
		r.demo.Close()
		for _, id := range append(strings.Fields(r.containers()), fmt.Sprintf("toyloop_toy-%d", r.student)) {
			exec.Command("docker", "rm", "-f", id).Run()
		}
		for _, network := range []string{"try-%d", "demo-%d", "try-%d-a", "try-%d-b", "try-%d-c"} {
			exec.Command("docker", "network", "rm", fmt.Sprintf("kubelet14-"+network, r.student)).Run()
		}
		os.RemoveAll(fmt.Sprintf("/tmp/try-%d", r.student))
	})
	r.bash(t, fmt.Sprintf("cp -rl %s/. . && make student STUDENT=%d", project.dir, r.student))
	return r
}

// claim returns a listener at the port of the demo, or nil if something of the student is taken.
func (r *reader) claim() (demo net.Listener) {
	dir := fmt.Sprintf("/tmp/try-%d", r.student)
	demo, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d14", 80+r.student))
	if err != nil || os.Mkdir(dir, 0o755) != nil {
		return nil
	}
	for _, last := range []int{15, 16, 17, 18, 19, 20, 21, 50} {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d%d", 80+r.student, last))
		if err != nil {
			os.Remove(dir)
			demo.Close()
			return nil
		}
		l.Close()
	}
	return demo
}

// prepare returns the commands that README.md has readers give before each chapter. They wait longer: many pages at once
// are slow.
func (r *reader) prepare(t *testing.T) string {
	commands := readPage(t, filepath.Join(r.dir, "docs/README.md")).marked("sh run")[1].body
	return strings.Replace(commands, "{1..600}", "{1..12000}", 1)
}

// bash runs a script to its end and returns all that it prints.
func (r *reader) bash(t *testing.T, script string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	unittest.Must(t, err)
	defer out.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // many times what a page takes, also where it builds etcd on a busy machine
	defer cancel()
	// A script that fails stops what it has left running in the background.
	const stopJobs = "trap 'for job in $(jobs -p); do kill -- -$job || kill $job || true; done 2>/dev/null' EXIT\n"
	cmd := exec.CommandContext(ctx, "bash", "-c", stopJobs+script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // SIGKILL would skip the trap
	cmd.WaitDelay = 10 * time.Second
	failed := cmd.Run()
	printed, err := os.ReadFile(out.Name())
	unittest.Must(t, err)
	text := string(printed)
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
	return strings.Join(submatches(fmt.Sprintf(`(?m)^(\w+) (?:try|demo)-%d(?:-\w)?$`, r.student), string(out)), " ")
}

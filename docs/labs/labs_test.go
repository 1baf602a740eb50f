package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools/registrytest"
	"kubelet14/kubelet/e2e/hosttest"
)

// build builds this program, as students run it, once.
var build = sync.OnceValues(func() (string, error) {
	client, err := hosttest.Connect("")
	if err == nil {
		err = registrytest.EnsureHello(client)
	}
	if err != nil {
		return "", err
	}
	path := filepath.Join(hosttest.BuildDir, "labs")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

func TestMain(m *testing.M) { hosttest.Main(m) }

// solved makes a directory with the solution of a lab, as the pages tell how to; 0 stands for what students begin with.
func solved(t *testing.T, lab int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	layers := []string{"start"}
	for n := range lab {
		layers = append(layers, fmt.Sprint("testdata/", n+1))
	}
	for _, layer := range layers {
		unittest.Must(t, exec.Command("cp", "-r", layer+"/.", dir).Run())
	}
	return dir
}

// labsSay runs the command with flags, and checks its exit code and words that it prints.
func labsSay(t *testing.T, done bool, flags []string, words ...string) {
	t.Helper()
	program, err := build()
	unittest.Must(t, err)
	out, err := exec.Command(program, flags...).CombinedOutput()
	unittest.Says(t, string(out), words...)
	if (err == nil) != done {
		t.Errorf("it ends with %v, and prints\n%s", err, out)
	}
	nothingIsLeft(t, string(out))
}

// nothingIsLeft checks that a check has removed what it has made.
func nothingIsLeft(t *testing.T, printed string) {
	t.Helper()
	_, rest, began := strings.Cut(printed, "the names of this run begin with ")
	if !began {
		return
	}
	prefix, _, _ := strings.Cut(rest, "_")
	for _, list := range [][]string{{"ps", "--all", "--format", "{{.Names}}"}, {"volume", "ls", "--quiet"}, {"network", "ls", "--format", "{{.Name}}"}} {
		out, err := exec.Command("docker", list...).CombinedOutput()
		unittest.Must(t, err)
		for name := range strings.FieldsSeq(string(out)) {
			if strings.Contains(name, prefix) {
				t.Errorf("the check leaves %s behind, by docker %s", name, list[0])
			}
		}
	}
}

func flags(lab int, dir string, more ...string) []string {
	return append([]string{fmt.Sprint("-lab=", lab), "-dir=" + dir}, more...)
}

// Each solution is done, and the one before it is not. The last one is done in all labs.
func TestIntegrationLongLabs(t *testing.T) {
	for i := range labs {
		n := i + 1
		t.Run(fmt.Sprint("lab ", n), func(t *testing.T) {
			t.Parallel()
			dir := solved(t, n)
			vet := exec.Command("go", "vet", ".")
			vet.Dir = dir
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			labsSay(t, true, flags(n, dir, "-limit=5m"), fmt.Sprintf("done: lab %d\n", n))
			labsSay(t, true, []string{"-dir=" + dir}, fmt.Sprintf("done  make lab LAB=%d", n))
		})
		if n < len(labs) {
			t.Run(fmt.Sprintf("lab %d with the last program", n), func(t *testing.T) {
				t.Parallel()
				labsSay(t, true, flags(n, solved(t, len(labs)), "-limit=5m"), fmt.Sprintf("done: lab %d\n", n))
			})
		}
		t.Run(fmt.Sprintf("lab %d with the program of the one before", n), func(t *testing.T) {
			t.Parallel()
			labsSay(t, false, flags(n, solved(t, i), "-limit=1m"), "not yet", "it wanted: ", labs[i].page)
		})
	}
}

// mutant is a solution that falls into a trap.
type mutant struct {
	lab   int
	trap  string
	files string   // one, or two with a space between them
	edits []string // old and new; the old one is in one of them, once
	words []string // that the check says
}

var mutants = []mutant{
	{1, "a file that cannot be read counts as one that is gone", "main.go", []string{"!wanted && errRead != nil", "!wanted && false"}, []string{"_web_main was ", "trap 1"}},
	{1, "names that only contain the prefix are ours", "docker.go", []string{`"name=^"+prefix+"_"`, `"name="+prefix`}, []string{"not its own: its names begin with"}},
	{1, "it kills what it removes", "decide.go", []string{`[]string{"stop", name}, `, "", `[]string{"rm", name}`, `[]string{"rm", "--force", name}`}, []string{"Stop it with docker stop"}},
	{1, "it removes only what it remembers", "main.go", []string{"// union returns", "var seen = map[string]bool{}\n\n// union returns",
		"plan := decide(", "if _, ok := desired[pod]; !ok && !seen[pod] {\ncontinue\n}\nseen[pod] = true\nplan := decide("}, []string{"_db_main running", "trap 2"}},
	{2, "the hash is of the text", "manifest.go", []string{"	return m, err\n", "	for i := range m.Containers {\nm.Containers[i].Env = append(m.Containers[i].Env, struct{ Name, Value string }{\"TEXT\", string(data)})\n}\nreturn m, err\n"},
		[]string{"_web_main_", "not of the text"}},
	{2, "the hash is another one in each process", "hash.go", []string{"json.Marshal(of)", `json.Marshal([]any{of, os.Getpid()})`, `"fmt"`, "\"fmt\"\n\"os\""}, []string{"_main_", "in every process"}},
	{2, "the old one is stopped first", "decide.go", []string{"slices.Concat(creates, stops, starts, removes)", "slices.Concat(stops, removes, creates, starts)"}, []string{"and only then", "trap 2"}},
	{2, "the new one runs beside the old one", "decide.go", []string{"slices.Concat(creates, stops, starts, removes)", "slices.Concat(creates, starts, stops, removes)"}, []string{"while another one ran"}},
	{3, "the count is in the program", "decide.go", []string{"crashes = newest.Crashes + 1", "counted[newest.Name] = true\nfor name := range counted {\nif strings.HasPrefix(name, base) {\ncrashes++\n}\n}",
		"// newestOf returns", "var counted = map[string]bool{}\n\n// newestOf returns"}, []string{"start number", "at the earliest"}},
	{3, "the dead one goes first", "decide.go", []string{"slices.Concat(creates, stops, starts, removes)", "slices.Concat(creates, stops, removes, starts)"}, []string{"nothing else knows of the crashes"}},
	{3, "it sleeps", "decide.go", []string{"	case \"exited\", \"dead\":", "	case \"exited\", \"dead\":\ntime.Sleep(time.Until(newest.Ended.Add(wait(newest.Crashes+1))))\nnow=time.Now()"}, []string{"trap 2"}},
	{3, "there is no back-off", "backoff.go", []string{"	if crashes < 2 {", "	if crashes < 200 {"}, []string{"start number", "at the earliest"}},
	{4, "a dead network container is started again", "decide.go attempts.go", []string{"	case newest.dead():", "	case newest.dead() && strings.Contains(base, \"_net_\"):\nreturn newest.Name, 0, false\ncase newest.dead():",
		`newest.State == "created"`, `newest.State == "created" || newest.dead() && w.name == "net"`, "return name, isNew || !newest.dead()", "return name, true"}, []string{"has been started again", "trap 1"}},
	{4, "a network container has the name of one that was removed", "decide.go attempts.go", []string{"o.Joined == network && ", "", "hash(w.args)", "hash(w.args, w.network)"}, []string{"removes the network container", "trap 1"}},
	{4, "the ports are not in a hash", "decide.go", []string{"hash(w.args)", "hash(w.args[:4], w.name)"}, []string{"trap 2"}},
	{4, "each container has a volume of its own", "pod.go", []string{"volume(pod, m.Name)", "volume(pod, m.Name+c.Name)"}, []string{"does not say"}},
	{4, "the volume stays", "decide.go", []string{"		p.dropVolumes()\n", ""}, []string{"the volume lab-", "is still there"}},
	{5, "one loop does everything", "workers.go", []string{"w.all.Go(func() {", "w.mu.Unlock()\nfunc() {", "		w.end(pod, err == nil)\n	})", "		w.end(pod, err == nil)\n	}()\nw.mu.Lock()"}, []string{"tick-1", "trap 1"}},
	{5, "a busy pod gets another worker", "main.go", []string{"if busy[pod] {", "if busy[pod] && false {"}, []string{"while it was waiting for the answer to: "}},
	{5, "an edit of a busy pod is lost", "main.go", []string{"		if busy[pod] {", "		if hash(desired[pod]) == seen[pod] {\ncontinue\n}\nseen[pod] = hash(desired[pod])\nif busy[pod] {", "// union returns", "var seen = map[string]string{}\n\n// union returns"},
		[]string{"edits slow.json"}}, // which edit is lost depends on when a worker ends
	{5, "plans wait in a queue", "workers.go", []string{"return maps.Clone(w.pods)", "return nil", "	\"maps\"\n", "",
		"	w.pods[pod] = true\n", "	if w.pods[pod] {\nqueue[pod] = append(queue[pod], plan)\nreturn\n}\nw.pods[pod] = true\n",
		"	delete(w.pods, pod)\n", "	delete(w.pods, pod)\nif q := queue[pod]; len(q) > 0 {\nqueue[pod] = q[1:]\ngo w.run(context.Background(), pod, q[0])\n}\n",
		"func newWorkers", "var queue = map[string][][][]string{}\n\nfunc newWorkers"}, []string{"kept an old plan", "trap 2"}},
	{5, "it kills", "decide.go", []string{`"-t", "30"`, `"-t", "0"`}, []string{`stop with the parameters "t=0"`}},
	{6, "what was created and is not desired stays", "decide.go", []string{"which(o) && !p.keep[o.Name]", `which(o) && !p.keep[o.Name] && o.State != "created"`}, []string{"trap 2", "there are more than three"}},
	{6, "what was created is started at once", "decide.go", []string{"	p.keep[name] = true", "	if newest.State == \"created\" {\np.creates = append(p.creates, []string{\"start\", name})\n}\np.keep[name] = true"},
		[]string{"kills it after change 1", "while another one ran"}},
}

// A check refuses each of them, and says why.
func TestIntegrationLongMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(fmt.Sprintf("lab %d, %s", m.lab, m.trap), func(t *testing.T) {
			t.Parallel()
			dir := solved(t, m.lab)
			all := ""
			for file := range strings.FieldsSeq(m.files) {
				path := filepath.Join(dir, file)
				text, err := os.ReadFile(path)
				unittest.Must(t, err, os.WriteFile(path, []byte(strings.NewReplacer(m.edits...).Replace(string(text))), 0o644))
				all += string(text)
			}
			for i := 0; i < len(m.edits); i += 2 {
				if n := strings.Count(all, m.edits[i]); n != 1 {
					t.Fatalf("%s has %d times %q", m.files, n, m.edits[i])
				}
			}
			labsSay(t, false, flags(m.lab, dir, "-limit=90s"), append(m.words, "not yet", "it wanted: ")...)
		})
	}
}

// Ctrl-C ends a check, which removes what it has made, and says what it was waiting for.
func TestIntegrationLongInterruptedLab(t *testing.T) {
	t.Parallel()
	program, err := build()
	unittest.Must(t, err)
	var out hosttest.Buffer
	cmd := exec.Command(program, flags(1, solved(t, 0))...)
	cmd.Stdout, cmd.Stderr = &out, &out
	unittest.Must(t, cmd.Start())
	unittest.Await(t, func() error { return unittest.HasWords(out.String(), "waits: a container of web runs") })
	unittest.Must(t, cmd.Process.Signal(syscall.SIGINT))
	if cmd.Wait() == nil {
		t.Error("it says that the lab is done")
	}
	unittest.Says(t, out.String(), "stopped", "it wanted: a container of web runs", "what this check has made is removed")
	nothingIsLeft(t, out.String())
}

// A program in another language is run by a command, in its directory.
func TestIntegrationLongLabOfAShellScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unittest.Must(t, os.WriteFile(filepath.Join(dir, "my.sh"), []byte("echo $0 $* says hello; exit 3\n"), 0o644))
	labsSay(t, false, flags(1, dir, "-run=sh my.sh"), "your program has ended by itself: exit status 3", "/manifests lab-", "says hello")
	labsSay(t, false, flags(1, dir), "go build in "+dir)
}

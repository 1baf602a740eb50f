package words

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/kubelet/options"
	"kubelet14/kubelet/token"
)

func TestPs(t *testing.T) {
	h, k := newHost(t), shop()
	h.kubelet(k)
	h.prints("ps", "POD / CONTAINER", "web.default.file")
	if got := h.prints("ps -o name"); got != "web.default.file\ndb.one.file\ndb.two.etcd\n" {
		t.Errorf("the names are %q", got)
	}
	h.prints("ps -o=json", "{\n  \"items\": [\n    {\n      \"name\": \"web\"")
	h.fails("ps -o yaml", 1, "-o=yaml: give table, json or name")
	h.fails("ps -o name -w", 1, "-w is for the table")
	k.statuses[0].Phase, k.statuses[0].Message = api.PodFailing, "\x1b[31m"
	for _, form := range []string{"table", "json", "name"} {
		stdout, stderr, code := h.run("ps -o " + form)
		if code != 1 || !strings.Contains(stdout, "db.one.file") && form != "json" || strings.Contains(stdout, "\x1b") || !strings.Contains(stderr, "not well: 1 of 3 pods") {
			t.Errorf("-o %s: exit code %d, %q and %q", form, code, stdout, stderr)
		}
	}
}

func TestDescribe(t *testing.T) {
	h, k := newHost(t), shop()
	h.kubelet(k)
	at := time.Date(2014, 10, 23, 12, 0, 0, 0, time.Local)
	web := &k.statuses[0]
	web.SourceError, web.PodIP, web.Phase, web.Ports = "a typo", "172.18.0.2", api.PodFailing, []api.Port{{HostPort: 80, ContainerPort: 8080}}
	web.Volumes = []api.Volume{{Name: "conf", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: "/etc"}}}}
	web.Containers[0] = api.ContainerStatus{
		Name: "server", RestartCount: 4, Image: "hello:1", ImageID: "sha256:1", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: "BackOff", Message: "one\ntwo\x1b[31m"}},
		Last: &api.ContainerStateTerminated{ExitCode: 3, Reason: "Error", FinishedAt: at},
	}
	for range 30 {
		k.events = append(k.events, api.Event{Pod: "web.default.file", Reason: "old"}, api.Event{Pod: "db.one.file", Reason: "other"})
	}
	k.events = append(k.events, api.Event{Pod: "web.default.file", Container: "server", Time: at, Reason: "BackOff", Message: "ended"})
	got := h.prints("describe web",
		"Pod:                web.default.file\n", "Manifest:           /pods/web.yaml\nIt cannot be read:  a typo\nState:              failing\n",
		"IP:                 172.18.0.2\nPorts:              80->8080\n", `conf {"hostDir":{"path":"/etc"}}`+"\n",
		"Container server:\n  State:     waiting\n  Ready:     false\n  Reason:    BackOff: one; two?[31m\n  Before:    Error (exit code 3) at 2014-10-23 12:00:00\n  Restarts:  4\n  Image:     hello:1 sha256:1\n",
		"Container cache:", "  2014-10-23 12:00:00  server  BackOff  ended\n")
	if strings.Count(got, "old") != maxEvents-1 || strings.Contains(got, "other") {
		t.Errorf("describe prints other events:\n%s", got)
	}
	h.fails("describe webb", 1, "did you mean web?")
}

// Messages need the token. Without it, logs says what to do, and the other words say that messages are hidden.
func TestWhoMayNotReadTheToken(t *testing.T) {
	h, k := newHost(t), shop()
	k.statuses[0].Message = "a secret"
	port, dir := h.serve(k, "127.0.0.1"), t.TempDir()
	h.process("/", "kubelet14", "-config=/pods", "-root_dir="+dir, "-port="+port)
	check := func(why, what string) {
		t.Helper()
		h.prints("ps", "(shown with the token)")
		want := "this needs the token of the kubelet: read the token: " + why
		h.fails("logs web", 1, "kubelet14: "+want+what+"\n")
		stdout, stderr, code := h.run("describe web")
		if code != 0 || !strings.Contains(stdout, "(shown with the token)") || !strings.HasPrefix(stderr, "kubelet14: messages are hidden: "+want) {
			t.Errorf("exit code %d, %q and %q", code, stdout, stderr)
		}
	}
	check("stat "+dir+"/token: no such file or directory", ": give the -root_dir or the -token_file of the kubelet")
	unittest.Must(t, os.WriteFile(dir+"/token", []byte(testToken), 0o600))
	h.prints("describe web", "a secret")
	h.prints("logs web", "server | web.default.file server tail -1")

	unittest.Must(t, os.Chmod(dir+"/token", 0), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755))
	runtime.LockOSThread() // root would read it: this thread is another user to files
	defer runtime.UnlockOSThread()
	syscall.Setfsuid(65534)
	defer syscall.Setfsuid(os.Geteuid())
	check("open "+dir+"/token: permission denied", ": use sudo")
}

func TestTop(t *testing.T) {
	h, k := newHost(t), shop()
	h.kubelet(k)
	looks := map[string]uint64{}
	began := time.Date(2014, 10, 23, 12, 0, 0, 0, time.UTC)
	k.stats = func(pod, container string) (s api.ContainerStats, err error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		of := pod + " " + container
		looks[of]++
		busy := map[string]uint64{"web.default.file cache": 250, "web.default.file server": 1500, "db.one.file main": 1}[of]
		s.ID, s.Time, s.CPU.Total = of, began.Add(time.Duration(looks[of])*time.Second), 1e18+looks[of]*busy*1e6
		s.Memory.WorkingSet = 1 << 20 * uint64(len(of))
		if container == "x" {
			return s, errors.New("Docker is away")
		}
		return s, nil
	}
	want := `POD / CONTAINER   CPU (1000m: a core)  MEMORY  
web.default.file  1750m                45MiB   
  server          1500m                23MiB   
  cache           250m                 22MiB   
  x               0m                   0B      PROBLEM
db.one.file       1m                   16MiB   
  main            1m                   16MiB   
db.two.etcd       0m                   16MiB   
  main            0m                   16MiB   
`
	if got := h.prints("top"); !strings.Contains(got, "Docker is away") || got[:strings.Index(got, "  x")] != want[:strings.Index(want, "  x")] ||
		!strings.HasSuffix(got, want[strings.Index(want, "db."):]) {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
}

// While no kubelet listens at its port, any user may.
func TestWordsTrustNoAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"\x1b[31m<html>": "invalid character", `{"items": [{"name": "web\u001b[31m"}, {"name": "web\u001b[31m"}]}`: "2 pods are named web\x1b[31m", "none": "is not a kubelet14",
		`{"items": [{"name": "other\u009b31m"}]}`: "there is no pod",
	} {
		fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if answer != "none" {
				w.Header().Set(token.InstanceHeader, "x")
			}
			io.WriteString(w, answer)
		}))
		h := newHost(t)
		h.process("/", "kubelet14", "-config=/pods", "-root_dir="+t.TempDir(), "-port="+fake.URL[strings.LastIndex(fake.URL, ":")+1:])
		for _, line := range []string{"describe web\x1b[31m", "logs web\x1b[31m"} {
			h.fails(line, 1, api.Printable(want))
			if _, stderr, _ := h.run(line); strings.ContainsAny(stderr, "\x1b\u009b") {
				t.Errorf("it prints %q", stderr)
			}
		}
		fake.Close()
	}
}

func TestDiff(t *testing.T) {
	h := newHost(t)
	var got *options.Options
	h.carryOut = func(_ context.Context, f *options.Options) int { got = f; return 0 }
	h.fails("diff", 1, "no kubelet14 runs")
	h.prints("diff -config=/other")
	if !got.DryRun || got.Config != "/other" {
		t.Errorf("without a kubelet, diff plans with %+v", got)
	}
	h.process("/", "kubelet14", "-config=/pods", "-root_dir=/root-dir", "-step", "-enable_server=false", "-allow_privileged")
	h.prints("diff")
	if !got.DryRun || got.Step || got.Config != "/pods" || got.RootDir != "/root-dir" || !got.Rules.AllowPrivileged {
		t.Errorf("diff plans with %+v", got)
	}
	h.prints("diff -config=/other -allow_privileged=false")
	if got.Config != "/other" || got.RootDir != "/root-dir" || got.Rules.AllowPrivileged {
		t.Errorf("diff plans with %+v", got)
	}
	h.carryOut = func(context.Context, *options.Options) int { return 1 }
	if stdout, stderr, code := h.run("diff"); code != 1 || stdout+stderr != "" {
		t.Errorf("when it fails: exit code %d, %q, %q", code, stdout, stderr)
	}
}

const goodPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  nodeSelector: {a: b}\n  containers: [{name: main, image: hello}]\n"

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) { unittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) }
	pod := func(name string) string { return strings.Replace(goodPod, "%s", name, 1) }
	write("web.yaml", pod("web"))
	write("README", "no manifest")
	unittest.Must(t, os.Mkdir(dir+"/more", 0o755))
	write("more/db", pod("db")+"---\n"+pod("cache"))
	t.Chdir(dir)
	h := newHost(t)
	h.parser = func(f *options.Options) config.Parser {
		return config.Parser{Hostname: "host", Scheme: v1.NewScheme(), Rules: f.Rules}
	}
	h.in = pod("piped")
	const ignored = ": these fields mean nothing here: spec.nodeSelector\n"
	stdout, stderr, code := h.run("check . more/db -")
	if want := "4 pods in 3 files: all are taken\n"; code != 0 || stdout != want || strings.Count(stderr, ignored) != 4 || !strings.Contains(stderr, "(standard input)") ||
		!strings.Contains(stderr, "warning: pod cache.default.file (more/db (document 2))") || strings.Contains(stderr, "W1") {
		t.Errorf("exit code %d, %q and %q, want %q", code, stdout, stderr, want)
	}
	unittest.Must(t, os.MkdirAll(dir+"/none/deep", 0o755))
	write("none/deep/bad.yaml", "no manifest")
	h.fails("check none", 1, "there is nothing to check: give files, or directories with files whose names end in .yaml, ")
	write("ports.yaml", strings.Replace(strings.Replace(pod("b")+"---\n"+pod("a"), "hello}", "hello, ports: [{containerPort: 1, hostPort: 9}], envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s, optional: true}}]}", 2),
		"}]}]\n", "}]}]\n---\n{apiVersion: v1, kind: Secret, metadata: {name: c}}\n", 1))
	if stdout, stderr, code := h.run("check ports.yaml"); code != 0 || !strings.Contains(stdout, "2 pods in 1 file: all are taken") || strings.Count(stderr, "no ConfigMap \"c\" in these files") != 1 ||
		!strings.Contains(stderr, "warning: pod b.default.file (ports.yaml (document 1)) waits: host port 9/tcp is taken by pod a.default.file") || strings.Contains(stderr, "\"s\"") {
		t.Errorf("pods that cannot run beside each other: exit code %d, %q and %q", code, stdout, stderr)
	}
	unittest.Must(t, os.Remove(dir+"/ports.yaml"))
	h.in = pod("db") + "spec: {}\n"
	write("more/bad.yaml", strings.Replace(pod("bad"), "image", "imige", 1))
	write("again.yaml", pod("web"))
	h.fails("check more . more/db - /gone", 1, `more/bad.yaml:6:29: spec.containers[0].imige: unknown field: did you mean "image"?`, "> 6 |   containers: [{name: main, imige: hello}]",
		`pod "web" is in again.yaml and web.yaml: keep one of them`, "standard input:", "stat /gone: no such file or directory")
	h.fails("check", 2, "check: a FILE… is missing")
	h.fails("check x -port=y", 1, "-port")
}

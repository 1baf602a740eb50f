package words

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/kubelet/node"
	"kubelet14/kubelet/options"
	"kubelet14/kubelet/server"
	"kubelet14/kubelet/trace"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// fakeKubelet has the pods that a test has set. A nil function does nothing.
type fakeKubelet struct {
	mu       sync.Mutex // for what its functions keep
	statuses []api.PodStatus
	events   []api.Event
	log      func(ctx context.Context, container string, opts api.LogOptions, out io.Writer) error
	stats    func(pod, container string) (api.ContainerStats, error)
	exec     func(ctx context.Context, asked string, s api.Streams) (int, error)
}

func (k *fakeKubelet) Health() error                       { return nil }
func (k *fakeKubelet) Pods() []api.Pod                     { return nil }
func (k *fakeKubelet) Load() api.Load                      { return api.Load{} }
func (k *fakeKubelet) Comparisons() map[string][]trace.Row { return nil }
func (k *fakeKubelet) Events(after uint64) []api.Event     { return k.events }
func (k *fakeKubelet) Statuses() ([]api.PodStatus, <-chan struct{}, error) {
	return append([]api.PodStatus{}, k.statuses...), nil, nil
}

func (k *fakeKubelet) ContainerLogs(ctx context.Context, pod, container string, opts api.LogOptions, out io.Writer) error {
	return k.log(ctx, pod+" "+container, opts, out)
}

func (k *fakeKubelet) RunInContainer(ctx context.Context, pod, container string, command []string, s api.Streams) (int, error) {
	return k.exec(ctx, fmt.Sprintf("%s %s %q", pod, container, command), s)
}

func (k *fakeKubelet) ContainerStats(_ context.Context, pod, container string) (api.ContainerStats, error) {
	return k.stats(pod, container)
}

// host is a machine with kubelets whose processes are files.
type host struct {
	t        *testing.T
	proc     string
	pids     int
	terminal bool
	in       string // standard input
	carryOut func(context.Context, *options.Options) int
	parser   func(*options.Options) config.Parser
	end      func() // ends the newest info server
}

func newHost(t *testing.T) *host { return &host{t: t, proc: t.TempDir()} }

// process adds a process that runs in a directory.
func (h *host) process(dir string, argv ...string) {
	h.t.Helper()
	h.pids++
	pid := filepath.Join(h.proc, fmt.Sprint(h.pids))
	unittest.Must(h.t, os.Mkdir(pid, 0o755), os.Symlink(dir, pid+"/cwd"),
		os.WriteFile(pid+"/cmdline", []byte(strings.Join(argv, "\x00")+"\x00"), 0o644))
}

// kubelet starts an info server with its token in a new root_dir, and adds its process.
func (h *host) kubelet(k *fakeKubelet) (rootDir string) {
	h.t.Helper()
	rootDir = h.t.TempDir()
	unittest.Must(h.t, os.WriteFile(rootDir+"/token", []byte(testToken), 0o600))
	h.process("/", "/usr/bin/kubelet14", "-config", "/pods", "-root_dir="+rootDir, "-port", h.serve(k, "127.0.0.1"), "-v=9")
	return rootDir
}

const testToken = "a-token-for-the-tests"

// serve starts an info server, and returns its port.
func (h *host) serve(k *fakeKubelet, address string) (port string) {
	h.t.Helper()
	s, err := server.New(server.Options{
		Kubelet: k, Sources: func() []api.SourceStatus { return nil }, Node: func() node.Status { return node.Status{} }, Trace: &trace.Trace{},
		Scheme: v1.NewScheme(), Address: address, Hostname: "host", Debugging: true, Token: testToken, Metrics: server.NewMetrics(),
	})
	unittest.Must(h.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	h.end = sync.OnceFunc(func() {
		cancel()
		unittest.Must(h.t, <-done)
	})
	h.t.Cleanup(h.end)
	return strings.Trim(s.URL()[strings.LastIndex(s.URL(), ":"):], ":/")
}

// run gives a line to kubelet14.
func (h *host) run(line string) (stdout, stderr string, code int) {
	h.t.Helper()
	var out, errs strings.Builder
	p := Program{Version: "v0", Out: &out, Err: &errs, Proc: h.proc, Terminal: h.terminal, In: strings.NewReader(h.in), CarryOut: h.carryOut, Parser: h.parser}
	code, isWord := p.Run(h.t.Context(), strings.Fields(line))
	if !isWord {
		h.t.Errorf("%q is not a word", line)
	}
	return out.String(), errs.String(), code
}

// fails checks that a line prints nothing but an error with all words.
func (h *host) fails(line string, code int, words ...string) {
	h.t.Helper()
	stdout, stderr, got := h.run(line)
	if err := unittest.HasWords(stderr, words...); got != code || stdout != "" || err != nil {
		h.t.Errorf("%q: exit code %d, want %d; %v; it prints %q and %q", line, got, code, err, stdout, stderr)
	}
}

// prints checks that a line succeeds and prints all words.
func (h *host) prints(line string, words ...string) (stdout string) {
	h.t.Helper()
	stdout, stderr, code := h.run(line)
	if err := unittest.HasWords(stdout, words...); code != 0 || stderr != "" || err != nil {
		h.t.Errorf("%q: exit code %d, %v; it prints %q and %q", line, code, err, stdout, stderr)
	}
	return stdout
}

func up(name, namespace, source string, containers ...string) api.PodStatus {
	p := api.PodStatus{Name: name, Namespace: namespace, Source: source, Origin: "/pods/" + name + ".yaml", Phase: api.PodRunning, Ready: true}
	for _, c := range append(containers, api.NetworkContainerName) {
		p.Containers = append(p.Containers, api.ContainerStatus{Name: c, Ready: true, State: api.ContainerState{Running: &api.ContainerStateRunning{}}})
	}
	return p
}

func TestFlagsAreNoWords(t *testing.T) {
	for _, args := range [][]string{nil, {"-config=x"}, {"--status"}, {"-"}} {
		if _, isWord := new(Program).Run(t.Context(), args); isWord {
			t.Errorf("%q is a word", args)
		}
	}
}

func TestWrongWords(t *testing.T) {
	h := newHost(t)
	for line, want := range map[string]string{
		"pz": `unknown word "pz": did you mean kubelet14 ps?`, "status": "did you mean kubelet14 ps?", "rm web": "did you mean kubelet14 -cleanup?",
		"manifests": "such as -config=manifests", "ps web": `ps: unexpected argument "web"`, "ps -- web": `unexpected argument "web"`,
		"ps -rootdir=x": "unknown flag -rootdir: did you mean -root-dir?", "ps -runonce": "unknown flag -runonce", "help pz": `no help for "pz"`,
		"completion": "did you mean kubelet14 -completion?", "exec web ls": `unexpected argument "ls": write the command after --`,
	} {
		h.fails(line, 2, want, "\nkubelet14 help", " explains it, and kubelet14 -h the flags\n")
	}
}

func TestHelp(t *testing.T) {
	h := newHost(t)
	list := h.prints("help -h", "WORD -h")
	for _, w := range words {
		unittest.Says(t, list, "kubelet14 "+w.name+" ", w.does)
		want := h.prints("help "+w.name, "kubelet14 "+w.name, w.does, w.examples[:10])
		if got := h.prints(w.name + " -h"); got != want || strings.Contains(got, "\n\n\n") {
			t.Errorf("%s -h prints %q, want %q", w.name, got, want)
		}
	}
	h.prints("help check", "such as -allow_privileged")
}

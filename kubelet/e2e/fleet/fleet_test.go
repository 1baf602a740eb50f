// Package fleet measures and tests many hosts whose pods come from one etcd. Sources,
// kubelets and etcd servers are real, and all of them on this machine; the Dockers are fakes.
package fleet

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/config/etcdtest"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/volume"
)

const (
	podsOfHost = 30
	patience   = 3 * time.Minute // with a fleet that does not do what it must
)

// console is for how far a benchmark is: the kubelets log to os.Stderr.
var console = os.Stderr

var logFile = flag.String("log", os.DevNull, "file for the logs of all kubelets")

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("logtostderr", "true")
	var err error
	if os.Stderr, err = os.Create(*logFile); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// fleet is hosts whose pods are in one etcd. Its methods are for the test's goroutine.
type fleet struct {
	testing.TB
	out io.Writer // of the table

	cluster etcdtest.Cluster
	client  *clientv3.Client // root's
	hosts   []*host
	arrived chan *host // gets each host that has started all that is expected of it

	ctx     context.Context // of the kubelets
	end     func()          // ends them, and returns when they have ended
	running sync.WaitGroup
}

// host is a kubelet and its Docker.
type host struct {
	name    string
	docker  *dockertest.Fake
	run     func(context.Context)
	status  func() api.SourceStatus
	arrived chan<- *host

	mu           sync.Mutex
	starts, want int       // of containers, since the beginning
	edits        int       // of its first pod
	put, created time.Time // of the latest edit, and of a container
}

// keys is what the keys of the host's pods begin with.
func (h *host) keys() string { return "/registry/hosts/" + h.name + "/kubelet/" }

// expect is called before that which makes the host start so many more containers.
func (h *host) expect(starts int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.want += starts
}

// observe is called for each call of the host's Docker.
func (h *host) observe(call dockertest.Call) dockertest.Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch call.Method {
	case "CreateContainer":
		h.created = time.Now()
	case "StartContainer":
		if h.starts++; h.starts == h.want {
			h.arrived <- h
		}
	}
	return dockertest.Fault{}
}

// pod returns the manifest of a pod, of an ordinary length.
func pod(edit int) string {
	return fmt.Sprintf(`version: v1beta1
containers:
- name: web
  image: hello:1
  command: [/hello, serve, --address=:8080, "--title=The shop at the corner"]
  memory: 64000000
  env:
  - {name: DATABASE, value: "postgres://shop@db.default:5432/shop?sslmode=disable"}
  - {name: LOG_LEVEL, value: info}
  - {name: EDIT, value: "%d"}
`, edit)
}

// newFleet starts an etcd, with its own defaults or those of tests, puts the pods of all hosts into it and makes
// the kubelets. Access is none, passwords or certificates.
func newFleet(tb testing.TB, hosts, members int, access string, defaults bool, out io.Writer) *fleet {
	tb.Helper()
	f := &fleet{TB: tb, out: out, arrived: make(chan *host, hosts)}
	var files syscall.Rlimit // Go raises its own limit; with this, that of etcd is raised too
	f.must(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	files.Cur = files.Max
	f.must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files))
	f.cluster = etcdtest.Settings{Members: members, Certificates: access == "certificates", Defaults: defaults}.Start(tb)
	f.connect()
	tb.Cleanup(func() { f.client.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	f.ctx, f.end = ctx, func() { cancel(); f.running.Wait() }
	tb.Cleanup(f.end)
	var names []string
	var puts errgroup.Group
	puts.SetLimit(32)
	for i := range hosts {
		h := &host{name: fmt.Sprintf("host-%04d", i), docker: dockertest.NewFake(), arrived: f.arrived}
		f.hosts, names = append(f.hosts, h), append(names, h.name)
		f.makeKubelet(h, access)
		puts.Go(func() error {
			var pods []clientv3.Op
			for i := range podsOfHost {
				pods = append(pods, clientv3.OpPut(fmt.Sprintf("%sshop-%02d", h.keys(), i), pod(0)))
			}
			_, err := f.client.Txn(ctx).Then(pods...).Commit()
			return err
		})
	}
	f.must(puts.Wait())
	if access != "none" {
		f.cluster.EnableUsers(names)
		f.connect()
	}
	return f
}

// makeKubelet makes what runs on a host.
func (f *fleet) makeKubelet(h *host, access string) {
	h.docker.AddImage("hello:1", nil)
	h.docker.AddImage(dockertools.PauseImage, nil)
	h.docker.SetFault(h.observe)
	root, err := volume.OpenRootDir(filepath.Join(f.TempDir(), h.name))
	f.must(err)
	text := fmt.Sprintf("endpoints: [%q", f.cluster.Endpoints()[0])
	for _, endpoint := range f.cluster.Endpoints()[1:] {
		text += fmt.Sprintf(", %q", endpoint)
	}
	switch text += "]\n"; access {
	case "passwords":
		text += fmt.Sprintf("username: %s\npassword: %s\n", h.name, etcdtest.Password)
	case "certificates":
		files := f.cluster[0].TLS
		cert, key := files.Client(h.name)
		text += fmt.Sprintf("cert-file: %s\nkey-file: %s\ntrusted-ca-file: %s\n", cert, key, files.CA)
	}
	file := filepath.Join(root.Path(), "etcd.yaml")
	f.must(os.WriteFile(file, []byte(text), 0o600))
	etcd, err := config.OpenEtcd(nil, file)
	f.must(err)
	source := config.NewSourceEtcd(etcd, config.Parser{Hostname: h.name, Scheme: v1.NewScheme()})
	kl := kubelet.NewMainKubelet(kubelet.Options{
		Identity:              dockertools.Identity{Hostname: h.name, RootDir: root.Path()},
		Docker:                h.docker,
		Volumes:               root,
		NetworkContainerImage: dockertools.PauseImage,
		SyncFrequency:         time.Hour, // so that each call of Docker has its cause in etcd
		MaxRestartBackoff:     time.Minute,
		Credentials:           func(context.Context, string) (dockertools.Auth, error) { return dockertools.Auth{}, nil },
		RegistryBurst:         1,
		Sources:               func() []api.SourceStatus { return []api.SourceStatus{source.Status()} },
		SyncDone:              func(time.Duration, bool) {}, PullDone: func(time.Duration, bool) {},
	})
	h.status = source.Status
	h.run = func(ctx context.Context) {
		defer root.Close()
		pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates)
		pods.Start(ctx, source)
		if err := kl.Run(ctx, pods.Updates()); err != nil {
			f.Errorf("%s: %v", h.name, err)
		}
		pods.Wait()
		etcd.Close()
	}
}

// connect makes a new client: one that has lost its servers may wait before it looks again.
func (f *fleet) connect() {
	f.Helper()
	if f.client != nil {
		f.client.Close()
	}
	f.client = f.cluster.Client()
}

// edit puts another manifest of a pod of each of the hosts, all at the same time, and waits until it runs.
// It returns how long each took from the beginning of the put to the creation of the container.
func (f *fleet) edit(what string, hosts ...*host) (took []time.Duration) {
	f.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	put := func(key, value string) error {
		for { // a cluster that has just got a leader can fail
			if _, err := f.client.Put(ctx, key, value); err == nil || ctx.Err() != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	f.must(put("/registry/first", "")) // after a restart of etcd this asks for the password again, once for all
	var puts errgroup.Group
	for _, h := range hosts {
		h.expect(1)
		h.edits++
		puts.Go(func() error {
			h.put = time.Now()
			return put(h.keys()+"shop-00", pod(h.edits))
		})
	}
	f.must(puts.Wait())
	f.await(what, len(hosts))
	for _, h := range hosts {
		took = append(took, h.created.Sub(h.put))
	}
	slices.Sort(took)
	return took
}

// await waits until so many hosts have started all that is expected of them.
func (f *fleet) await(what string, hosts int) {
	f.Helper()
	limit, report := time.After(patience), time.NewTicker(10*time.Second)
	defer report.Stop()
	for n := range hosts {
		for arrived := false; !arrived; {
			select {
			case <-f.arrived:
				arrived = true
			case <-report.C:
				fmt.Fprintf(console, "... %s: %d of %d hosts\n", what, n, hosts)
			case <-limit:
				errs := map[string]int{}
				for _, h := range f.hosts {
					errs[h.status().LastError]++
				}
				f.row(what, "%d of %d hosts after %v", n, hosts, patience)
				f.Fatalf("%s: %d of %d hosts after %v; the sources' last errors, and how many have them: %v", what, n, hosts, patience, errs)
			}
		}
	}
}

// check compares what each Docker was asked to do with what the pods and their edits need: nothing is
// started again, stopped or removed without an edit.
func (f *fleet) check(when string) {
	f.Helper()
	for _, h := range f.hosts {
		calls := h.docker.Calls()
		got := []int{calls["CreateContainer"], calls["StartContainer"], calls["StopContainer"], calls["RemoveContainer"]}
		if want := []int{2*podsOfHost + h.edits, 2*podsOfHost + h.edits, h.edits, 0}; !slices.Equal(got, want) {
			f.Errorf("%s: %s has created, started, stopped and removed %v containers, want %v", when, h.name, got, want)
		}
		live := 0
		for _, c := range h.docker.Containers() {
			if c.State.Live() {
				live++
			}
		}
		if live != 2*podsOfHost {
			f.Errorf("%s: %s has %d live containers, want %d", when, h.name, live, 2*podsOfHost)
		}
	}
}

// quiet waits until these hosts' Dockers have not been called for a second, and returns the number of all calls.
func (f *fleet) quiet(hosts []*host) (calls int) {
	for before := -1; calls != before; time.Sleep(time.Second) {
		before, calls = calls, 0
		for _, h := range hosts {
			for _, n := range h.docker.Calls() {
				calls += n
			}
		}
	}
	return calls
}

func (f *fleet) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fleet) row(what, format string, args ...any) {
	fmt.Fprintf(f.out, "%-50s %s\n", what, fmt.Sprintf(format, args...))
}

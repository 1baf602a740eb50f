// Package fleet measures and tests many hosts whose pods come from one etcd. The sources, the
// kubelets and the etcd servers are real, and all on this machine; the Dockers are fakes.
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
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"kubelet14/api"
	"kubelet14/api/unittest"
	v1 "kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/config/etcdtest"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/trace"
	"kubelet14/volume"
)

const (
	podsOfHost = 30 // of two containers each
	putsAtOnce = 16 // of an operator's program
)

var (
	logFile = flag.String("log", os.DevNull, "file for what the kubelets log")
	console = os.Stderr
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Stderr, _ = os.Create(*logFile)
	unittest.Main(m)
}

// fleet is hosts whose pods are in one etcd. Its methods are for the test's goroutine.
type fleet struct {
	testing.TB
	out     io.Writer // of the table
	dir     string    // of the hosts' root_dirs
	cluster etcdtest.Cluster
	client  *clientv3.Client // root's
	hosts   []*host
	started chan struct{} // gets one for each start of a container

	ctx     context.Context // of the kubelets
	end     func()          // ends them
	running sync.WaitGroup
}

// host is a kubelet and its Docker.
type host struct {
	name    string
	docker  *dockertest.Fake
	run     func()
	edits   int          // of one of its pods
	put     time.Time    // when the latest one began
	created atomic.Int64 // nanoseconds of Unix time, of the newest container
}

// newFleet starts an etcd, with its own defaults or those of tests, puts the pods of all hosts
// into it and makes the kubelets. access is none, passwords or certificates.
func newFleet(tb testing.TB, hosts, members int, access string, defaults bool, out io.Writer) *fleet {
	tb.Helper()
	f := &fleet{TB: tb, out: out, started: make(chan struct{}, 2*podsOfHost*hosts)}
	if f.dir = tb.TempDir(); defaults { // in reality each host has a disk; here all share that of etcd
		dir, err := os.MkdirTemp("/dev/shm", "fleet-")
		unittest.Must(f, err)
		tb.Cleanup(func() { os.RemoveAll(dir) })
		f.dir = dir
	}
	f.cluster = etcdtest.Settings{Members: members, Certificates: access == "certificates", Defaults: defaults}.Start(tb)
	f.client = f.cluster.Client()
	ctx, cancel := context.WithCancel(context.Background())
	f.ctx, f.end = ctx, func() { cancel(); f.running.Wait() }
	tb.Cleanup(f.end)
	var names []string
	var puts errgroup.Group
	puts.SetLimit(putsAtOnce)
	for i := range hosts {
		name := fmt.Sprintf("host-%04d", i)
		names = append(names, name)
		puts.Go(func() error {
			var pods []clientv3.Op
			for pod := range podsOfHost {
				pods = append(pods, clientv3.OpPut(key(name, pod), manifest(0)))
			}
			_, err := f.client.Txn(ctx).Then(pods...).Commit()
			return err
		})
	}
	unittest.Must(f, puts.Wait())
	if access != "none" {
		f.cluster.EnableUsers(names)
		f.client = f.cluster.Client()
	}
	for _, name := range names {
		f.hosts = append(f.hosts, f.newHost(name))
	}
	return f
}

func key(host string, pod int) string {
	return fmt.Sprintf("/registry/hosts/%s/kubelet/shop-%02d", host, pod)
}

// manifest returns one of an ordinary length.
func manifest(edit int) string {
	return fmt.Sprintf(`{version: v1beta1, containers: [{name: web, image: "hello:1", memory: 64000000,
  command: [/hello, serve, "--address=:8080", "--title=The shop at the corner", "--verbose"],
  env: [{name: DATABASE, value: "postgres://shop@db.default:5432/shop?sslmode=disable"}, {name: EDIT, value: "%d"}]}]}`, edit)
}

// newHost makes a kubelet, which runs when run is called.
func (f *fleet) newHost(name string) *host {
	f.Helper()
	h := &host{name: name, docker: dockertest.NewFake()}
	h.docker.AddImage("hello:1", nil)
	h.docker.AddImage(dockertools.PauseImage, nil)
	h.docker.SetFault(func(call dockertest.Call) dockertest.Fault {
		switch call.Method {
		case "CreateContainer":
			h.created.Store(time.Now().UnixNano())
		case "StartContainer": // it has stopped what it replaces
			f.started <- struct{}{}
		}
		return dockertest.Fault{}
	})
	root, err := volume.OpenRootDir(filepath.Join(f.dir, name))
	unittest.Must(f, err)
	file := filepath.Join(root.Path(), "etcd.yaml")
	unittest.Must(f, os.WriteFile(file, []byte(f.cluster.ClientFile(name)), 0o600))
	etcd, err := config.OpenEtcd(nil, file)
	unittest.Must(f, err)
	source := config.NewSourceEtcd(etcd, config.Parser{Hostname: name, Scheme: v1.NewScheme()})
	source.Record = filepath.Join(root.Path(), "etcd")
	kl := kubelet.NewMainKubelet(kubelet.Options{
		Trace:    &trace.Trace{},
		Identity: dockertools.Identity{Hostname: name, RootDir: root.Path()},
		Docker:   h.docker, Volumes: root, NetworkContainerImage: dockertools.PauseImage,
		SyncFrequency: time.Hour, // every call of Docker is caused by etcd
		Sources:       func() []api.SourceStatus { return []api.SourceStatus{source.Status()} },
		SyncDone:      func(time.Duration, bool) {}, PullDone: func(time.Duration, bool) {},
	})
	h.run = func() {
		pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates)
		pods.Start(f.ctx, source)
		if err := kl.Run(f.ctx, pods.Updates()); err != nil {
			f.Errorf("%s: %v", name, err)
		}
		pods.Wait()
		etcd.Close()
		root.Close()
	}
	return h
}

// edit changes a pod of each of these hosts and waits until the new ones run. It returns the times
// from the beginning of each put to the creation of the container, sorted.
func (f *fleet) edit(what string, hosts ...*host) (took []time.Duration) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, unittest.Limit())
	defer cancel()
	var puts errgroup.Group
	puts.SetLimit(putsAtOnce)
	for _, h := range hosts {
		h.edits++
		puts.Go(func() (err error) {
			h.put = time.Now()
			for { // a cluster may fail just after it has elected a leader
				if _, err = f.client.Put(ctx, key(h.name, 0), manifest(h.edits)); err == nil || ctx.Err() != nil {
					return err
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	unittest.Must(f, puts.Wait())
	f.await(what, len(hosts))
	for _, h := range hosts {
		took = append(took, time.Duration(h.created.Load()-h.put.UnixNano()))
	}
	slices.Sort(took)
	return took
}

// await waits until a number of containers have started, and checks that nothing else has happened since the fleet was
// made: nothing was started twice, stopped or removed without an edit.
func (f *fleet) await(what string, containers int) {
	f.Helper()
	limit, report := time.After(unittest.Limit()), time.NewTicker(10*time.Second)
	defer report.Stop()
	for n := 0; n < containers; {
		select {
		case <-f.started:
			n++
		case <-report.C:
			fmt.Fprintf(console, "... %s: %d of %d containers\n", what, n, containers)
		case <-limit:
			f.Fatalf("%s: %d of %d containers after %v", what, n, containers, unittest.Limit())
		}
	}
	for _, h := range f.hosts {
		calls, starts := h.docker.Calls(), 2*podsOfHost+h.edits
		got := []int{calls["CreateContainer"], calls["StartContainer"], calls["StopContainer"], calls["RemoveContainer"]}
		if want := []int{starts, starts, h.edits, 0}; !slices.Equal(got, want) {
			f.Errorf("%s: %s has created, started, stopped and removed %v containers, want %v", what, h.name, got, want)
		}
	}
}

// quiet waits until the Dockers of these hosts have had no call for a second, and returns the number of their calls.
func quiet(hosts []*host) (calls int) {
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

package config

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
	"kubelet14/config/etcdtest"
)

// The keys of the tests' host.
const (
	etcdList = "/registry/hosts/host/kubelet"
	etcdPods = etcdList + "/"
)

// etcdRun is a source that runs against a real etcd until the test ends.
type etcdRun struct {
	*SourceEtcd
	t       *testing.T
	updates chan api.PodUpdate
	last    api.PodUpdate // received
	errs    []string      // all different errors that were received
}

// runEtcd runs a source that looks at every key only once an hour, so whatever it
// sees of changes it sees by its watch.
func runEtcd(t *testing.T, endpoints ...string) *etcdRun {
	t.Helper()
	return newEtcdRun(t, endpoints, "", time.Hour)
}

// pollEtcd runs a source that looks at every key all the time.
func pollEtcd(t *testing.T, endpoints ...string) *etcdRun {
	t.Helper()
	return newEtcdRun(t, endpoints, "", 50*time.Millisecond)
}

// webOnEtcd starts an etcd with the pod web, and a source that has read it.
func webOnEtcd(t *testing.T, run func(t *testing.T, endpoints ...string) *etcdRun) (*etcdtest.Server, *etcdRun) {
	t.Helper()
	s := etcdtest.Start(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	r := run(t, s.Endpoint())
	r.await("web=1")
	return s, r
}

// newEtcdRun runs a source for endpoints, or for what the file says.
func newEtcdRun(t *testing.T, endpoints []string, file string, checkEvery time.Duration) *etcdRun {
	t.Helper()
	config, err := EtcdConfig(endpoints, file)
	if err != nil {
		t.Fatal(err)
	}
	config.DialTimeout = hastyTime
	r := &etcdRun{SourceEtcd: NewSourceEtcd(config, testParser()), t: t, updates: make(chan api.PodUpdate)}
	r.checkEvery = checkEvery
	connect := r.connect
	r.connect = func(ctx context.Context) (etcdClient, error) {
		client, err := connect(ctx)
		return hastyClient{client}, err
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx, r.updates)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return r
}

// hastyClient is a client that does not wait for an answer for as long as the source
// would, so that a test in which there is none takes seconds less.
type hastyClient struct{ etcdClient }

const hastyTime = time.Second

// Get implements etcdClient.
func (c hastyClient) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, hastyTime)
	defer cancel()
	return c.etcdClient.Get(ctx, key, opts...)
}

// await receives until the pods are as wanted and the error has all of the words;
// without words there must be no error.
func (r *etcdRun) await(pods string, words ...string) {
	r.t.Helper()
	r.awaitThat(fmt.Sprintf("%q and an error with %q", pods, words), func() bool {
		if r.last.Op == 0 || show(r.last.Pods) != pods || (r.last.Err == nil) != (len(words) == 0) {
			return false
		}
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(r.last.Err.Error(), word) })
	})
}

// awaitThat receives until it is good.
func (r *etcdRun) awaitThat(what string, good func() bool) {
	r.t.Helper()
	deadline := time.After(time.Minute)
	look := time.NewTicker(5 * time.Millisecond) // for what changes without an update
	defer look.Stop()
	for !good() {
		select {
		case <-look.C:
		case r.last = <-r.updates:
			if r.last.Op != api.SET {
				r.t.Fatalf("got a %v", r.last.Op)
			}
			if err := r.last.Err; err != nil && !slices.Contains(r.errs, err.Error()) {
				r.errs = append(r.errs, err.Error())
			}
		case <-deadline:
			r.t.Fatalf("waited for %s; the last was %q, %v", what, show(r.last.Pods), r.last.Err)
		}
	}
}

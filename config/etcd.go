package config

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

const (
	// etcdPollInterval is how often the keys are listed without a hint of the watch: the
	// watch of a server that is gone gives none.
	etcdPollInterval = 5 * time.Second
	// etcdTimeout is how long a list may take.
	etcdTimeout = 5 * time.Second
	// etcdRetryDelay is the pause after a failure.
	etcdRetryDelay = time.Second
	// etcdHintDelay lets a burst of changes lead to one list.
	etcdHintDelay = 5 * time.Millisecond
)

// SourceEtcd is the source "etcd". It lists the keys of this host every pollInterval
// and after each hint of a watch:
//
//	/registry/hosts/HOST/kubelet        a ContainerManifestList, as in 2014
//	/registry/hosts/HOST/kubelet/POD    one manifest
type SourceEtcd struct {
	source
	config       clientv3.Config
	pollInterval time.Duration
	parser       Parser

	root, end string // the range [root, end) has all keys, and a few of others
	whole     input
	keys      map[string]*input // by key; the version is the key's ModRevision

	// The revision of a cluster only grows. A cluster with another id or a lower
	// revision was replaced or has lost its data, so missing keys mean nothing.
	cluster  uint64 // id; 0 before the first list
	revision int64  // of the latest list
	replaced error  // not nil once that has happened, until the kubelet is restarted
}

// NewSourceEtcd returns the source for the keys of the parser's host at the servers of
// the configuration; see EtcdConfig.
func NewSourceEtcd(config clientv3.Config, parser Parser) *SourceEtcd {
	root := "/registry/hosts/" + parser.Hostname + "/kubelet"
	place := root + " at " + strings.Join(config.Endpoints, ", ")
	return &SourceEtcd{
		source:       source{title: "Etcd source", name: "etcd", place: place},
		config:       config,
		pollInterval: etcdPollInterval,
		parser:       parser,
		root:         root,
		end:          clientv3.GetPrefixRangeEnd(root + "/"),
		whole:        input{place: place},
		keys:         map[string]*input{},
	}
}

// Run implements Source.
func (s *SourceEtcd) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	for ctx.Err() == nil {
		if err := s.follow(ctx, updates); err != nil && ctx.Err() == nil {
			s.whole.err = fmt.Errorf("read %s: %w", s.place, s.explain(ctx, err))
			s.publish(ctx, updates, append(sorted(s.keys), &s.whole)...)
		}
		sleep(ctx, etcdRetryDelay)
	}
}

// follow connects to etcd and publishes one list after the other until one fails or
// the watch ends.
func (s *SourceEtcd) follow(ctx context.Context, updates chan<- api.PodUpdate) error {
	config := s.config
	config.Context = ctx
	client, err := clientv3.New(config)
	if err != nil {
		return err
	}
	defer client.Close()
	hints := make(chan struct{}, 1)
	watchCtx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() {
		defer stop()
		s.watch(watchCtx, client, hints)
	})
	for {
		if err := s.list(ctx, client); err != nil {
			return err
		}
		s.whole.err = nil
		s.publish(ctx, updates, append(sorted(s.keys), &s.whole)...)
		select {
		case <-watchCtx.Done():
			return nil
		case <-time.After(s.pollInterval):
		case <-hints:
			sleep(ctx, etcdHintDelay)
		}
	}
}

// watch gives a hint when it has begun, so that a list has what changed before, and
// after every change. A member that has lost its leader ends it.
func (s *SourceEtcd) watch(ctx context.Context, client *clientv3.Client, hints chan<- struct{}) {
	for range client.Watch(clientv3.WithRequireLeader(ctx), s.root, clientv3.WithRange(s.end), clientv3.WithCreatedNotify()) {
		select {
		case hints <- struct{}{}:
		default: // one is waiting
		}
	}
}

// list reads all keys.
func (s *SourceEtcd) list(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	list, err := client.Get(ctx, s.root, clientv3.WithRange(s.end))
	if err == nil {
		err = s.checkHistory(list.Header)
	}
	if err != nil {
		return err
	}
	keys := map[string]*input{}
	for _, kv := range list.Kvs {
		key := string(kv.Key)
		if key != s.root && !strings.HasPrefix(key, s.root+"/") {
			continue
		}
		in := s.keys[key]
		if in == nil {
			in = &input{place: key}
		}
		keys[key] = in
		in.load(strconv.FormatInt(kv.ModRevision, 10), func() ([]api.Pod, error) { return s.parse(key, kv.Value) })
	}
	s.keys = keys
	return nil
}

// checkHistory returns an error if a list is not from the cluster of the lists before.
func (s *SourceEtcd) checkHistory(header *etcdserverpb.ResponseHeader) error {
	switch {
	case s.replaced != nil:
	case s.cluster != 0 && header.ClusterId != s.cluster:
		s.replaced = fmt.Errorf("this is cluster %x, and it was cluster %x when the kubelet started: "+
			"restart the kubelet if the pods are to be as this one says", header.ClusterId, s.cluster)
	case header.Revision < s.revision: // the id is the same if it was set up in the same way
		s.replaced = fmt.Errorf("it has gone back from revision %d to %d, so it has lost data or was restored from a backup: "+
			"restart the kubelet if the pods are to be as it says now", s.revision, header.Revision)
	default:
		s.cluster, s.revision = header.ClusterId, header.Revision
	}
	return s.replaced
}

// parse makes pods of the value of a key. A manifest without an id in a key of its own
// is named by the last part of the key.
func (s *SourceEtcd) parse(key string, value []byte) ([]api.Pod, error) {
	if key == s.root {
		return s.parser.pods("etcd", key, value, s.parser.Scheme.DecodeList, strconv.Itoa)
	}
	name := func(int) string { return key[strings.LastIndex(key, "/")+1:] }
	pods, err := s.parser.pods("etcd", key, value, s.parser.Scheme.Decode, name)
	if len(pods) > 1 {
		return nil, fmt.Errorf("%s: %d manifests: put each into a key of its own", key, len(pods))
	}
	return pods, err
}

// sleep returns after d, or when ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

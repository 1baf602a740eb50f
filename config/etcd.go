package config

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

const (
	// etcdPollInterval is how often the keys are listed without a hint of the watch: the
	// watch of a server that is gone gives none.
	etcdPollInterval = 5 * time.Second
	// etcdRetryDelay is the pause after a failure.
	etcdRetryDelay = time.Second
	// etcdHintDelay lets a burst of changes lead to one list.
	etcdHintDelay = 5 * time.Millisecond
	// etcdPatience is how long etcd may take for a list.
	etcdPatience = 30 * time.Second
)

// SourceEtcd is the source "etcd". It lists the keys of this host every pollInterval
// and after each hint of a watch:
//
//	/registry/hosts/HOST/kubelet        a ContainerManifestList, as in 2014
//	/registry/hosts/HOST/kubelet/POD    one manifest
type SourceEtcd struct {
	source
	etcd      *Etcd
	patience  time.Duration // for a list
	root, end string        // the range [root, end) has all keys, and a few of others

	// The revision of a cluster only grows. A cluster with another id or a lower
	// revision was replaced or has lost its data, so missing keys mean nothing.
	cluster  uint64 // id; 0 before the first list
	revision int64  // of the latest list
	replaced error  // not nil once that has happened, until the kubelet is restarted

	changed atomic.Int64 // see Revision
}

// NewSourceEtcd returns the source for the keys of the parser's host.
func NewSourceEtcd(etcd *Etcd, parser Parser) *SourceEtcd {
	root := "/registry/hosts/" + parser.Hostname + "/kubelet"
	place := root + " at " + strings.Join(etcd.config.Endpoints, ", ")
	return &SourceEtcd{
		source:   newSource("Etcd source", "etcd", place, etcdPollInterval, parser),
		etcd:     etcd,
		patience: etcdPatience,
		root:     root,
		end:      clientv3.GetPrefixRangeEnd(root + "/"),
	}
}

// Revision returns the revision of etcd at the latest list that changed a key of this host, or
// at the first one; 0 before it. An edit has arrived when this is at least the put's revision.
// It may be called by any goroutine.
func (s *SourceEtcd) Revision() int64 { return s.changed.Load() }

func (s *SourceEtcd) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	for ctx.Err() == nil {
		if err := s.follow(ctx, updates); err != nil && ctx.Err() == nil {
			s.inputs[""].err = fmt.Errorf("read %s: %w", s.place, s.explain(ctx, err))
			s.publish(ctx, updates)
		}
		select {
		case <-time.After(etcdRetryDelay):
		case <-ctx.Done():
		}
	}
}

// follow connects to etcd and publishes one list after the other until one fails or
// the watch ends.
func (s *SourceEtcd) follow(ctx context.Context, updates chan<- api.PodUpdate) error {
	client, err := s.etcd.Client(ctx)
	if err != nil {
		return err
	}
	// Watch waits for a server. A member that has lost its leader ends the watch.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var watch clientv3.WatchChan
	for {
		if err := s.list(ctx, client); err != nil {
			return err
		}
		poll := time.After(s.publish(ctx, updates))
		if watch == nil {
			timer := time.AfterFunc(s.patience, stop)
			watch = client.Watch(clientv3.WithRequireLeader(ctx), s.root, clientv3.WithRange(s.end), clientv3.WithCreatedNotify())
			timer.Stop()
		}
		for waiting := true; waiting; {
			select {
			case <-poll:
				waiting = false
			case change, open := <-watch:
				if !open {
					return nil
				}
				// The list may be newer than the change.
				if waiting = change.Header.Revision <= s.revision; !waiting {
					time.Sleep(etcdHintDelay)
				}
			}
		}
	}
}

// list reads all keys.
func (s *SourceEtcd) list(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	list, err := client.Get(ctx, s.root, clientv3.WithRange(s.end))
	if err == nil {
		err = s.checkHistory(list.Header)
	}
	if err != nil {
		return err
	}
	listed, changed := map[string]bool{}, s.changed.Load() == 0
	for _, kv := range list.Kvs {
		key := string(kv.Key)
		if key == s.root || strings.HasPrefix(key, s.root+"/") {
			listed[key] = true
			changed = changed || kv.ModRevision > s.changed.Load()
			s.input(key).load(strconv.FormatInt(kv.ModRevision, 10), func() ([]api.Pod, error) { return s.parse(key, kv.Value) })
		}
	}
	s.forget(func(key string) bool {
		changed = changed || !listed[key]
		return !listed[key]
	})
	if changed {
		s.changed.Store(s.revision)
	}
	s.inputs[""].err = nil
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
		return s.parser.pods("etcd", key, value, strconv.Itoa)
	}
	name := func(int) string { return key[strings.LastIndex(key, "/")+1:] }
	pods, err := s.parser.pods("etcd", key, value, name)
	if len(pods) > 1 {
		return nil, fmt.Errorf("%s: %d manifests: put each into a key of its own", key, len(pods))
	}
	return pods, err
}

package config

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

const (
	// etcdPollInterval is the shortest time between two lists without a hint of the watch; the longest is twice that.
	// The watch may miss a change: a proxy can keep the connection and lose the watch.
	etcdPollInterval = 30 * time.Second
	// etcdHintDelay lets a burst of changes lead to one list.
	etcdHintDelay = 5 * time.Millisecond
	// etcdPatience is how long etcd may take for a list.
	etcdPatience = 30 * time.Second
	// etcdSilence is how long etcd may be silent before the watch asks it for an answer, and how long a list may take
	// before the status says so.
	etcdSilence = 10 * time.Second
)

// SourceEtcd is the source "etcd". It lists the keys of this host every pollInterval and after each hint of a watch:
//
//	/registry/hosts/HOST/kubelet        a ContainerManifestList, as in 2014
//	/registry/hosts/HOST/kubelet/POD    one manifest
type SourceEtcd struct {
	// Record is the path of a file with what is known of the etcd of the latest list, see etcdRecord. It outlives the
	// kubelet. Without a path or the file, the source accepts any etcd at its start. Set these fields before Run.
	Record   string
	ReadOnly bool // the file is not written
	Accept   bool // the file is not read: etcd is accepted as it is at this start

	source
	etcd      *Etcd
	patience  time.Duration // for a list
	silence   time.Duration
	root, end string // the range [root, end) has all keys, and a few keys of other hosts

	last      etcdRecord
	recordErr error            // why the file was not written
	known     map[string]int64 // the ModRevision of each key in the range
	since     int64            // the next list has the keys that were changed at this revision or later; 0: all keys
	arrived   atomic.Int64     // see Revision
}

// NewSourceEtcd returns the source for the keys of the parser's host.
func NewSourceEtcd(etcd *Etcd, parser Parser) *SourceEtcd {
	root := "/registry/hosts/" + parser.Hostname + "/kubelet"
	place := root + " at " + strings.Join(etcd.config.Endpoints, ", ")
	s := &SourceEtcd{
		source:   newSource("Etcd source", "etcd", place, etcdPollInterval, parser),
		etcd:     etcd,
		patience: etcdPatience,
		silence:  etcdSilence,
		root:     root,
		end:      clientv3.GetPrefixRangeEnd(root + "/"),
	}
	s.noPodsWait = minNoPodsWait
	if etcd.config.Username != "" { // a list may be the first call after etcd has lost its tokens
		s.patience = etcd.config.DialTimeout
	}
	return s
}

// Revision returns the revision of etcd at the latest list in which a key of this host had changed, or at the first
// list; 0 before that. Once it is at least the revision of a put, the kubelet has received that put. It may be called
// by any goroutine.
func (s *SourceEtcd) Revision() int64 { return s.arrived.Load() }

func (s *SourceEtcd) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	s.readRecord()
	hints := make(chan int64, 1) // revisions
	failures := 0
	for {
		var client *clientv3.Client
		arrived := false
		err := s.await(ctx, updates, "a login", func() (err error) {
			client, err = s.etcd.Client(ctx)
			return err
		})
		if err == nil {
			arrived, err = s.list(ctx, updates, client)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.fail(ctx, updates, err)
			failures++
			s.rest(ctx, hints, pause(failures))
			continue
		}
		failures = 0
		wait := jitter(s.publish(ctx, updates))
		if s.Revision() == 0 {
			since := s.since
			watching.Go(func() { s.watch(ctx, client, since, hints) })
		}
		if arrived {
			// When the Mux takes the update a second time, the kubelet has received the first: it merges one after the
			// other.
			select {
			case updates <- s.sent:
				s.arrived.Store(s.last.Revision)
			case <-ctx.Done():
			}
		}
		s.rest(ctx, hints, wait)
	}
}

// await calls f, which waits for an answer of etcd. While that takes long, await reports an error, less and less often,
// and goes on waiting: etcd works even for callers that have given up.
func (s *SourceEtcd) await(ctx context.Context, updates chan<- api.PodUpdate, answer string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for silence := s.silence; ; silence *= 2 {
		select {
		case err := <-done:
			return s.etcd.Explain(ctx, err, answer, "read "+s.root+" "+s.end)
		case <-time.After(silence):
			s.fail(ctx, updates, s.etcd.Explain(ctx, context.DeadlineExceeded, answer, ""))
		}
	}
}

func (s *SourceEtcd) fail(ctx context.Context, updates chan<- api.PodUpdate, err error) {
	s.inputs[""].err = fmt.Errorf("read %s: %w", s.place, err)
	s.publish(ctx, updates)
}

// rest returns after the wait, or after a hint of a revision newer than that of the latest list.
func (s *SourceEtcd) rest(ctx context.Context, hints <-chan int64, wait time.Duration) {
	poll := time.After(wait)
	for {
		select {
		case revision := <-hints:
			if revision <= s.last.Revision {
				continue
			}
			if revision == listAll {
				s.since = 0
			}
			time.Sleep(etcdHintDelay)
		case <-poll:
		case <-ctx.Done():
		}
		return
	}
}

// list reads the keys that have changed, and reports whether any of them is of this host. If the count of all keys in
// the range shows that some were deleted, it reads all.
func (s *SourceEtcd) list(ctx context.Context, updates chan<- api.PodUpdate, client *clientv3.Client) (changed bool, err error) {
	var list *clientv3.GetResponse
	var keys map[string]int64
	for {
		err := s.await(ctx, updates, "a list", func() (err error) {
			ctx, cancel := context.WithTimeout(ctx, s.patience)
			defer cancel()
			list, err = client.Get(ctx, s.root, clientv3.WithRange(s.end), clientv3.WithMinModRev(s.since))
			return err
		})
		if err != nil {
			return false, err
		}
		if err := s.checkHistory(list); err != nil {
			s.since = 0
			if err := s.accept(ctx, client, err); err != nil {
				return false, err
			}
			continue
		}
		keys = map[string]int64{}
		if s.since > 0 {
			keys = maps.Clone(s.known)
		}
		for _, kv := range list.Kvs {
			keys[string(kv.Key)] = kv.ModRevision
		}
		if s.since == 0 || int64(len(keys)) == list.Count {
			break
		}
		s.since = 0
	}
	changed = s.Revision() == 0
	for _, kv := range list.Kvs {
		key := string(kv.Key)
		if key == s.root || strings.HasPrefix(key, s.root+"/") {
			changed = changed || s.known[key] != kv.ModRevision
			s.input(key).load(strconv.FormatInt(kv.ModRevision, 10), func() ([]object, error) { return s.parse(key, kv.Value) })
		}
	}
	s.forget(func(key string) bool {
		gone := keys[key] == 0
		changed = changed || gone
		return gone
	})
	s.inputs[""].err = nil
	s.known, s.since = keys, list.Header.Revision+1
	s.remember(list.Header)
	return changed, nil
}

// parse returns the objects in the value of a key. A manifest without an id in a key of its own has the last part of
// the key as its name.
func (s *SourceEtcd) parse(key string, value []byte) ([]object, error) {
	if key == s.root {
		return s.parser.objects("etcd", key, value, strconv.Itoa)
	}
	return s.parser.objects("etcd", key, value, func(int) string { return key[strings.LastIndex(key, "/")+1:] })
}

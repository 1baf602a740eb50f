package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/golang/glog"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

const (
	// etcdCheckTime is how often the keys are listed although the watch is silent: a
	// watch of a server that is gone is silent too.
	etcdCheckTime = 5 * time.Second
	// etcdAnswerTime is how long a list may take.
	etcdAnswerTime = 5 * time.Second
	// etcdRetryTime is the pause after a failure.
	etcdRetryTime = time.Second
	// etcdGatherTime lets a burst of changes become one update.
	etcdGatherTime = 5 * time.Millisecond
)

// SourceEtcd is the source named "etcd": a list of manifests in one key of an etcd
// cluster, and one manifest in each key below it.
//
// A list says what is there, a watch says what has changed since. The list is the
// truth: it is taken first, after every failure, and from time to time, so nothing
// that the watch has missed is missed for long.
type SourceEtcd struct {
	reporter
	connect    func(ctx context.Context) (etcdClient, error)
	why        func(ctx context.Context) error // what keeps a list from being answered
	checkEvery time.Duration
	keys       *etcdKeys
	history    etcdHistory
}

// etcdClient is what the source needs of a clientv3.Client.
type etcdClient interface {
	Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error)
	Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan
	Close() error
}

// NewSourceEtcd returns the source for the keys of the parser's host, at the
// servers that the configuration names; see EtcdConfig.
func NewSourceEtcd(config clientv3.Config, parser Parser) *SourceEtcd {
	keys := newEtcdKeys(parser)
	return &SourceEtcd{
		reporter:   reporter{title: "Etcd source", source: "etcd", place: keys.root + " at " + strings.Join(config.Endpoints, ", ")},
		connect:    func(ctx context.Context) (etcdClient, error) { return connectEtcd(ctx, config) },
		why:        func(ctx context.Context) error { return tryEndpoints(ctx, config) },
		checkEvery: etcdCheckTime,
		keys:       keys,
	}
}

// Run sends a SET of all pods, and another one after every change of the pods or
// of the error, until ctx is done. While etcd is away the pods stay.
func (s *SourceEtcd) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	for {
		err := s.explain(ctx, s.follow(ctx, updates))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, rpctypes.ErrCompacted):
			glog.V(2).Infof("Etcd source: changes that the watch has not seen are compacted; listing again")
			continue
		}
		s.tell(ctx, updates, err)
		select {
		case <-time.After(etcdRetryTime):
		case <-ctx.Done():
			return
		}
	}
}

// follow lists the keys, then watches them until something fails, and says what.
func (s *SourceEtcd) follow(ctx context.Context, updates chan<- api.PodUpdate) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := s.list(ctx, client); err != nil {
		return err
	}
	s.tell(ctx, updates, nil)

	changes := make(chan clientv3.WatchResponse)
	var watching sync.WaitGroup
	defer func() {
		stop()
		watching.Wait()
	}()
	next := s.history.revision + 1
	watching.Go(func() { s.watch(ctx, client, next, changes) })

	check := time.NewTicker(s.checkEvery)
	defer check.Stop()
	var gathered <-chan time.Time // nil while no change waits to be told
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gathered:
			gathered = nil
			s.tell(ctx, updates, nil)
		case <-check.C:
			if err := s.list(ctx, client); err != nil {
				return err
			}
			s.tell(ctx, updates, nil)
		case change, open := <-changes:
			if !open {
				return errors.New("the watch has ended")
			}
			if err := s.take(change); err != nil {
				return err
			}
			if gathered == nil {
				gathered = time.After(etcdGatherTime)
			}
		}
	}
}

// watch passes on the changes of the keys from a revision on, and then closes the
// channel. It has a goroutine of its own: the client does not return from Watch
// before a server is there, and meanwhile somebody must say that none is.
func (s *SourceEtcd) watch(ctx context.Context, client etcdClient, revision int64, changes chan<- clientv3.WatchResponse) {
	defer close(changes)
	// A member that has lost its cluster must say so, and not keep silent.
	for change := range client.Watch(clientv3.WithRequireLeader(ctx), s.keys.root, clientv3.WithRange(s.keys.end), clientv3.WithRev(revision)) {
		select {
		case changes <- change:
		case <-ctx.Done():
			return
		}
	}
}

// list asks for all keys, and takes them for the truth.
func (s *SourceEtcd) list(ctx context.Context, client etcdClient) error {
	answer, cancel := context.WithTimeout(ctx, etcdAnswerTime)
	defer cancel()
	list, err := client.Get(answer, s.keys.root, clientv3.WithRange(s.keys.end))
	if err != nil {
		return err
	}
	if err := s.history.goesOn(list.Header); err != nil {
		return err
	}
	s.keys.set(list.Kvs)
	return nil
}

// take brings the keys up to date with what the watch says.
func (s *SourceEtcd) take(change clientv3.WatchResponse) error {
	if err := change.Err(); err != nil {
		return err
	}
	if err := s.history.sameCluster(change.Header.ClusterId); err != nil {
		return err
	}
	newest := s.history.revision
	for _, event := range change.Events {
		// A list may be ahead of the watch.
		if event.Kv.ModRevision > s.history.revision {
			s.keys.change(event)
			newest = event.Kv.ModRevision
		}
	}
	s.history.revision = newest
	return nil
}

// tell settles what each key gives, and sends it when it is news.
func (s *SourceEtcd) tell(ctx context.Context, updates chan<- api.PodUpdate, err error) {
	if err != nil {
		err = fmt.Errorf("read %s: %w", s.place, err)
	}
	parts := inOrder(s.keys.keys)
	settleClaims(parts)
	send(ctx, updates, s.report(time.Now(), parts, err))
}

// explain says what to do about an error. Of one kind it finds the cause first: the
// client waits for a server until its time is up, and then says only that.
func (s *SourceEtcd) explain(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w: grant it with: etcdctl role grant-permission ROLE read %s %s", err, s.keys.root, s.keys.end)
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("%w: this etcd wants a user: write username and password into a file for -etcd_config", err)
	case strings.HasPrefix(err.Error(), "rpc error:"): // not a word of etcd's own
		return fmt.Errorf("%w: is an etcd 3 at this address?", inSteadyWords(err))
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	if cause := s.why(ctx); cause != nil {
		return cause
	}
	return errors.New("its servers take connections and do not answer: has the cluster lost its leader, does a server want https, or is it no etcd 3?")
}

package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/golang/glog"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api/backoff"
)

// etcdMaxBackoff is the longest pause after a failure.
const etcdMaxBackoff = 30 * time.Second

// pause returns the pause after a number of failures in a row: 1 to 2 seconds, 2 to 4 and so on.
func pause(failures int) time.Duration {
	return jitter(backoff.Wait(failures, time.Second, etcdMaxBackoff/2))
}

// jitter returns a time between d and 2d. Without it a thousand hosts that fail together would come back together,
// again and again; and none may come back at once.
func jitter(d time.Duration) time.Duration { return d + rand.N(max(d, 1)) }

// Hints that are no revisions.
const (
	lookAgain = math.MaxInt64 - 1 // something is wrong with the watch; a list shows whether etcd is well
	listAll   = math.MaxInt64     // a list of what has changed may lack something
)

// watch sends the revision of each change of the keys since a revision, until ctx is done. It reopens a watch that has
// ended; the client itself reopens one that has lost its connection.
func (s *SourceEtcd) watch(ctx context.Context, client *clientv3.Client, since int64, hints chan int64) {
	hint := func(revision int64) {
		select {
		case unread := <-hints:
			revision = max(revision, unread)
		default:
		}
		hints <- revision
	}
	failures := 0
	var logged error
	for {
		opened := time.Now()
		err := s.watchOnce(ctx, client, &since, hint)
		if ctx.Err() != nil {
			return
		}
		if err = stableMessage(err); !sameText(err, logged) {
			logged = err
			glog.Warningf("%s: the watch of %s has ended and is opened again: %v", s.title, s.place, err)
		}
		if time.Since(opened) > etcdMaxBackoff {
			failures = 0
		}
		if failures > 0 {
			hint(lookAgain)
		}
		failures++
		select {
		case <-time.After(pause(failures)):
		case <-ctx.Done():
		}
	}
}

// watchOnce returns why a watch has ended. It sets since to the revision from which the next one goes on.
func (s *SourceEtcd) watchOnce(ctx context.Context, client *clientv3.Client, since *int64, hint func(revision int64)) error {
	ctx, cancel := context.WithCancelCause(clientv3.WithRequireLeader(ctx))
	defer cancel(nil)
	opening := time.AfterFunc(s.patience, func() { cancel(fmt.Errorf("etcd has not opened it in %v", s.patience)) })
	changes := client.Watch(ctx, s.root, clientv3.WithRange(s.end), clientv3.WithRev(*since))
	opening.Stop()
	heard := time.Now()
	for {
		select {
		case change, open := <-changes:
			heard = time.Now()
			revision := change.Header.GetRevision()
			switch err := change.Err(); {
			case !open:
				return cmp.Or(context.Cause(ctx), errors.New("the client has closed it"))
			case change.CompactRevision > 0:
				hint(listAll)
				*since = change.CompactRevision
				return err
			case err != nil:
				return err
			case revision < *since-1: // the server is behind, or has lost data
				hint(lookAgain)
				err := fmt.Errorf("it is at revision %d, and was at %d", revision, *since-1)
				*since = revision + 1
				return err
			case !change.IsProgressNotify():
				hint(revision)
			}
			*since = revision + 1
		case <-time.After(jitter(s.silence / 2)):
			if time.Since(heard) > s.patience {
				hint(lookAgain)
				return fmt.Errorf("etcd has not answered for %v", s.patience)
			}
			go client.RequestProgress(ctx) // it is lost with a connection
		}
	}
}

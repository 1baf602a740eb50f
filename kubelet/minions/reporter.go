package minions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"github.com/golang/glog"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"kubelet14/api"
	"kubelet14/api/backoff"
)

const (
	leaseSeconds     = 60
	lookInterval     = time.Second      // longest time between two looks at the state to report
	minWriteInterval = 5 * time.Second  // shortest time between two records; a change may wait this long
	maxWriteInterval = 5 * time.Minute  // longest time between two records
	maxWriteBackoff  = 30 * time.Second // longest wait after failures; the first is up to a second
	writePatience    = 2 * time.Minute  // for etcd's answer, since it may be busy with the logins of all hosts
	stopPatience     = time.Second      // for the last record
)

// Reporter writes the records of one kubelet. Every exported field must be set.
type Reporter struct {
	Host, Version string
	Certificates  []api.Certificate
	Kubelet       interface {
		Health() error
		Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error)
	}
	Sources  func() []api.SourceStatus
	Revision func() int64 // of etcd, up to which the kubelet has received the edits of its pods
	Etcd     etcd

	session  *concurrency.Session // keeps the lease alive; nil before the first lease
	logged   error                // why records cannot be written
	received int64                // the last Revision
	synced   <-chan struct{}      // closed once the statuses include received
	revision int64                // of the statuses
}

// etcd is a config.Etcd.
type etcd interface {
	Client(context.Context) (*clientv3.Client, error)
	Explain(ctx context.Context, err error, answer, rights string) error
}

// Run writes a record soon after each change and every few minutes until ctx is done. Its waits are random, since all
// hosts of an etcd may start, change or reconnect at the same time.
func (r *Reporter) Run(ctx context.Context) {
	var last Record // as it is in etcd, without its time
	var lastAt time.Time
	due, at, failures := true, time.Now().Add(rand.N(minWriteInterval)), 0
	for ctx.Err() == nil {
		record, newer := r.look()
		switch soonest := minWriteInterval - time.Since(lastAt); {
		case due:
		case r.leaseLost(): // perhaps all hosts lost theirs
			due, at = true, time.Now().Add(max(rand.N(maxWriteBackoff), soonest))
		case !reflect.DeepEqual(record, last):
			due, at = true, time.Now().Add(max(rand.N(minWriteInterval), soonest))
		}
		if time.Now().After(at) {
			if err := r.write(ctx, record); err == nil {
				r.log(ctx, nil)
				last, lastAt = record, time.Now()
				due, at, failures = false, lastAt.Add(maxWriteInterval-rand.N(maxWriteInterval/5)), 0
			} else if ctx.Err() == nil {
				r.log(ctx, err)
				failures++
				due, at = true, time.Now().Add(rand.N(backoff.Wait(failures, time.Second, maxWriteBackoff)))
			}
		}
		select {
		case <-newer:
		case <-time.After(lookInterval):
		case <-ctx.Done():
		}
	}
	r.stop(ctx)
}

// look returns the record to write, and a channel that is closed when there are newer statuses.
func (r *Reporter) look() (record Record, newer <-chan struct{}) {
	select { // before reading the statuses
	case <-r.synced:
		r.revision, r.synced = r.received, nil
	default:
	}
	received := r.Revision()
	pods, newer, err := r.Kubelet.Statuses()
	if received != r.received && newer != nil {
		r.received, r.synced = received, newer
	}
	record = Record{Version: r.Version, Health: healthy, Revision: r.revision}
	if err != nil {
		pods = nil // as they are now
	}
	if err := cmp.Or(err, r.Kubelet.Health()); err != nil {
		record.Health = api.OneLine(err.Error())
	}
	for _, source := range r.Sources() {
		switch {
		case record.SourceError != "":
		case !source.FailingSince.IsZero():
			record.SourceError, _, _ = strings.Cut(source.LastError, "\n")
			record.SourceError = api.OneLine(record.SourceError)
		case source.LastSuccess.IsZero():
			record.SourceError = fmt.Sprintf("source %q has not been read yet", source.Source)
		}
	}
	for _, c := range r.Certificates {
		if at := c.NotAfter.UTC(); record.Expires.IsZero() || at.Before(record.Expires) {
			record.Expires = at
		}
	}
	record.setPods(pods)
	return record, newer
}

func (r *Reporter) leaseLost() bool { return r.session == nil || r.session.Ctx().Err() != nil }

// write writes a record, under a new lease if there is none.
func (r *Reporter) write(ctx context.Context, record Record) error {
	client, err := r.Etcd.Client(ctx)
	if err != nil {
		return err
	}
	answer, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	if r.leaseLost() {
		lease, err := client.Grant(answer, leaseSeconds)
		if err != nil {
			return err
		}
		if r.session, err = concurrency.NewSession(client, concurrency.WithLease(lease.ID), concurrency.WithContext(ctx)); err != nil {
			return err
		}
	}
	if err = r.put(answer, record); errors.Is(err, rpctypes.ErrLeaseNotFound) {
		r.session.Orphan()
	}
	return err
}

// stop records that the kubelet was stopped, unless another kubelet wrote the record since.
func (r *Reporter) stop(ctx context.Context) {
	if r.session == nil || r.logged != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	record, _ := r.look()
	record.Health = stopped
	_ = r.put(ctx, record, clientv3.Compare(clientv3.LeaseValue(livePrefix+r.Host), "=", r.session.Lease())) // on failure the table shows the host as silent
}

// put writes a record to both keys if the conditions hold.
func (r *Reporter) put(ctx context.Context, record Record, conditions ...clientv3.Cmp) error {
	record.Time = time.Now().UTC().Truncate(time.Second)
	data, err := record.encode()
	if err != nil {
		return err
	}
	_, err = r.session.Client().Txn(ctx).If(conditions...).Then(
		clientv3.OpPut(livePrefix+r.Host, string(data), clientv3.WithLease(r.session.Lease())),
		clientv3.OpPut(knownPrefix+r.Host, string(data)),
	).Commit()
	return err
}

// log logs the first of several failures in a row, and the first denial.
func (r *Reporter) log(ctx context.Context, err error) {
	isDenied := func(err error) bool { return errors.Is(err, rpctypes.ErrPermissionDenied) }
	switch {
	case err == nil && r.logged != nil:
		glog.Info("this host's status is written to etcd again")
		r.logged = nil
	case err != nil && (r.logged == nil || isDenied(err) && !isDenied(r.logged)):
		rights := fmt.Sprintf("readwrite %s%s, and the same for %s%[2]s, but for no prefix", livePrefix, r.Host, knownPrefix)
		glog.Errorf("this host's status cannot be written to etcd: %v", r.Etcd.Explain(ctx, err, "a write", rights))
		r.logged = err
	}
}

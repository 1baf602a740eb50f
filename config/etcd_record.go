package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/golang/glog"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/volume"
)

// etcdRecord is what is known of the etcd of the latest good list. The revision of a cluster and the ModRevision of a
// key only grow. If the cluster has another id or one of them is lower, etcd was replaced or has lost data, and missing
// keys mean nothing.
type etcdRecord struct {
	Cluster  uint64    `json:"cluster"` // id; 0 before the first list
	Revision int64     `json:"revision"`
	Listed   time.Time `json:"listed"`         // when the first list with this revision arrived
	Lost     string    `json:"lost,omitempty"` // not empty once this cluster has lost data, since its revision grows again
}

// checkHistory returns an error if a list is not from the etcd of the lists before.
func (s *SourceEtcd) checkHistory(list *clientv3.GetResponse) error {
	last, header := &s.last, list.Header
	switch {
	case last.Cluster == 0:
	case header.ClusterId != last.Cluster:
		return fmt.Errorf("this is cluster %x, and it was cluster %x before", header.ClusterId, last.Cluster)
	case last.Lost != "":
	case header.Revision < last.Revision: // the id is the same if it was set up in the same way
		last.Lost = fmt.Sprintf("it has gone back from revision %d to %d", last.Revision, header.Revision)
	default:
		for _, kv := range list.Kvs {
			if before := s.known[string(kv.Key)]; kv.ModRevision < before {
				last.Lost = fmt.Sprintf("the key %s has gone back from revision %d to %d", label(string(kv.Key)), before, kv.ModRevision)
			}
		}
	}
	if last.Lost == "" {
		return nil
	}
	s.writeRecord()
	return fmt.Errorf("%s, so it has lost data or was restored from a backup", last.Lost)
}

// acceptKey holds the time at which an operator accepted etcd as it is, for all hosts. A backup may hold an older time,
// which does not count.
const acceptKey = "/registry/accept"

// accept returns nil and makes the source forget the former etcd if an operator has accepted this one. Otherwise the
// error says what is wrong and how to accept it.
func (s *SourceEtcd) accept(ctx context.Context, client *clientv3.Client, problem error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	problem = fmt.Errorf(`%w: if the pods are to be as it says now, accept it: for all hosts with etcdctl put %s "$(date -Iseconds)", `+
		"or for this one by one restart of the kubelet with -etcd_accept", problem, acceptKey)
	answer, err := client.Get(ctx, acceptKey)
	switch {
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w; this user may not read that key: etcdctl role grant-permission ROLE read %s", problem, acceptKey)
	case err != nil:
		return fmt.Errorf("%w; that key cannot be read: %w", problem, stableMessage(err))
	case len(answer.Kvs) == 0:
		return problem
	}
	text := string(answer.Kvs[0].Value)
	accepted, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	switch {
	case err != nil:
		return fmt.Errorf("%w; that key has %.40q now, which is no time in this form", problem, text)
	case !accepted.After(s.last.Listed):
		return fmt.Errorf("%w; that key has %s now, which does not count: it is not after the last good list, of %s",
			problem, accepted.Format(time.RFC3339), s.last.Listed.Format(time.RFC3339))
	}
	glog.Warningf("%s: %s is accepted as it is, because of the %s of %s", s.title, s.place, acceptKey, accepted.Format(time.RFC3339))
	s.last, s.known = etcdRecord{Listed: accepted}, nil
	return nil
}

// remember records that a list was good. The time never goes back, whatever the clock does.
func (s *SourceEtcd) remember(header *etcdserverpb.ResponseHeader) {
	if s.last.Cluster == header.ClusterId && s.last.Revision == header.Revision {
		return
	}
	now := time.Now()
	if now.Before(s.last.Listed) {
		now = s.last.Listed
	}
	s.last = etcdRecord{Cluster: header.ClusterId, Revision: header.Revision, Listed: now}
	s.writeRecord()
}

// readRecord reads the file. One that cannot be read is as good as none.
func (s *SourceEtcd) readRecord() {
	if s.Record == "" {
		return
	}
	if s.Accept {
		glog.Warningf("%s: %s is accepted as it is, because of -etcd_accept", s.title, s.place)
		return
	}
	text, err := os.ReadFile(s.Record)
	if err == nil {
		err = json.Unmarshal(text, &s.last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.last = etcdRecord{}
		glog.Warningf("%s: it is unknown which etcd was read before, so any is accepted: read %s: %v", s.title, s.Record, err)
	}
}

// writeRecord writes the file.
func (s *SourceEtcd) writeRecord() {
	if s.Record == "" || s.ReadOnly {
		return
	}
	text, err := json.Marshal(s.last)
	if err == nil {
		err = volume.WriteFile(s.Record, append(text, '\n'))
	}
	if err != nil && !sameText(err, s.recordErr) {
		glog.Errorf("%s: after a restart of the kubelet an etcd that has lost data will not be noticed: %v", s.title, err)
	}
	s.recordErr = err
}

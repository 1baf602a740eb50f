package config

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// etcdHistory is what the source has seen of the cluster since start. Each change
// makes the revision of a cluster one higher, for ever. So a cluster with another
// id, or with a lower revision, is not the one that said which pods to run: it was
// replaced, or has lost its data. That its keys are missing means nothing then.
type etcdHistory struct {
	cluster  uint64 // id; 0 before the first answer
	revision int64  // the latest that a list or the watch has told of
	broken   error  // why no list counts any more; nil while they do
}

// goesOn takes the header of a list, and says why the list does not count.
func (h *etcdHistory) goesOn(header *etcdserverpb.ResponseHeader) error {
	if err := h.sameCluster(header.ClusterId); err != nil {
		return err
	}
	// The id is made of the members' addresses and a token, so a cluster that was set
	// up again in the same way has the same one.
	if header.Revision < h.revision && h.broken == nil {
		h.broken = fmt.Errorf("it has gone back from revision %d to %d, so it has lost data or was restored from a backup: "+
			"restart the kubelet if the pods are to be as it says now", h.revision, header.Revision)
	}
	if h.broken != nil {
		return h.broken
	}
	h.cluster, h.revision = header.ClusterId, header.Revision
	return nil
}

// sameCluster says whether an answer comes from the cluster of the first one.
func (h *etcdHistory) sameCluster(id uint64) error {
	if h.cluster == 0 || id == h.cluster {
		return nil
	}
	return fmt.Errorf("this is cluster %x, and it was cluster %x when the kubelet started: "+
		"restart the kubelet if the pods are to be as this one says", id, h.cluster)
}

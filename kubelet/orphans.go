package kubelet

import (
	"context"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// setAsideOrphans sets aside the volumes of every UID that no pod wants, no container has
// and no worker that was busy before the list works for. While a source is silent it does
// nothing: which UIDs that source wants is not known.
func (kl *Kubelet) setAsideOrphans(list []dockertools.Owned, busy map[string]bool) {
	if len(kl.desired.silent) > 0 {
		return
	}
	inUse := map[string]bool{}
	for _, pod := range kl.desired.pods {
		inUse[pod.UID] = true
	}
	for i := range list {
		inUse[list[i].Of.UID] = true
	}
	for name := range busy {
		if p := kl.pods[name]; p != nil && p.work != nil && p.work.want != nil {
			inUse[p.work.want.UID] = true
		}
	}
	uids, err := kl.opts.Volumes.PodUIDs()
	kl.complain("list volumes", err)
	for _, uid := range uids {
		if inUse[uid] {
			continue
		}
		err := kl.opts.Volumes.MoveToTrash(uid)
		kl.complain("volumes of "+uid, err)
		if err == nil {
			glog.V(2).Infof("the volumes of uid %s belong to no pod and are removed", uid)
		}
	}
	select {
	case kl.trash <- struct{}{}:
	default: // it has been told already
	}
}

// emptyTrash deletes what is set aside, also what an earlier life left there,
// until ctx is done. What cannot be deleted is tried again after the next sync.
func (kl *Kubelet) emptyTrash(ctx context.Context) {
	said := ""
	for {
		select {
		case <-kl.trash:
		case <-ctx.Done():
			return
		}
		err := kl.opts.Volumes.EmptyTrash(ctx)
		if err == nil || ctx.Err() != nil {
			said = ""
		} else if err.Error() != said {
			said = err.Error()
			glog.Errorf("remove volumes: %v", err)
		}
	}
}

// complain logs an error about a thing when it appears or changes.
func (kl *Kubelet) complain(about string, err error) {
	if err == nil {
		delete(kl.complaints, about)
	} else if text := err.Error(); kl.complaints[about] != text {
		kl.complaints[about] = text
		glog.Errorf("%s: %v", about, err)
	}
}

package kubelet

import (
	"context"

	"kubelet14/kubelet/dockertools"
)

// trashVolumes moves to the trash the volumes of every UID that no desired pod and no listed container
// has. No busy worker can be making one of them: its network container is in the list, or its work was
// superseded before. While a source is not ready, nothing is moved: it may name pods that need them.
func (kl *Kubelet) trashVolumes(list []dockertools.Listed) error {
	if len(kl.desired.unsynced) > 0 {
		return nil
	}
	needed := map[string]bool{}
	for _, pod := range kl.desired.pods {
		needed[pod.UID] = true
	}
	for i := range list {
		needed[list[i].Of.UID] = true
	}
	defer notify(kl.trash)
	return kl.opts.Volumes.Keep(needed)
}

// emptyTrash deletes what is in the trash, even from an earlier run, until ctx is done. After an error it
// tries again at the next sync.
func (kl *Kubelet) emptyTrash(ctx context.Context) {
	for {
		select {
		case <-kl.trash:
		case <-ctx.Done():
			return
		}
		err := kl.opts.Volumes.EmptyTrash(ctx)
		if ctx.Err() == nil {
			kl.errors.Log("remove volumes", err)
		}
	}
}

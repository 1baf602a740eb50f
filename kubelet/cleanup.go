package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Cleanup stops and removes every container of this kubelet, and then every
// volume. It is what ends the pods: a kubelet that is stopped leaves them running.
func (kl *Kubelet) Cleanup(ctx context.Context) error {
	list, err := kl.lister.List(ctx, kl.lister.Mark())
	if err != nil {
		return err
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for name, origin := range kl.unwanted(list) { // nothing was asked for, so that is all
		wg.Go(func() {
			if err := kl.takeDown(ctx, name, origin); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("pod %s (%s): %w", name, origin, err))
			}
		})
	}
	wg.Wait()
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return kl.removeAllVolumes(ctx)
}

// takeDown removes the containers of one pod.
func (kl *Kubelet) takeDown(ctx context.Context, podFullName, origin string) error {
	label := fmt.Sprintf("%s (%s)", podFullName, origin)
	for {
		p, err := kl.look(ctx, podFullName, nil, kl.lister.Mark())
		if err != nil || len(p.steps) == 0 {
			return err
		}
		if err := kl.run(ctx, nil, label, p.steps, func() bool { return false }); err != nil {
			return err
		}
	}
}

func (kl *Kubelet) removeAllVolumes(ctx context.Context) error {
	uids, err := kl.opts.Volumes.PodUIDs()
	errs := []error{err}
	for _, uid := range uids {
		errs = append(errs, kl.opts.Volumes.SetAside(uid))
	}
	return errors.Join(append(errs, kl.opts.Volumes.EmptyTrash(ctx))...)
}

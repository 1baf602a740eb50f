package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/golang/glog"
)

// Cleanup stops and removes every container of this kubelet, and then every
// volume. It is what ends the pods: a kubelet that is stopped leaves them running.
// Where containers have its hostname or its root_dir alone it touches nothing, and is
// an error: they may live in those volumes.
func (kl *Kubelet) Cleanup(ctx context.Context) error {
	if err := kl.greet(ctx); err != nil {
		return err
	}
	list, err := kl.lister.List(ctx, kl.lister.Mark())
	if err != nil {
		return err
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	pods := originsOf(list) // all of them, wanted or not
	for name, origin := range pods {
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
	if err := kl.removeAllVolumes(ctx); err != nil {
		return err
	}
	glog.Infof("removed %d pods of hostname %s and root_dir %s, and all volumes there", len(pods), kl.opts.Identity.Hostname, kl.opts.Identity.RootDir)
	return nil
}

// takeDown removes the containers of one pod.
func (kl *Kubelet) takeDown(ctx context.Context, podFullName, origin string) error {
	state := newPodState(podFullName, kl.events)
	state.ask(wish{}, origin, 0)
	for {
		_, p, err := kl.look(ctx, state, nil, kl.lister.Mark())
		if err != nil || len(p.steps) == 0 {
			return err
		}
		if troubles, _ := kl.run(ctx, state, nil, p.steps, context.Background()); len(troubles) > 0 {
			return errors.New(describe(troubles))
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

package kubelet

import (
	"context"
	"errors"
	"fmt"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// BridgeNetwork is Docker's default network, which all pods shared in 2014. Containers
// have no names in it.
const BridgeNetwork = "bridge"

// startContainer starts a container. The first start of a network container makes the pod
// network, and so does each that finds it missing.
func (w *work) startContainer(ctx context.Context, a plan.Action) error {
	defer w.kl.startSlot()()
	joins := a.Name.Name == api.NetworkContainerName && !w.pod.Complete.HostNetwork
	for try := 1; ; try++ {
		if joins {
			if err := w.kl.makePodNetwork(ctx, try > 1); err != nil {
				return err
			}
		}
		err := w.kl.docker.StartContainer(ctx, a.ID)
		if !joins || try == 3 || !errors.Is(err, dockertools.ErrNoSuchNetwork) {
			return err
		}
	}
}

// makePodNetwork makes the pod network unless it was seen, or if it is missing now.
func (kl *Kubelet) makePodNetwork(ctx context.Context, missing bool) error {
	name := kl.opts.PodNetwork
	kl.setUp.Lock()
	defer kl.setUp.Unlock()
	if name == BridgeNetwork || kl.networkSeen && !missing {
		return nil
	}
	if err := kl.docker.MakeNetwork(ctx, name); err != nil {
		return plan.Problem{Reason: api.ReasonCannotStart, Message: fmt.Sprintf(
			"could not start: %v; with -pod_network=%s pods use Docker's default network, in which they do not find each other by name",
			err, BridgeNetwork)}
	}
	kl.networkSeen = true
	return nil
}

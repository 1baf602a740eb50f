package kubelet

import (
	"context"
	"errors"
	"fmt"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// pullFirst pulls the image of a creation although it may be present. When that
// fails, a present image is good enough, unless PullAlways says otherwise: a
// registry that is down stops no pod.
func (kl *Kubelet) pullFirst(ctx context.Context, a *action) error {
	image := a.want.spec.Image
	err := kl.images.fetch(ctx, a.name, image)
	if t := (trouble{}); err == nil || errors.As(err, &t) && t.reason == api.ReasonPulling || a.want.spec.ImagePullPolicy == api.PullAlways {
		return err
	}
	if _, missing := kl.docker.InspectImage(ctx, image); missing != nil {
		return err
	}
	glog.Warningf("pod %s: container %q: the present image %q is used, since its pull failed: %v", a.name.PodFullName, a.name.Name, image, err)
	kl.events.add(a.name.PodFullName, a.name.Name, "used present image", "%q: %v", image, err)
	return nil
}

// getImage gets an image that a creation has found missing: nil once it is there,
// and otherwise what is to be waited for or mended.
func (kl *Kubelet) getImage(ctx context.Context, a *action, image string, missing error) error {
	switch {
	case image == dockertools.PauseImage:
		return kl.importPauseImage(ctx)
	case a.want.spec != nil && a.want.spec.ImagePullPolicy == api.PullNever:
		return trouble{reason: api.ReasonImageNeverPulled, message: fmt.Sprintf("%s, and its imagePullPolicy is PullNever; `docker pull %s` gets it", a.wordsOf(missing), image)}
	}
	err := kl.images.fetch(ctx, a.name, image)
	if err == nil {
		kl.images.forget(a.name.PodFullName, a.name.Name) // should it be missing even so, it is pulled anew
	}
	return err
}

// importPauseImage makes the built-in network container image when it is missing.
// Workers of many pods may find that out at once; one of them imports it.
func (kl *Kubelet) importPauseImage(ctx context.Context) error {
	kl.pauseImage.Lock()
	defer kl.pauseImage.Unlock()
	return dockertools.EnsurePauseImage(ctx, kl.docker)
}

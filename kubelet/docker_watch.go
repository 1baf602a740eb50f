package kubelet

import (
	"context"
	"errors"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// waitForDocker connects to Docker, and tries again every second until it succeeds or ctx is
// done. The error is one that does not go away by waiting.
func (kl *Kubelet) waitForDocker(ctx context.Context) error {
	for {
		kl.health.set(func(h *healthState) { h.heartbeat = time.Now() })
		err := kl.connect(ctx)
		var conflict *dockertools.HalfIdentityError
		if err == nil || errors.As(err, &conflict) {
			return err
		}
		kl.health.set(func(h *healthState) { h.docker = err })
		kl.logOnce("wait for Docker", err)
		if !sleep(ctx, time.Second) {
			return nil
		}
	}
}

// connect checks that Docker answers and that this kubelet may use it.
func (kl *Kubelet) connect(ctx context.Context) error {
	version, err := kl.docker.Version(ctx)
	if err != nil {
		return err
	}
	if _, err := kl.observer.list(ctx); err != nil {
		return err
	}
	if kl.opts.ContainerLog != (dockertools.LogLimit{}) {
		driver, err := kl.docker.LogDriver(ctx)
		if err != nil {
			return err
		}
		if driver == "json-file" { // other drivers may refuse the limits
			kl.logLimit = kl.opts.ContainerLog
		}
	}
	glog.Infof("connected to Docker %s (API %s, %s/%s)", version.Version, version.APIVersion, version.OS, version.Arch)
	return nil
}

// watchEvents turns Docker's events into wakeups until ctx is done. When the stream breaks,
// for example because Docker is restarted, it opens another one; what was missed in between
// is found by inspecting everything.
func (kl *Kubelet) watchEvents(ctx context.Context) {
	for lost := false; ; lost = true {
		err := kl.docker.WatchEvents(ctx, kl.opts.Identity.Halves(), func(e dockertools.Event) {
			if e.ID == "" { // the stream begins
				if lost {
					glog.Info("Docker's events come again")
				}
				kl.health.set(func(h *healthState) { h.events = nil })
			}
			kl.observer.changed(e.ID, e.OutOfMemory)
			kl.wake()
		})
		if ctx.Err() != nil {
			return
		}
		kl.health.set(func(h *healthState) { h.events = err })
		if !lost {
			glog.Warningf("Docker's events have stopped, trying again every second: %v", err)
		}
		if !sleep(ctx, time.Second) {
			return
		}
	}
}

// sleep reports whether the time has passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

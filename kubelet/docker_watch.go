package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dns"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/watch"
)

// waitForDocker connects to Docker, and tries again every second until it succeeds or ctx is done. It
// returns only an error that waiting does not cure.
func (kl *Kubelet) waitForDocker(ctx context.Context) error {
	for {
		err := kl.connect(ctx)
		_, conflict := errors.AsType[*dockertools.IdentityConflictError](err)
		if !conflict && ctx.Err() == nil {
			kl.errors.Log("connect to Docker", err)
		}
		if err == nil || conflict {
			return err
		}
		kl.health.locked(func(h *healthState) { h.docker = err })
		if !sleep(ctx, time.Second) {
			return nil
		}
	}
}

// answerLimit is how long a slow Docker may take to answer.
const answerLimit = 20 * time.Second

var errFrozen = fmt.Errorf("no answer from Docker for %v; `journalctl -u docker` may say why", answerLimit)

// whileDockerAnswers returns a context that ends within 30 s if Docker is frozen or gone. It sends Docker a short
// request every 5 s and limits no other, so that a stop may take as long as its grace.
func (kl *Kubelet) whileDockerAnswers(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for answered := time.Now(); sleep(ctx, 5*time.Second); {
			limited, done := context.WithTimeoutCause(ctx, answerLimit, errFrozen)
			_, err := kl.opts.Docker.Info(limited)
			done()
			if err == nil {
				answered = time.Now()
			} else if time.Since(answered) > answerLimit {
				cancel(err)
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		wg.Wait()
	}
}

// connect checks that Docker answers and that this kubelet may use it.
func (kl *Kubelet) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errFrozen)
	defer cancel()
	docker, err := kl.opts.Docker.Info(ctx)
	if err != nil {
		return err
	}
	list, err := kl.observer.List(ctx)
	if err != nil {
		return err
	}
	if kl.opts.Volumes != nil { // after the list, so that a hostname that is refused is not claimed
		if err := kl.opts.Volumes.RecordHostname(kl.opts.Identity.Hostname); err != nil {
			return &dockertools.IdentityConflictError{Err: err}
		}
	}
	kl.opts.PodNetwork = cmp.Or(kl.opts.PodNetwork, dns.DefaultNetwork(list, kl.ownNetwork()))
	kl.executor.PodNetwork = kl.opts.PodNetwork
	if docker.LogDriver == "json-file" { // other drivers may refuse the limits
		kl.executor.LogLimit = kl.opts.ContainerLog
	}
	glog.Infof("connected to Docker %s (%s/%s)", docker.Version, docker.OS, docker.Arch)
	return nil
}

// ownNetwork returns the name of this kubelet's own pod network.
func (kl *Kubelet) ownNetwork() string { return "kubelet14-" + kl.opts.Identity.Hostname }

// watchEvents turns Docker's events into wakeups until ctx is done. When the stream breaks, for instance
// because Docker restarts, it opens another one, and everything is inspected again.
func (kl *Kubelet) watchEvents(ctx context.Context) {
	setErr := func(err error) {
		kl.health.locked(func(h *healthState) { h.events = err })
		kl.errors.Log("watch Docker's events", err)
	}
	for {
		err := kl.opts.Docker.WatchEvents(ctx, kl.opts.Identity.Selector(), func(e dockertools.Event) {
			switch {
			case e.ID == "": // the stream begins
				setErr(nil)
			case e.Signalled: // an end may follow
				kl.observer.RecordSignal(e.ID)
				return
			}
			kl.observer.Changed(e.ID, e.OutOfMemory)
			if e.ID != "" {
				kl.watcher.DockerEvent(kl.snapshot.Load().Container(e.ID))
			}
			kl.wake(watch.DockerEvent)
		})
		if ctx.Err() != nil {
			return
		}
		setErr(err)
		if !sleep(ctx, time.Second) {
			return
		}
	}
}

// sleep waits, and reports false if ctx is done before the time has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

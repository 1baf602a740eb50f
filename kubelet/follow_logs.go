package kubelet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// followLook is the longest time between two looks for what comes after an attempt.
// The kubelet's events tell of it sooner, and a look costs a list of Docker only when
// something has changed.
const followLook = time.Second

// follow reads one attempt after the other until there will be no more.
//
// An attempt is done with once its log was read to the end by a reading that began
// after the attempt had ended: Docker may end one that is followed before it has given
// all, and so does a restart of Docker.
func (r *logReader) follow(ctx context.Context, found *foundContainer) error {
	for seq := uint64(0); ctx.Err() == nil; {
		if c := r.next(found); c != nil {
			err := r.readAttempt(ctx, c)
			switch stuck := (*writeError)(nil); {
			case ctx.Err() != nil:
				return nil
			case err == nil && c.dead():
				r.read[c.ID].done = true
				continue
			case errors.As(err, &stuck) || errors.Is(err, dockertools.ErrLogNotKept):
				return err
			case err != nil:
				glog.V(2).Infof("pod %s: container %q: follow its log: %v", r.pod, r.container, err)
			}
		} else if found != nil && found.overForGood() {
			return nil
		}
		seq = r.kl.awaitEvent(ctx, r.pod, seq, followLook)
		var err error
		found, err = r.kl.findContainer(ctx, r.pod, r.container)
		if errors.Is(err, api.ErrNotFound) {
			return nil
		}
		if err != nil {
			glog.V(2).Infof("pod %s: container %q: follow its log: %v", r.pod, r.container, err)
		}
	}
	return nil
}

// next is the oldest attempt with something to read, or nil. One that was done with
// and runs again was started by somebody else.
func (r *logReader) next(found *foundContainer) *seenContainer {
	if found == nil {
		return nil // Docker does not answer
	}
	for id := range r.read {
		if !slices.ContainsFunc(found.attempts, func(c seenContainer) bool { return c.ID == id }) {
			delete(r.read, id)
		}
	}
	for i := range found.attempts {
		c := &found.attempts[i]
		p := r.read[c.ID]
		if p == nil {
			p = &logPosition{tail: -1}
			r.read[c.ID] = p
		}
		if p.done = p.done && (c != found.newest() || !c.State.Live()); !p.done {
			return c
		}
	}
	return nil
}

// awaitEvent returns once there is an event of a pod after a number, and the number of
// the last that was looked at; also after some time, and when ctx is done.
func (kl *Kubelet) awaitEvent(ctx context.Context, podFullName string, seq uint64, limit time.Duration) uint64 {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		newer, more := kl.events.after(seq)
		ours := false
		for _, e := range newer {
			seq, ours = e.Seq, ours || e.Pod == podFullName
		}
		if ours {
			return seq
		}
		select {
		case <-more:
		case <-timer.C:
			return seq
		case <-ctx.Done():
			return seq
		}
	}
}

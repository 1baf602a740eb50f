package kubelet

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// ContainerLogs writes what the newest attempt of a container has printed, or the one
// before it; each Write is one line. The error is api.ErrNotFound when there is no such
// attempt.
//
// When the log is to be followed it goes on with what comes: first it waits for a
// container that has not been created yet, and after its end for the next attempt, of
// which it writes all. It returns nil once ctx is done, the pod is gone, or the
// container has run for the last time. Docker may go away meanwhile and come back.
func (kl *Kubelet) ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error {
	found, err := kl.findContainer(podFullName, container)
	if err != nil {
		return err
	}
	attempts := found.attempts
	switch {
	case opts.Previous && len(attempts) < 2:
		return notFound("Docker has no attempt of container %q of pod %s before the newest: it has not been started again, or what is left of it was removed", container, podFullName)
	case opts.Previous:
		attempts, opts.Follow = attempts[:len(attempts)-1], false
	case len(attempts) == 0 && !opts.Follow:
		return notCreatedYet(podFullName, container)
	}
	r := &logReader{docker: kl.docker, opts: opts, out: out, read: map[string]*logPosition{}}
	for i := range attempts {
		// Those before the last are none of the caller's business.
		r.read[attempts[i].ID] = &logPosition{tail: opts.Tail, done: i < len(attempts)-1}
	}
	if opts.Follow {
		return kl.followLogs(ctx, podFullName, container, r)
	}
	err = r.readAttempt(ctx, &attempts[len(attempts)-1])
	if errors.Is(err, dockertools.ErrNoSuchContainer) {
		return notFound("container %q of pod %s was removed while its log was read", container, podFullName)
	}
	return err
}

// followLogs reads one attempt after the other until there will be no more. An attempt is
// done with once its log was read to the end by a reading that began after the attempt
// had ended: Docker may end one that is followed before it has given all.
func (kl *Kubelet) followLogs(ctx context.Context, podFullName, container string, r *logReader) error {
	for ctx.Err() == nil {
		found, err := kl.findContainer(podFullName, container)
		if errors.Is(err, api.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if c := r.next(found); c != nil {
			err := r.readAttempt(ctx, c)
			switch {
			case ctx.Err() != nil:
				return nil
			case r.writeErr != nil || errors.Is(err, dockertools.ErrLogNotKept):
				return err
			case err == nil && c.dead() || errors.Is(err, dockertools.ErrNoSuchContainer):
				r.read[c.ID].done = true
				continue
			case err != nil:
				glog.V(2).Infof("pod %s: container %q: follow its log: %v", podFullName, container, err)
			}
		} else if found.overForGood() {
			return nil
		}
		select {
		case <-found.newer:
		case <-ctx.Done():
		}
	}
	return nil
}

// logReader reads the log of one container, attempt by attempt.
type logReader struct {
	docker   dockertools.Interface
	opts     api.LogOptions
	out      io.Writer
	writeErr error                   // the reader of the log takes no more
	read     map[string]*logPosition // by container id
}

// logPosition is how far the log of an attempt was read. Docker counts no lines, so it is
// a time, and a line of that time may have been written already.
type logPosition struct {
	tail int       // so many lines of those that were there before; -1: all
	last time.Time // the latest of the lines that were written; zero: none was
	same int       // how many of that time were written
	done bool      // it was read to its end, after the attempt had ended
}

// next is the oldest attempt with something to read, or nil. One that was done with and
// runs again was started by somebody else.
func (r *logReader) next(found *foundContainer) *seenContainer {
	for i := range found.attempts {
		c := &found.attempts[i]
		if r.read[c.ID] == nil {
			r.read[c.ID] = &logPosition{tail: -1}
		}
		p := r.read[c.ID]
		if p.done = p.done && (c != found.newest() || !c.State.Live()); !p.done {
			return c
		}
	}
	return nil
}

// readAttempt writes what was not written yet of the log of an attempt, and what comes
// until it ends.
func (r *logReader) readAttempt(ctx context.Context, c *seenContainer) error {
	p := r.read[c.ID]
	opts := dockertools.LogOptions{Since: p.last, Tail: p.tail, Follow: r.opts.Follow, Stdout: r.opts.Stdout, Stderr: r.opts.Stderr}
	if !p.last.IsZero() {
		opts.Tail = -1
	}
	began, known := time.Now(), p.same
	err := r.docker.Logs(ctx, c.ID, opts, func(line dockertools.LogLine) error {
		switch {
		case known > 0 && line.Time.Equal(p.last):
			known--
			return nil
		case line.Time.After(p.last):
			p.last, p.same = line.Time, 1
		case line.Time.Equal(p.last):
			p.same++
		}
		text := line.Text
		if r.opts.Timestamps {
			text = append(line.Time.UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000000Z "), text...)
		}
		_, r.writeErr = r.out.Write(text)
		return r.writeErr
	})
	switch {
	case !p.last.IsZero():
	case p.tail == 0: // what was there before is left out, and nothing else
		p.last = began
	case err == nil: // there was nothing to leave out
		p.tail = -1
	}
	return err
}

// RunInContainer runs a command, without a shell, in the container of a pod that is
// wanted or being removed, writes to out what it prints, and returns its exit code.
func (kl *Kubelet) RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error) {
	_, c, err := kl.findRunning(podFullName, container)
	if err != nil {
		return 0, err
	}
	exitCode, err = kl.docker.Exec(ctx, c.ID, command, out)
	return exitCode, endedMeanwhile(err, podFullName, container)
}

// ContainerStats measures a container that runs, of a pod that is wanted or being removed.
func (kl *Kubelet) ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	found, c, err := kl.findRunning(podFullName, container)
	if err != nil {
		return api.ContainerStats{}, err
	}
	measured, err := kl.docker.Stats(ctx, c.ID)
	if err != nil {
		return api.ContainerStats{}, endedMeanwhile(err, podFullName, container)
	}
	stats := api.ContainerStats{
		Time: measured.Time, CPU: measured.CPU, Memory: measured.Memory, Network: measured.Network,
		Created: c.Created, Image: c.Image, ID: c.ID,
	}
	if found.want != nil && found.want.spec != nil {
		stats.MemoryLimit, stats.CPUShares = found.want.spec.Memory, cpuShares(found.want.spec.CPU)
	}
	return stats, nil
}

func endedMeanwhile(err error, podFullName, container string) error {
	if errors.Is(err, dockertools.ErrNoSuchContainer) || errors.Is(err, dockertools.ErrNotRunning) {
		return notFound("container %q of pod %s has just ended", container, podFullName)
	}
	return err
}

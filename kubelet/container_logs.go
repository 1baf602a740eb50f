package kubelet

import (
	"context"
	"errors"
	"io"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// ContainerLogs writes what the newest attempt of a container has printed, or the one
// before it; each Write is one line. The error is api.ErrNotFound when there is no such
// attempt. The container's pod is wanted or being removed.
//
// When the log is to be followed it goes on with what comes: first it waits for a
// container that has not been created yet, and after its end for the next attempt, of
// which it writes all. It returns nil once ctx is done, the pod is gone, or the
// container has run for the last time. Docker may go away meanwhile and come back.
//
// It may be called at any time by any goroutine, and takes as long as out does.
func (kl *Kubelet) ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error {
	found, err := kl.findContainer(ctx, podFullName, container)
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
	r := &logReader{kl: kl, pod: podFullName, container: container, opts: opts, out: out, read: map[string]*logPosition{}}
	for i := range attempts {
		// Those before the last are none of the caller's business.
		r.read[attempts[i].ID] = &logPosition{tail: opts.Tail, done: i < len(attempts)-1}
	}
	if opts.Follow {
		err = r.follow(ctx, found)
	} else {
		err = r.readAttempt(ctx, &attempts[len(attempts)-1])
	}
	if errors.Is(err, dockertools.ErrNoSuchContainer) {
		err = notFound("container %q of pod %s was removed while its log was read", container, podFullName)
	}
	return err
}

// logReader reads the log of one container, attempt by attempt.
type logReader struct {
	kl             *Kubelet
	pod, container string
	opts           api.LogOptions
	out            io.Writer
	read           map[string]*logPosition // by container id
}

// logPosition is how far the log of an attempt was read. Docker counts no lines, so it
// is a time, and a line of that time may have been written already.
type logPosition struct {
	tail int       // so many lines of those that were there before; -1: all
	last time.Time // the latest of the lines that were written; zero: none was
	same int       // how many of that time were written
	done bool      // it was read to its end, after the attempt had ended
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
	err := r.kl.docker.Logs(ctx, c.ID, opts, func(line dockertools.LogLine) error {
		if known > 0 && line.Time.Equal(p.last) {
			known--
			return nil
		}
		p.note(line.Time)
		text := line.Text
		if r.opts.Timestamps {
			text = append(line.Time.UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000000Z "), text...)
		}
		if _, err := r.out.Write(text); err != nil {
			return &writeError{err}
		}
		return nil
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

// note counts a line that is written. The two streams of a container are stamped side
// by side, so a line may be a little older than the one before it.
func (p *logPosition) note(at time.Time) {
	switch {
	case at.After(p.last):
		p.last, p.same = at, 1
	case at.Equal(p.last):
		p.same++
	}
}

// writeError says that the reader of a log takes no more.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// Package logs reads what a container has printed, attempt after attempt, and runs commands in it and measures it.
// All three begin with the container as the last sync saw it.
package logs

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// Reader reads the logs of a kubelet's containers. Its methods may be called concurrently.
type Reader struct {
	Docker dockertools.Interface
	// Snapshot returns the last snapshot, or an error before the first sync.
	Snapshot func() (*status.Snapshot, error)
}

// Read writes the log of the newest attempt of a container, or of the attempt before
// it, one line with each Write. The error wraps api.ErrNotFound if there is no such attempt.
//
// With Follow it continues with what comes: it waits for a container that is not created yet, and after the end of an
// attempt it writes the log of the next one. It returns nil when ctx is done, when the pod is gone and when the
// container is done. Docker may be restarted meanwhile; each line is written once.
func (r *Reader) Read(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error {
	found, err := r.find(podFullName, container)
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
	t := &tail{docker: r.Docker, opts: opts, out: out, read: map[string]*position{}}
	for i := range attempts {
		t.read[attempts[i].ID] = &position{tail: opts.Tail, done: i < len(attempts)-1}
	}
	if opts.Follow {
		return r.follow(ctx, podFullName, container, t)
	}
	err = t.readAttempt(ctx, &attempts[len(attempts)-1])
	if errors.Is(err, dockertools.ErrNoSuchContainer) {
		return notFound("container %q of pod %s was removed while its log was read", container, podFullName)
	}
	return err
}

// follow reads one attempt after the other. An attempt is done when its log was read to
// the end after the attempt had ended: Docker may end a log that is followed too early.
func (r *Reader) follow(ctx context.Context, podFullName, container string, t *tail) error {
	for ctx.Err() == nil {
		found, err := r.find(podFullName, container)
		if errors.Is(err, api.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if c := t.next(found); c != nil {
			err := t.readAttempt(ctx, c)
			switch {
			case ctx.Err() != nil:
				return nil
			case t.writeErr != nil || errors.Is(err, dockertools.ErrLogNotKept):
				return err
			case err == nil && c.Terminated() || errors.Is(err, dockertools.ErrNoSuchContainer):
				t.read[c.ID].done = true
				continue
			case err != nil:
				glog.V(2).Infof("pod %s: container %q: follow its log: %v", podFullName, container, err)
			}
		} else if found.done() {
			return nil
		}
		select {
		case <-found.newer:
		case <-ctx.Done():
		}
	}
	return nil
}

// tail reads the log of one container, attempt by attempt.
type tail struct {
	docker   dockertools.Interface
	opts     api.LogOptions
	out      io.Writer
	writeErr error                // of the last Write
	read     map[string]*position // by container id
}

// position is how far the log of an attempt was read. Docker does not count lines, so it
// is a time, and the number of lines of that time.
type position struct {
	tail int       // lines to write of those that are there at the beginning; -1: all
	last time.Time // of the last line that was written; zero: none
	same int       // lines of that time that were written
	done bool      // it was read to the end after the attempt had ended
}

// next returns the oldest attempt with something to read, or nil. An attempt that is done
// and runs again was started by somebody else.
func (t *tail) next(found *found) *plan.Observed {
	for i := range found.attempts {
		c := &found.attempts[i]
		if t.read[c.ID] == nil {
			t.read[c.ID] = &position{tail: -1}
		}
		p := t.read[c.ID]
		p.done = p.done && (c != found.newest() || !c.State.Live())
		if !p.done {
			return c
		}
	}
	return nil
}

// readAttempt writes what was not written yet of the log of an attempt and, with Follow, what comes until it ends.
func (t *tail) readAttempt(ctx context.Context, c *plan.Observed) error {
	p := t.read[c.ID]
	opts := dockertools.LogOptions{Since: t.opts.Since, Tail: p.tail, Follow: t.opts.Follow, Stdout: t.opts.Stdout, Stderr: t.opts.Stderr}
	if !p.last.IsZero() {
		opts.Since, opts.Tail = p.last, -1
	}
	began, written := time.Now(), p.same
	err := t.docker.Logs(ctx, c.ID, opts, func(line dockertools.LogLine) error {
		switch {
		case written > 0 && line.Time.Equal(p.last):
			written--
			return nil
		case line.Time.After(p.last):
			p.last, p.same = line.Time, 1
		case line.Time.Equal(p.last):
			p.same++
		}
		text := line.Text
		if t.opts.Timestamps {
			text = append(line.Time.UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000000Z "), text...)
		}
		_, t.writeErr = t.out.Write(text)
		return t.writeErr
	})
	switch {
	case !p.last.IsZero():
	case p.tail == 0: // the lines before are left out, and no others
		p.last = began
	case err == nil: // there were no lines to leave out
		p.tail = -1
	}
	return err
}

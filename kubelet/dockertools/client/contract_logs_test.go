package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

var wholeLog = dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true}

func noLine(dockertools.LogLine) error { return nil }

// log is what a log holds, without its times.
func (d *contractDocker) log(t *testing.T, id string, opts dockertools.LogOptions) string {
	t.Helper()
	var text strings.Builder
	if err := d.Logs(t.Context(), id, opts, func(line dockertools.LogLine) error {
		text.Write(line.Text)
		return nil
	}); err != nil {
		t.Errorf("read the log: %v", err)
	}
	return text.String()
}

// serving runs a program that prints one line on stdout now, and one on stderr when
// it is stopped.
func (d *contractDocker) serving(t *testing.T, name string) (id string) {
	t.Helper()
	id = d.create(t, d.spec(t, name, "serve", "-port", "8080"))
	d.start(t, id)
	eventually(t, "the server has said something", func() (bool, string) {
		text := d.log(t, id, wholeLog)
		return text != "", text
	})
	return id
}

const (
	servingLine = "serving on [::]:8080\n"
	stopLine    = "hello: asked to stop: terminated\n"
)

func (d *contractDocker) stop(t *testing.T, id string) {
	t.Helper()
	if err := d.StopContainer(t.Context(), id, time.Hour); err != nil {
		t.Fatal(err)
	}
}

func testLogs(t *testing.T, d *contractDocker) {
	check := func(id string, tail int, want string) {
		t.Helper()
		if got := d.log(t, id, dockertools.LogOptions{Tail: tail, Stdout: true, Stderr: true}); got != want {
			t.Errorf("the last %d lines are %q; want %q", tail, got, want)
		}
	}

	// It has never run.
	id := d.create(t, d.spec(t, "c", "flood", "-lines", "3"))
	check(id, -1, "")

	// It has ended.
	d.start(t, id)
	d.ended(t, id)
	check(id, -1, flood("3"))
	check(id, 10, flood("3"))
	check(id, 3, flood("3"))
	check(id, 1, strings.TrimPrefix(flood("3"), flood("2")))
	check(id, 0, "")

	// It has run twice.
	d.start(t, id)
	d.ended(t, id)
	check(id, 10, flood("3")+flood("3"))
}

func testLogStreams(t *testing.T, d *contractDocker) {
	id := d.serving(t, "c")
	d.stop(t, id)
	for _, c := range []struct {
		stdout, stderr bool
		want           string
	}{{true, true, servingLine + stopLine}, {true, false, servingLine}, {false, true, stopLine}} {
		opts := dockertools.LogOptions{Tail: -1, Stdout: c.stdout, Stderr: c.stderr}
		if got := d.log(t, id, opts); got != c.want {
			t.Errorf("with %+v the log is %q, want %q", opts, got, c.want)
		}
		err := d.Logs(t.Context(), id, opts, func(line dockertools.LogLine) error {
			if line.Stderr != (string(line.Text) == stopLine) {
				t.Errorf("%q is said to be on stderr: %v", line.Text, line.Stderr)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if err := d.Logs(t.Context(), id, dockertools.LogOptions{Tail: -1}, noLine); err == nil {
		t.Error("no stream at all is no error")
	}
}

func testLogSince(t *testing.T, d *contractDocker) {
	before := time.Now()
	id := d.serving(t, "c")
	time.Sleep(time.Millisecond) // so that the two lines have two times
	d.stop(t, id)
	var times []time.Time
	if err := d.Logs(t.Context(), id, wholeLog, func(line dockertools.LogLine) error {
		times = append(times, line.Time)
		return nil
	}); err != nil || len(times) != 2 {
		t.Fatalf("%d lines, %v, want 2", len(times), err)
	}
	if times[0].Before(before) || !times[1].After(times[0]) || times[1].After(time.Now()) {
		t.Errorf("the lines are of %v; they were printed after %v", times, before)
	}
	for i, want := range []string{servingLine + stopLine, stopLine} {
		opts := wholeLog
		opts.Since = times[i]
		if got := d.log(t, id, opts); got != want {
			t.Errorf("from the time of line %d on the log is %q, want %q", i+1, got, want)
		}
	}
	opts := wholeLog
	opts.Since = times[1].Add(time.Nanosecond)
	if got := d.log(t, id, opts); got != "" {
		t.Errorf("after the last line there is %q", got)
	}
}

// follower follows a log, from a goroutine of its own.
type follower struct {
	mu   sync.Mutex
	text string
	err  error
	over chan struct{}
}

func (d *contractDocker) follow(ctx context.Context, id string) *follower {
	f := &follower{over: make(chan struct{})}
	opts := wholeLog
	opts.Follow = true
	go func() {
		defer close(f.over)
		f.err = d.Logs(ctx, id, opts, func(line dockertools.LogLine) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.text += string(line.Text)
			return nil
		})
	}()
	return f
}

func (f *follower) awaits(t *testing.T, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the follower has %q", want), func() (bool, string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.text == want, f.text
	})
}

func testLogFollow(t *testing.T, d *contractDocker) {
	id := d.serving(t, "c")
	for run, want := range []string{servingLine, servingLine + stopLine + servingLine} {
		f := d.follow(t.Context(), id)
		f.awaits(t, want)
		select {
		case <-f.over:
			t.Errorf("run %d: it is over while the container runs: %v", run, f.err)
		default:
		}
		d.stop(t, id)
		<-f.over
		f.awaits(t, want+stopLine)
		if f.err != nil {
			t.Errorf("run %d: it ended with %v when the container did, want no error", run, f.err)
		}
		d.start(t, id)
		want += stopLine + servingLine
		eventually(t, "it serves again", func() (bool, string) {
			text := d.log(t, id, wholeLog)
			return text == want, text
		})
	}
}

func testLogFollowNothing(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "flood", "-lines", "3"))
	for _, want := range []string{"", flood("3")} { // created, ended
		f := d.follow(t.Context(), id)
		<-f.over
		f.awaits(t, want)
		if f.err != nil {
			t.Error(f.err)
		}
		d.start(t, id)
		d.ended(t, id)
	}
}

func testLogFollowRemoval(t *testing.T, d *contractDocker) {
	id := d.serving(t, "c")
	f := d.follow(t.Context(), id)
	f.awaits(t, servingLine)
	if err := d.RemoveContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	<-f.over
	if f.err != nil {
		t.Errorf("it ended with %v, want no error", f.err)
	}
}

func testLogCallerGoesAway(t *testing.T, d *contractDocker) {
	id := d.serving(t, "c")
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	f := d.follow(ctx, id)
	f.awaits(t, servingLine)
	cancel(gone)
	<-f.over
	if !errors.Is(f.err, gone) {
		t.Errorf("it ended with %v, want the cause of the context's end", f.err)
	}
	d.checkState(t, id, dockertools.StateRunning, 0)
}

func testLogEnough(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "flood", "-lines", "3"))
	d.start(t, id)
	d.ended(t, id)
	enough := errors.New("enough")
	lines := 0
	err := d.Logs(t.Context(), id, wholeLog, func(dockertools.LogLine) error {
		lines++
		return enough
	})
	if err != enough || lines != 1 {
		t.Errorf("after %d lines: %v, want the caller's own error after the first", lines, err)
	}
}

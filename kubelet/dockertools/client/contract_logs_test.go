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
	must(t, d.StopContainer(t.Context(), id, time.Hour))
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

func testLogSelection(t *testing.T, d *contractDocker) {
	before := time.Now()
	id := d.serving(t, "c")
	time.Sleep(time.Millisecond) // so that the two lines have two times
	d.stop(t, id)
	var lines []dockertools.LogLine
	if err := d.Logs(t.Context(), id, wholeLog, func(line dockertools.LogLine) error {
		lines = append(lines, line)
		return nil
	}); err != nil || len(lines) != 2 || lines[0].Stderr || !lines[1].Stderr {
		t.Fatalf("%+v, %v, want one line of each stream", lines, err)
	}
	first, second := lines[0].Time, lines[1].Time
	if first.Before(before) || !second.After(first) || second.After(time.Now()) {
		t.Errorf("the lines are of %v and %v, and were printed after %v", first, second, before)
	}
	for want, opts := range map[string]dockertools.LogOptions{
		servingLine:            {Tail: -1, Stdout: true},
		stopLine:               {Tail: -1, Stderr: true},
		servingLine + stopLine: {Tail: -1, Stdout: true, Stderr: true, Since: first},
		"":                     {Tail: -1, Stdout: true, Stderr: true, Since: second.Add(time.Nanosecond)},
	} {
		if got := d.log(t, id, opts); got != want {
			t.Errorf("with %+v the log is %q, want %q", opts, got, want)
		}
	}
	if got := d.log(t, id, dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: second}); got != stopLine {
		t.Errorf("from the time of the second line on the log is %q", got)
	}
	if err := d.Logs(t.Context(), id, dockertools.LogOptions{Tail: -1}, noLine); err == nil {
		t.Error("no stream at all is no error")
	}
	enough := errors.New("enough")
	if err := d.Logs(t.Context(), id, wholeLog, func(dockertools.LogLine) error { return enough }); err != enough {
		t.Errorf("got %v, want the caller's own error", err)
	}
}

func testLogFollowEnds(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "flood", "-lines", "3"))
	for _, want := range []string{"", flood("3")} { // created, ended: no line is to come
		f := d.follow(t.Context(), id)
		<-f.over
		f.awaits(t, want)
		if f.err != nil {
			t.Error(f.err)
		}
		d.start(t, id)
		d.ended(t, id)
	}
	gone := errors.New("gone")
	for _, want := range []error{gone, nil} {
		ctx, cancel := context.WithCancelCause(t.Context())
		id := d.serving(t, fmt.Sprint("serving", want == nil))
		f := d.follow(ctx, id)
		f.awaits(t, servingLine)
		if want == nil {
			d.RemoveContainer(t.Context(), id)
		} else {
			cancel(want)
		}
		<-f.over
		if !errors.Is(f.err, want) {
			t.Errorf("it ended with %v, want %v", f.err, want)
		}
		cancel(nil)
	}
}

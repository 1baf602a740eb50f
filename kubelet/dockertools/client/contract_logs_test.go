package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

var wholeLog = dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true}

func noLine(dockertools.LogLine) error { return nil }

// log is what a log holds, as lines and as the text of all.
func (d *contractDocker) log(t *testing.T, id string, opts dockertools.LogOptions) (lines []dockertools.LogLine, text string) {
	t.Helper()
	must(t, d.Logs(t.Context(), id, opts, func(line dockertools.LogLine) error {
		lines = append(lines, line)
		text += string(line.Text)
		return nil
	}))
	return lines, text
}

// serving runs a program that prints one line on stdout now, and one on stderr when
// it is stopped.
func (d *contractDocker) serving(t *testing.T, name string) (id string) {
	t.Helper()
	id = d.create(t, d.spec(t, name, "serve", "-port", "8080"))
	d.start(t, id)
	d.awaitLog(t, id, servingLine)
	return id
}

func (d *contractDocker) awaitLog(t *testing.T, id, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the log is %q", want), func() (bool, string) {
		_, text := d.log(t, id, wholeLog)
		return text == want, text
	})
}

const (
	servingLine = "serving on [::]:8080\n"
	stopLine    = "hello: asked to stop: terminated\n"
)

func (d *contractDocker) stop(t *testing.T, id string) {
	t.Helper()
	must(t, d.StopContainer(t.Context(), id, time.Hour))
}

// follower follows a log, from a goroutine of its own.
type follower struct {
	lines chan string // closed at its end
	err   error       // of its end
}

func (d *contractDocker) follow(ctx context.Context, id string) *follower {
	f := &follower{lines: make(chan string, 100)}
	opts := wholeLog
	opts.Follow = true
	go func() {
		defer close(f.lines)
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		f.err = d.Logs(ctx, id, opts, func(line dockertools.LogLine) error {
			f.lines <- string(line.Text)
			return nil
		})
	}()
	return f
}

// reads checks what is printed next.
func (f *follower) reads(t *testing.T, want string) {
	t.Helper()
	got := ""
	for range strings.Count(want, "\n") {
		got += <-f.lines
	}
	if got != want {
		t.Errorf("the follower has %q, want %q", got, want)
	}
}

// ends checks that no more is printed, and how the following ends.
func (f *follower) ends(t *testing.T, want error) {
	t.Helper()
	if line, more := <-f.lines; more || !errors.Is(f.err, want) {
		t.Errorf("at its end the follower has %q, %v; want %v", line, f.err, want)
	}
}

func testLogFollow(t *testing.T, d *contractDocker) {
	id := d.serving(t, "c")
	for _, want := range []string{servingLine, servingLine + stopLine + servingLine} {
		f := d.follow(t.Context(), id)
		f.reads(t, want)
		select {
		case line := <-f.lines:
			t.Errorf("it ends, or has %q, while the container runs: %v", line, f.err)
		default:
		}
		d.stop(t, id)
		f.reads(t, stopLine)
		f.ends(t, nil)
		d.start(t, id)
		d.awaitLog(t, id, want+stopLine+servingLine)
	}
}

func testLogs(t *testing.T, d *contractDocker) {
	before := time.Now()
	if _, text := d.log(t, d.create(t, d.spec(t, "created", "flood", "-lines", "3")), wholeLog); text != "" {
		t.Errorf("what has never run has the log %q", text)
	}
	id := d.serving(t, "c")
	time.Sleep(time.Millisecond) // so that the two lines have two times
	d.stop(t, id)
	lines, both := d.log(t, id, wholeLog)
	if len(lines) != 2 || lines[0].Stderr || !lines[1].Stderr || both != servingLine+stopLine {
		t.Fatalf("%+v, want one line of each stream", lines)
	}
	first, second := lines[0].Time, lines[1].Time
	if first.Before(before) || !second.After(first) || second.After(time.Now()) {
		t.Errorf("the lines are of %v and %v, and were printed after %v", first, second, before)
	}
	for _, c := range []struct {
		opts dockertools.LogOptions
		want string
	}{
		{dockertools.LogOptions{Tail: -1, Stdout: true}, servingLine},
		{dockertools.LogOptions{Tail: -1, Stderr: true}, stopLine},
		{dockertools.LogOptions{Tail: 10, Stdout: true, Stderr: true}, both},
		{dockertools.LogOptions{Tail: 2, Stdout: true, Stderr: true}, both},
		{dockertools.LogOptions{Tail: 1, Stdout: true, Stderr: true}, stopLine},
		{dockertools.LogOptions{Tail: 0, Stdout: true, Stderr: true}, ""},
		{dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: first}, both},
		{dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: second}, stopLine},
		{dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: second.Add(time.Nanosecond)}, ""},
	} {
		if _, got := d.log(t, id, c.opts); got != c.want {
			t.Errorf("with %+v the log is %q, want %q", c.opts, got, c.want)
		}
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
		f.reads(t, want)
		f.ends(t, nil)
		d.start(t, id)
		d.ended(t, id)
	}
	gone := errors.New("gone")
	for _, want := range []error{gone, nil} {
		ctx, cancel := context.WithCancelCause(t.Context())
		id := d.serving(t, fmt.Sprint("serving", want == nil))
		f := d.follow(ctx, id)
		f.reads(t, servingLine)
		if want == nil {
			d.RemoveContainer(t.Context(), id)
		} else {
			cancel(want)
		}
		f.ends(t, want)
		cancel(nil)
	}
}

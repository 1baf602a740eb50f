package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

func testUnknownContainer(t *testing.T, d *contractDocker) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, call := range []string{"inspect", "exec", "stats", "start", "stop", "remove", "logs"} {
		if err := calls(d, id)[call](t.Context()); !errors.Is(err, dockertools.ErrNoSuchContainer) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v; want one that says which container there is not", call, err)
		}
	}
}

func testDoneContext(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "sleep"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls(d, id) {
		if err := call(ctx); errors.Is(err, context.Canceled) != (name != "events" && name != "pulls") {
			t.Errorf("%s: %v, want the context's error, and none of events", name, err)
		}
	}
	d.checkState(t, id, dockertools.StateCreated, 0)

	// If the caller gives up later, Docker still waits for the grace of the stop.
	id = d.running(t, d.spec(t, "running"), "-ignore-term")
	ctx, cancel = context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- d.StopContainer(ctx, id, 24*time.Hour) }()
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the stop: %v, want the context's error", err)
	}
	d.checkState(t, id, dockertools.StateRunning, 0)
}

// Whenever the caller of a start goes away, the container runs or was never started.
func testStartCallerStops(t *testing.T, d *contractDocker) {
	for i := range 10 {
		id := d.create(t, d.spec(t, fmt.Sprint("c", i), "sleep"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*15*time.Millisecond)
		if err := d.StartContainer(ctx, id); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the start: %v, want the context's error", err)
		}
		cancel()
		after := d.details(t, id)
		if after.State != dockertools.StateRunning && after.State != dockertools.StateCreated || after.Error != "" || after.ExitCode != 0 {
			t.Errorf("after a start that was cut off: %+v", after)
		}
		d.start(t, id)
		d.checkState(t, id, dockertools.StateRunning, 0)
	}
}

func testWatchPulls(t *testing.T, d *contractDocker) {
	r := d.registry(t)
	image, byDigest := r.Addr()+"/web:1", r.Push("web:1")
	ctx, cancel := context.WithCancel(t.Context())
	pulls, ended := make(chan string, 1000), make(chan error, 1)
	go func() { ended <- d.WatchPulls(ctx, func(image string) { pulls <- image }) }()
	saw := func(want string) {
		t.Helper()
		for got := range pulls { // the real Docker has pulls of other tests
			if got == want {
				return
			}
		}
	}
	saw("")
	for _, name := range []string{image, image, byDigest} { // the second time it is there
		d.pull(t, name)
		saw(name)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("its end: %v", err)
	}
}

func testEvents(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	spec.Labels["watched"] = "yes"
	id, other := d.create(t, spec), d.create(t, d.spec(t, "other", "sleep"))
	ctx, cancel := context.WithTimeout(t.Context(), unittest.Limit())
	defer cancel()
	hints := make(chan dockertools.Event, 1000)
	ended := make(chan error, 1)
	go func() {
		defer close(hints)
		ended <- d.WatchEvents(ctx, map[string]string{labelTest: d.run, "watched": ""}, func(e dockertools.Event) { hints <- e })
	}()
	next := func(what string, want dockertools.Event) {
		t.Helper()
		if got, ok := <-hints; got != want || !ok {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	next("the stream begins", dockertools.Event{})
	d.start(t, other) // it lacks the labels
	d.start(t, id)
	next("a start", dockertools.Event{ID: id})
	for _, policy := range []string{"always", "no"} {
		unittest.Must(t, d.hands.Update(id, policy))
		next("an update", dockertools.Event{ID: id})
		if got := d.details(t, id).RestartPolicy; got != strings.TrimPrefix(policy, "no") {
			t.Errorf("the restart policy is %q, want %s", got, policy)
		}
	}
	unittest.Must(t, d.hands.Pause(id))
	next("a pause", dockertools.Event{ID: id})
	unittest.Must(t, d.hands.Kill(id, 137))
	next("a death", dockertools.Event{ID: id})
	d.start(t, id)
	next("another start", dockertools.Event{ID: id})
	unittest.Must(t, d.StopContainer(ctx, id, 0))
	got := map[dockertools.Event]bool{<-hints: true, <-hints: true} // in any order
	if !got[dockertools.Event{ID: id}] || !got[dockertools.Event{ID: id, Signalled: true}] {
		t.Fatalf("a stop: %v, want a signal and a death", got)
	}
	unittest.Must(t, d.RemoveContainer(t.Context(), id))
	next("a removal", dockertools.Event{ID: id})
	cancel()
	unittest.Must(t, <-ended)
}

// Fifty creations under one name: one succeeds.
func testManyCallers(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	var creations, starts errgroup.Group
	ids := make(chan string, 50)
	for range cap(ids) {
		creations.Go(func() error {
			id, err := d.CreateContainer(t.Context(), spec)
			if err == nil {
				d.removeLater(t, id)
				ids <- id
			} else if errors.Is(err, dockertools.ErrNameTaken) {
				err = nil
			}
			return err
		})
	}
	unittest.Must(t, creations.Wait())
	if len(ids) != 1 {
		t.Fatalf("%d of fifty creations under one name succeeded, want 1", len(ids))
	}
	id := <-ids
	for range cap(ids) {
		starts.Go(func() error { return d.StartContainer(t.Context(), id) })
	}
	unittest.Must(t, starts.Wait())
}

func testExec(t *testing.T, d *contractDocker) {
	id := d.running(t, d.spec(t, "c"))
	for _, c := range []struct {
		name    string
		command []string
		code    int
		output  string
	}{
		{"it succeeds", []string{"/hello", "exit", "0"}, 0, ""},
		{"its exit code", []string{"/hello", "exit", "3"}, 3, ""},
		{"its output", []string{"/hello", "flood", "-lines", "1000"}, 0, flood("1000")},
		{"its error output", []string{"/hello", "cat", "/no such file"}, 1, "hello cat: open /no such file: no such file or directory\n"},
	} {
		var out bytes.Buffer
		code, err := d.Exec(t.Context(), id, c.command, &out)
		if err != nil || code != c.code || out.String() != c.output {
			t.Errorf("%s: exit code %d, %v, want %d, and it printed %q, want %q", c.name, code, err, c.code, out.String(), c.output)
		}
	}

	// A command that does not exist fails, and Docker says why.
	var out bytes.Buffer
	code, err := d.Exec(t.Context(), id, []string{"/no/such/command"}, &out)
	if err != nil || code == 0 || !strings.Contains(out.String(), "/no/such/command") {
		t.Errorf("a command that does not exist: exit code %d, %v, and as its output %q", code, err, out.String())
	}
	d.checkState(t, id, dockertools.StateRunning, 0)
}

// testExecWith gives commands an input, keeps their outputs apart, and runs one in a terminal that is resized.
func testExecWith(t *testing.T, d *contractDocker) {
	id := d.running(t, d.spec(t, "c"))
	long := flood("3000")
	var out, errs bytes.Buffer
	code, err := d.ExecWith(t.Context(), id, []string{"/hello", "repeat", "-exit", "7"}, api.Streams{Stdin: strings.NewReader(long), Stdout: &out, Stderr: &errs})
	if err != nil || code != 7 || out.String() != long || errs.Len() > 0 {
		t.Errorf("a command with an input: exit code %d, %v, and %d bytes of output, want %d; %q", code, err, out.Len(), len(long), errs.String())
	}
	out.Reset()
	code, err = d.ExecWith(t.Context(), id, []string{"/hello", "cat", "/no such file"}, api.Streams{Stdout: &out, Stderr: &errs})
	if err != nil || code != 1 || out.Len() > 0 || !strings.Contains(errs.String(), "no such file") {
		t.Errorf("outputs kept apart: exit code %d, %v, %q and %q", code, err, out.String(), errs.String())
	}

	typed, keys := io.Pipe()
	defer keys.Close()
	sizes := make(chan api.TerminalSize, 1)
	screen, shown := io.Pipe()
	sizes <- api.TerminalSize{Rows: 30, Columns: 90}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer shown.Close()
		defer typed.Close()
		ctx, cancel := context.WithTimeout(t.Context(), unittest.Limit())
		defer cancel()
		code, err = d.ExecWith(ctx, id, []string{"/hello", "repeat", "-exit", "5"},
			api.Streams{Stdin: typed, Stdout: shown, Stderr: io.Discard, Terminal: true, Resize: sizes})
	}()
	lines := bufio.NewScanner(screen)
	see := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.TrimSpace(lines.Text()) == want {
				return
			}
		}
		t.Errorf("the terminal did not show %q", want)
	}
	see("terminal of 30 rows and 90 columns")
	sizes <- api.TerminalSize{Rows: 40, Columns: 100}
	see("terminal of 40 rows and 100 columns")
	io.WriteString(keys, "hello\n")
	see("hello") // as it was typed
	see("hello")
	io.WriteString(keys, "\x04\n")
	for lines.Scan() {
	}
	if <-ended; err != nil || code != 5 {
		t.Errorf("a command in a terminal: exit code %d, %v", code, err)
	}
	stopped := d.create(t, d.spec(t, "stopped", "sleep"))
	if _, err := d.ExecWith(t.Context(), stopped, []string{"/hello", "repeat"}, api.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}); !errors.Is(err, dockertools.ErrNotRunning) {
		t.Errorf("in a container that does not run: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// execForEver runs a command in a container of its own. The command prints a line and does not end by itself; writing
// that line returns writeErr.
func (d *contractDocker) execForEver(t *testing.T, ctx context.Context, name string, writeErr error) (id string, outcome func() (int, error)) {
	t.Helper()
	id = d.running(t, d.spec(t, name))
	var code int
	var err error
	printed, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		code, err = d.Exec(ctx, id, []string{"/hello", "serve", "-port", "8080"}, writerFunc(func(p []byte) (int, error) {
			defer close(printed)
			n, err := d.hands.Commands(id)
			if err != nil || n != 1 {
				t.Errorf("%d commands run, %v; want 1", n, err)
			}
			return len(p), writeErr
		}))
	}()
	select {
	case <-printed:
	case <-ended:
	}
	return id, func() (int, error) {
		<-ended
		return code, err
	}
}

func testExecEnds(t *testing.T, d *contractDocker) {
	id, outcome := d.execForEver(t, t.Context(), "c", nil)
	unittest.Must(t, d.hands.Kill(id, 137))
	// When the first process of a container is killed, so are all others.
	if code, err := outcome(); code != 137 || err != nil {
		t.Errorf("the command ended with %d, %v", code, err)
	}
}

func testExecIsKilled(t *testing.T, d *contractDocker) {
	full := errors.New("full")
	for name, test := range map[string]struct{ writeErr, want error }{
		"caller": {nil, context.Canceled},
		"writer": {full, full},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		id, outcome := d.execForEver(t, ctx, name, test.writeErr)
		if test.writeErr == nil {
			cancel()
		}
		if _, err := outcome(); !errors.Is(err, test.want) || !hasBegun(err) {
			t.Errorf("%s: got %v, want %v; the error tells that the command has run: %v", name, err, test.want, hasBegun(err))
		}
		eventually(t, "the command is gone", func() (bool, string) {
			n, err := d.hands.Commands(id)
			return err == nil && n == 0, fmt.Sprintf("%d commands run, %v", n, err)
		})
		d.checkState(t, id, dockertools.StateRunning, 0)
		cancel()
	}
}

func testStats(t *testing.T, d *contractDocker) {
	before := time.Now()
	id := d.running(t, d.spec(t, "c"))
	var first api.ContainerStats
	eventually(t, "it has used and got something", func() (ok bool, seen string) {
		var err error
		first, err = d.Stats(t.Context(), id)
		return err == nil && first.CPU.Total > 0 && first.Network.RxBytes > 0 && first.Network.RxPackets > 0, fmt.Sprintf("%+v, %v", first, err)
	})
	if first.Time.Before(before) || first.Time.After(time.Now()) {
		t.Errorf("measured at %v", first.Time)
	}
	if m := first.Memory; m.WorkingSet == 0 || m.WorkingSet > m.Usage || m.Usage > 1<<30 {
		t.Errorf("memory %+v", m)
	}
	second, err := d.Stats(t.Context(), id)
	if err != nil || second.CPU.Total < first.CPU.Total || second.Network.RxBytes < first.Network.RxBytes {
		t.Errorf("%+v, and a moment later %+v, %v", first, second, err)
	}
}

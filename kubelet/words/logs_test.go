package words

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// shop has a pod with three containers, and one whose name two namespaces have. Each log repeats what was asked for.
func shop() *fakeKubelet {
	return &fakeKubelet{
		statuses: []api.PodStatus{up("web", "default", "file", "server", "cache", "x"), up("db", "one", "file", "main"), up("db", "two", "etcd", "main")},
		log: func(_ context.Context, of string, opts api.LogOptions, out io.Writer) error {
			_, err := fmt.Fprintf(out, "%s tail %d\nprevious %v", of, opts.Tail, opts.Previous)
			return err
		},
	}
}

func TestLogs(t *testing.T) {
	h := newHost(t)
	h.kubelet(shop())
	for line, want := range map[string]string{
		"logs db.one -tail 3":               "db.one.file main tail 3\nprevious false",
		"logs -p db.two.etcd --tail=3":      "db.two.etcd main tail 3\nprevious true",
		"logs -tail 0 -- db.one":            "db.one.file main tail 0\nprevious false",
		"logs -c cache web":                 "web.default.file cache tail -1\nprevious false",
		"logs web -c net":                   "web.default.file net tail -1\nprevious false",
		"logs web --tail 1 -root_dir=/gone": "",
		"logs web.default": `server | web.default.file server tail -1
server | previous false
cache  | web.default.file cache tail -1
cache  | previous false
x      | web.default.file x tail -1
x      | previous false
`,
	} {
		if want == "" {
			h.fails(line, 1, "no kubelet answers")
		} else if got := h.prints(line); got != want {
			t.Errorf("%q prints %q, want %q", line, got, want)
		}
	}
}

func TestWhatHasNoLog(t *testing.T) {
	h, k := newHost(t), shop()
	h.kubelet(k)
	h.fails("logs", 2, "logs: a POD is missing")
	h.fails("logs web db", 2, `logs: unexpected argument "db"`)
	h.fails("logs db", 1, "2 pods are named db: give a full name", "\n  db.one.file (/pods/db.yaml)\n  db.two.etcd (/pods/db.yaml)")
	h.fails("logs wep", 1, "there is no pod wep: did you mean web?")
	h.fails("logs db.oen", 1, "did you mean db.one?")
	h.fails("logs zzz", 1, "there is no pod zzz: kubelet14 ps lists the pods")
	h.fails("logs web -c servr", 1, `pod web.default.file has no container "servr": did you mean "server"?`)
	h.fails("logs web -since yesterday -c x", 1, `since="yesterday": it must be a duration, such as 5m`)
	h.fails("logs web -p -f -c x", 1, "previous=1 and follow=1 cannot be combined")
	k.log = func(_ context.Context, of string, _ api.LogOptions, out io.Writer) error {
		if of == "web.default.file cache" {
			return fmt.Errorf("container cache has not been created yet: %w", api.ErrNotFound)
		}
		_, err := io.WriteString(out, "a line\n")
		return errors.Join(err, errors.New("Docker is away"))
	}
	h.fails("logs web -c cache", 1, "kubelet14: container cache has not been created yet")
	stdout, stderr, code := h.run("logs web")
	if want := "kubelet14: Docker is away\ncontainer cache has not been created yet: not found\n"; stdout != "server | a line\nx      | a line\n" || stderr != want || code != 1 {
		t.Errorf("it prints %q and %q, and exits with %d", stdout, stderr, code)
	}
}

// A terminal gets no control sequences. Elsewhere a log is printed unchanged.
func TestALogIsSafeForATerminal(t *testing.T) {
	h, k := newHost(t), shop()
	long := strings.Repeat("x", 100<<10) + "\x1b]0;title\x07\n"
	k.log = func(_ context.Context, _ string, _ api.LogOptions, out io.Writer) error {
		_, err := io.WriteString(out, long)
		return err
	}
	h.kubelet(k)
	if got := h.prints("logs db.one"); got != long {
		t.Errorf("a file gets %d bytes, want %d", len(got), len(long))
	}
	h.terminal = true
	if got := h.prints("logs db.one"); got != api.Printable(long) {
		t.Errorf("a terminal gets %q", got[len(got)-20:])
	}
}

// Lines of logs that are followed arrive as they are written. The end of the kubelet is an error, and the end of the
// pod is not.
func TestLogsThatAreFollowed(t *testing.T) {
	for _, stops := range []bool{true, false} {
		h, k := newHost(t), shop()
		var writing sync.WaitGroup
		writing.Add(3)
		over := make(chan struct{})
		k.log = func(ctx context.Context, _ string, opts api.LogOptions, out io.Writer) error {
			if !opts.Follow {
				t.Error("the log is not followed")
			}
			fmt.Fprintln(out, "first")
			writing.Done()
			writing.Wait()
			fmt.Fprintln(out, "second")
			select {
			case <-over:
			case <-ctx.Done():
			}
			return nil
		}
		h.kubelet(k)
		out := &signalWriter{lines: 6, written: make(chan struct{})}
		p := Program{Out: out, Proc: h.proc}
		var stderr strings.Builder
		p.Err = &stderr
		ended := make(chan int)
		go func() {
			code, _ := p.Run(t.Context(), []string{"logs", "web", "-f"})
			ended <- code
		}()
		unittest.Receive(t, out.written, "there are not six lines")
		want := 0
		if stops {
			h.end()
			want = 1
		} else {
			close(over)
		}
		if code := unittest.Receive(t, ended, "the word goes on"); code != want || (strings.Count(stderr.String(), "the kubelet has ended") == 1) != stops {
			t.Errorf("it ends with %d, want %d, and %q", code, want, stderr.String())
		}
	}
}

// signalWriter closes a channel after a number of lines.
type signalWriter struct {
	lines   int
	written chan struct{}
}

func (w *signalWriter) Write(p []byte) (int, error) {
	if w.lines--; w.lines == 0 {
		close(w.written)
	}
	return len(p), nil
}

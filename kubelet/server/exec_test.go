package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/frames"
)

// executing is a kubelet whose commands do this.
func executing(exec func(ctx context.Context, asked string, s api.Streams) (int, error)) *fakeKubelet {
	k := withContainers()
	k.exec = exec
	return k
}

// upgrade runs a command in web with kubelet14's own client.
func (s *testServer) upgrade(t *testing.T, query url.Values) (*frames.Conn, io.Closer) {
	t.Helper()
	address, port := s.opts.Address, 0
	if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
		port = at.Port
	}
	c := newClient(t, address, port, s.opts.TLS, writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600))
	conn, err := c.Upgrade(t.Context(), "/exec/web/app", query, frames.Protocol)
	unittest.Must(t, err)
	t.Cleanup(func() { conn.Close() })
	return frames.NewConn(conn, conn), conn
}

func next(t *testing.T, conn *frames.Conn, kind frames.Kind, text string) {
	t.Helper()
	got, gotText, err := conn.Receive()
	if err != nil || got != kind || string(gotText) != text {
		t.Fatalf("a frame of kind %d with %q, %v; want kind %d with %q", got, gotText, err, kind, text)
	}
}

// A command has its words, an input, a terminal that is resized and two outputs, on each kind of server.
func TestExec(t *testing.T) {
	for name, options := range map[string]func(*Options){"TCP": func(*Options) {}, "TLS": withTLS(t), "socket": onSocket(t)} {
		k := executing(func(ctx context.Context, asked string, s api.Streams) (int, error) {
			size := <-s.Resize
			fmt.Fprintf(s.Stdout, "%s %v %d x %d", asked, s.Terminal, size.Rows, size.Columns)
			in, err := io.ReadAll(s.Stdin)
			s.Stderr.Write(in)
			return 7, err
		})
		s := serve(t, k, options)
		conn, _ := s.upgrade(t, url.Values{"cmd": {"sh", "-c", "a b"}, "stdin": {"1"}, "tty": {"1"}})
		unittest.Must(t, conn.Send(frames.Resize, frames.Size(api.TerminalSize{Rows: 30, Columns: 400})))
		next(t, conn, frames.Stdout, `web.default.file app ["sh" "-c" "a b"] true 30 x 400`)
		for range 3 {
			unittest.Must(t, conn.Send(frames.Stdin, []byte("some ")))
			next(t, conn, frames.Read, "")
		}
		unittest.Must(t, conn.Send(frames.Stdin, nil))
		next(t, conn, frames.Stderr, "some some some ")
		next(t, conn, frames.Exit, "7")
		if _, _, err := conn.Receive(); err != io.EOF {
			t.Errorf("%s: after the end: %v", name, err)
		}
	}
}

func TestExecThatFails(t *testing.T) {
	s := serve(t, executing(func(_ context.Context, _ string, s api.Streams) (int, error) {
		if s.Stdin != nil {
			t.Error("it has an input")
		}
		return 0, errors.New("Docker has\ngone away")
	}))
	conn, _ := s.upgrade(t, url.Values{"cmd": {"id"}})
	next(t, conn, frames.Failed, "Docker has; gone away")
	upgrade := with("Connection", "Upgrade", "Upgrade", frames.Protocol)
	for request, want := range map[string]int{
		"POST /exec/web/app?cmd=id&tty=x": 400, "POST /exec/web/app": 400, "POST /exec/web/no?cmd=id": 404, "POST /exec/twin/app?cmd=id": 409,
		"GET /exec/web/app?cmd=id": 405,
	} {
		if got := s.ask(t, request, withToken, upgrade); got.status != want {
			t.Errorf("%s: it answers %d %s", request, got.status, got.body)
		}
	}
	if got := s.ask(t, "POST /exec/web/app?cmd=id", withToken); got.status != http.StatusUpgradeRequired || got.header.Get("Upgrade") != frames.Protocol {
		t.Errorf("without an upgrade: %d %s", got.status, got.body)
	}
}

// The command ends when its client goes or sends what it must not, also while nobody reads its input, and with the kubelet.
func TestACommandEndsWithItsClient(t *testing.T) {
	for name, leave := range map[string]func(conn *frames.Conn, raw io.Closer){
		"it closes":       func(_ *frames.Conn, raw io.Closer) { raw.Close() },
		"it sends a size": func(conn *frames.Conn, _ io.Closer) { conn.Send(frames.Resize, []byte("big")) },
		"it sends output": func(conn *frames.Conn, _ io.Closer) { conn.Send(frames.Stdout, nil) },
		"it does not wait": func(conn *frames.Conn, _ io.Closer) {
			conn.Send(frames.Stdin, []byte("more"))
			conn.Send(frames.Stdin, []byte("and more"))
		},
		"it sends a large frame": func(conn *frames.Conn, _ io.Closer) { conn.Send(frames.Stdin, make([]byte, 1<<20)) },
	} {
		ended := make(chan error)
		s := serve(t, executing(func(ctx context.Context, _ string, s api.Streams) (int, error) {
			io.WriteString(s.Stdout, "begun")
			<-ctx.Done()
			ended <- ctx.Err()
			return 0, ctx.Err()
		}))
		conn, raw := s.upgrade(t, url.Values{"cmd": {"sleep"}, "stdin": {"1"}})
		next(t, conn, frames.Stdout, "begun")
		unittest.Must(t, conn.Send(frames.Stdin, []byte("nobody reads this")))
		leave(conn, raw)
		if err := <-ended; err == nil {
			t.Errorf("%s: the command goes on", name)
		}
	}
}

// A kubelet that stops waits until its commands are killed, and tells their clients if that does not take too long.
func TestTheServerEndsAfterItsCommands(t *testing.T) {
	upgrade := "Connection: Upgrade\r\nUpgrade: " + frames.Protocol + "\r\n"
	t.Run("exec", func(t *testing.T) { stopWithACommand(t, "/exec", upgrade, 2*shutdownTimeout, true) })
	t.Run("run", func(t *testing.T) { stopWithACommand(t, "/run", "", 2*lastWriteTimeout, true) })
	t.Run("run, longer", func(t *testing.T) { stopWithACommand(t, "/run", "", 2*shutdownTimeout, false) })
}

// stopWithACommand stops a server whose command takes some time to be killed, and may be told.
func stopWithACommand(t *testing.T, path, header string, takes time.Duration, told bool) {
	synctest.Test(t, func(t *testing.T) {
		killed := make(chan struct{})
		server, err := New(testOptions(executing(func(ctx context.Context, _ string, s api.Streams) (int, error) {
			io.WriteString(s.Stdout, "begun")
			<-ctx.Done()
			<-killed
			return 0, ctx.Err()
		})))
		unittest.Must(t, err, server.listener.Close())
		listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		server.listener = listener
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		conn := listener.dial()
		defer conn.Close()
		go fmt.Fprintf(conn, "POST %s/web/app?cmd=sleep HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", path, testToken, header)
		answer := bufio.NewReader(conn)
		readUntil(t, answer, "begun")
		cancel()
		time.Sleep(takes)
		synctest.Wait()
		select {
		case err := <-served:
			t.Errorf("it ends before its command, with %v", err)
		default:
		}
		close(killed)
		if rest, err := io.ReadAll(answer); strings.Contains(string(rest), context.Canceled.Error()) != told {
			t.Errorf("the end of the answer: %q, %v", rest, err)
		}
		unittest.Must(t, <-served)
	})
}

// readUntil reads as far as a text.
func readUntil(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for got := ""; !strings.HasSuffix(got, text); {
		c, err := r.ReadByte()
		if got += string(c); err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

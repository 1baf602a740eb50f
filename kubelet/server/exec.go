package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/frames"
)

// serveExec runs a command with an input or a terminal, and kills it when the client is gone. The connection is upgraded, see
// package frames. It needs what serveRun needs.
func (s *Server) serveExec(w http.ResponseWriter, r *http.Request) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), frames.Protocol) {
		w.Header().Set("Upgrade", frames.Protocol)
		return httpErrorf(http.StatusUpgradeRequired, "a client must ask for Upgrade: %s, as kubelet14 exec does; /run runs a command without an input", frames.Protocol)
	}
	command, err := parseCommand(r)
	if err != nil {
		return err
	}
	stdin, stdinErr := boolParam(r, "stdin", false)
	terminal, terminalErr := boolParam(r, "tty", false)
	if err := errors.Join(stdinErr, terminalErr); err != nil {
		return err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("upgrade the connection: %w", err)
	}
	s.commands.Add(1)
	defer s.commands.Done()
	_ = conn.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(ctx, func() { limitWrites(conn) })()
	x := &execution{Conn: frames.NewConn(buffered, conn), input: make(chan []byte, 1), sizes: make(chan api.TerminalSize, 1)}
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", frames.Protocol)
	if err != nil {
		conn.Close()
		return nil
	}
	var receiving sync.WaitGroup
	receiving.Go(func() {
		defer cancel()
		x.receive()
	})
	streams := api.Streams{Stdout: x.Writer(frames.Stdout), Stderr: x.Writer(frames.Stderr), Terminal: terminal, Resize: x.sizes}
	if stdin {
		streams.Stdin = x
	}
	exitCode, err := s.opts.Kubelet.RunInContainer(ctx, pod, container, command, streams)
	if ctx.Err() != nil {
		limitWrites(conn) // the kill may have taken longer than that
	}
	if err == nil {
		_ = x.Send(frames.Exit, []byte(strconv.Itoa(exitCode)))
	} else {
		if !errors.Is(err, api.ErrNotFound) && ctx.Err() == nil {
			glog.Warningf("info server: %s: %v", r.Pattern, err)
		}
		_ = x.Send(frames.Failed, []byte(api.Shorten(api.OneLine(err.Error()), 4<<10)))
	}
	conn.Close()
	receiving.Wait()
	return nil
}

// execution is a command and its client.
type execution struct {
	*frames.Conn
	input chan []byte // what the command has not read; closed when the client is gone or has no more
	sizes chan api.TerminalSize

	piece bytes.Reader // of the input
}

// receive reads what the client sends until it is gone, or sends what it must not.
func (x *execution) receive() {
	ended := false
	defer func() {
		if !ended {
			close(x.input)
		}
	}()
	for {
		kind, text, err := x.Receive()
		if err != nil {
			return
		}
		switch {
		case kind == frames.Stdin && len(text) == 0 && !ended:
			ended = true
			close(x.input)
		case kind == frames.Stdin && !ended:
			select {
			case x.input <- text:
			default: // it has not waited for Read
				return
			}
		case kind == frames.Resize:
			size, err := frames.ParseSize(text)
			if err != nil {
				return
			}
			select { // of two that come at once only the last counts
			case <-x.sizes:
			default:
			}
			x.sizes <- size
		default:
			return
		}
	}
}

// Read reads the command's input.
func (x *execution) Read(p []byte) (int, error) {
	if x.piece.Len() == 0 {
		text, more := <-x.input
		if !more {
			return 0, io.EOF
		}
		x.piece.Reset(text)
		if err := x.Send(frames.Read, nil); err != nil {
			return 0, err
		}
	}
	return x.piece.Read(p)
}

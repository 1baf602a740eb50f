package words

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/term"

	"kubelet14/api"
	"kubelet14/kubelet/frames"
)

var errExecCut = errors.New("the connection to the kubelet was cut, and the kubelet kills the command: it may have ended, or been restarted")

// interrupted is the exit code of a command that Ctrl-C has ended, as in a shell.
const interrupted = exitCode(128 + int(syscall.SIGINT))

func exec(fs *flag.FlagSet) func(context.Context, *call) error {
	name := fs.String("c", "", "`name` of the container; default is the first one")
	stdin := fs.Bool("i", false, "give the command this input")
	terminal := fs.Bool("t", false, "run the command in this terminal, as -it does")
	both := fs.Bool("it", false, "-i and -t, for a shell")
	return func(ctx context.Context, c *call) error {
		if len(c.command) == 0 {
			return errors.New("the command is missing: write it after --, as in kubelet14 exec web -- /hello env")
		}
		cl, pod, err := c.pod(ctx)
		if err != nil {
			return err
		}
		containers := apps(pod)
		if *name == "" && len(containers) > 1 {
			fmt.Fprintf(c.Err, "kubelet14: pod %s has %d containers: this is %s; -c names another one\n", pod.FullName(), len(containers), containers[0])
			*name = containers[0]
		}
		only, err := container(pod, *name)
		if err != nil {
			return err
		}
		in, isFile := c.In.(*os.File)
		wantsTerminal := *terminal || *both
		if wantsTerminal && (!isFile || !term.IsTerminal(int(in.Fd()))) {
			fmt.Fprintln(c.Err, "kubelet14: the input is no terminal, so the command gets none")
			wantsTerminal = false
		}
		wantsInput := *stdin || *both || wantsTerminal // else Ctrl-C would reach nobody
		query := url.Values{"cmd": c.command, "stdin": {strconv.FormatBool(wantsInput)}, "tty": {strconv.FormatBool(wantsTerminal)}}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		conn, err := cl.Upgrade(ctx, "/exec/"+pod.FullName()+"/"+only, query, frames.Protocol)
		if err != nil {
			return err
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		s := &session{Conn: frames.NewConn(conn, conn), read: make(chan struct{}, 1)}
		if wantsTerminal {
			leave, err := s.enterTerminal(ctx, int(in.Fd()))
			if err != nil {
				return err
			}
			defer leave()
		}
		if wantsInput {
			go s.sendInput(ctx, c.In) // nothing ends a read of a terminal
		}
		if err = s.receive(c.Out, c.Err); ctx.Err() != nil {
			return interrupted
		}
		return err
	}
}

// session is a command that runs in a container.
type session struct {
	*frames.Conn
	read chan struct{} // the command has taken the last piece of input
}

// enterTerminal passes on each key and each size of the terminal, until leave is called.
func (s *session) enterTerminal(ctx context.Context, fd int) (leave func(), err error) {
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("use this terminal: %w", err)
	}
	resized := make(chan os.Signal, 1)
	resized <- syscall.SIGWINCH // the size at first
	signal.Notify(resized, syscall.SIGWINCH)
	ctx, cancel := context.WithCancel(ctx)
	var resizing sync.WaitGroup
	resizing.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-resized:
			}
			if columns, rows, err := term.GetSize(fd); err == nil {
				_ = s.Send(frames.Resize, frames.Size(api.TerminalSize{Rows: uint16(rows), Columns: uint16(columns)}))
			}
		}
	})
	return func() {
		signal.Stop(resized)
		cancel()
		resizing.Wait()
		_ = term.Restore(fd, before)
	}, nil
}

// sendInput sends one piece after the other, each when the command has taken the one before.
func (s *session) sendInput(ctx context.Context, in io.Reader) {
	piece := make([]byte, 16<<10)
	for {
		n, err := in.Read(piece)
		if n > 0 {
			if s.Send(frames.Stdin, piece[:n]) != nil {
				return
			}
			select {
			case <-s.read:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			_ = s.Send(frames.Stdin, nil)
			return
		}
	}
}

// receive prints what the command does, and returns its exit code if that is not 0.
func (s *session) receive(out, errOut io.Writer) error {
	for {
		kind, text, err := s.Receive()
		if err != nil {
			return errExecCut
		}
		switch kind {
		case frames.Stdout:
			_, err = out.Write(text)
		case frames.Stderr:
			_, err = errOut.Write(text)
		case frames.Read:
			select {
			case s.read <- struct{}{}:
			default:
			}
		case frames.Failed:
			return errors.New(string(text))
		case frames.Exit:
			code, err := strconv.Atoi(string(text))
			if err != nil {
				return fmt.Errorf("the kubelet tells an exit code that is no number: %w", err)
			}
			if code == 0 {
				return nil
			}
			return exitCode(code)
		}
		if err != nil {
			return err
		}
	}
}

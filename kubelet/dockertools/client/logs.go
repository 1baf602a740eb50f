package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// maxLogLine is how many bytes of a line wait for its end: so a line stays whole,
// and one without an end costs no memory.
const maxLogLine = 64 << 10

// Logs takes it that the container has no terminal, as none of a ContainerSpec has:
// Docker marks every piece as of stdout or of stderr.
func (c *Client) Logs(ctx context.Context, id string, opts dockertools.LogOptions, each func(dockertools.LogLine) error) error {
	// The limit is one on Docker's silence, and not on the time that each takes.
	ctx, silent, end := unlessSilent(ctx, callLimit, c.noAnswer(callLimit))
	defer end()
	listen := func() {
		if !opts.Follow {
			silent.Reset(callLimit)
		}
	}
	var enough error // of each
	err := c.exchange(ctx, fmt.Sprintf("read the log of container %q", id), func(_ context.Context, api *docker.Client) error {
		stream, err := c.open(api, http.MethodGet, "containers/"+id+"/logs", logQuery(opts), nil, nil)
		if err != nil {
			return err
		}
		defer stream.Close()
		silent.Stop()
		listen()
		return readPieces(stream, func(line dockertools.LogLine) error {
			silent.Stop()
			enough = each(line)
			listen()
			return enough
		})
	})
	if enough != nil {
		return enough
	}
	return err
}

// logQuery always asks for the times.
func logQuery(o dockertools.LogOptions) url.Values {
	query := url.Values{"timestamps": {"1"}, "tail": {strconv.Itoa(o.Tail)}}
	for name, wanted := range map[string]bool{"stdout": o.Stdout, "stderr": o.Stderr, "follow": o.Follow} {
		if wanted {
			query.Set(name, "1")
		}
	}
	if !o.Since.IsZero() {
		query.Set("since", unixTime(o.Since))
	}
	return query
}

// unixTime is a moment as Docker takes it in its queries.
func unixTime(t time.Time) string {
	return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond())
}

// The marks of Docker's pieces, eight bytes before each: the first says what it is,
// the last four how long it is.
const (
	markStdout = 1
	markStderr = 2
	markError  = 3 // Docker's own words about what it could not read
)

// readPieces makes lines of the pieces: one that is longer than Docker's buffer of
// 16 KiB comes in several, with pieces of the other stream between them.
func readPieces(stream io.Reader, each func(dockertools.LogLine) error) error {
	begun := map[byte]*dockertools.LogLine{markStdout: {}, markStderr: {Stderr: true}}
	buffered := bufio.NewReader(stream)
	for {
		what, piece, err := readPiece(buffered)
		if errors.Is(err, io.EOF) {
			return errors.Join(giveRest(begun[markStdout], each), giveRest(begun[markStderr], each))
		}
		if err != nil {
			return err
		}
		line := begun[what]
		switch {
		case what == markError:
			return &refusal{text: string(piece)}
		case line == nil:
			return fmt.Errorf("a piece of the log is marked %d, which is neither stdout nor stderr", what)
		}
		var text []byte
		line.Time, text = cutTime(piece, line.Time)
		line.Text = append(line.Text, text...)
		if bytes.HasSuffix(text, []byte("\n")) || len(line.Text) >= maxLogLine {
			if err := giveRest(line, each); err != nil {
				return err
			}
		}
	}
}

// readMark returns io.EOF only between two pieces.
func readMark(stream io.Reader) (what byte, size int64, err error) {
	var mark [8]byte
	if _, err := io.ReadFull(stream, mark[:]); err != nil {
		return 0, 0, err
	}
	return mark[0], int64(binary.BigEndian.Uint32(mark[4:])), nil
}

// readPiece returns io.EOF only between two pieces.
func readPiece(stream io.Reader) (what byte, piece []byte, err error) {
	what, size, err := readMark(stream)
	if err != nil {
		return 0, nil, err
	}
	if size > 1<<20 { // sixty times what Docker makes
		return 0, nil, fmt.Errorf("a piece of the log is said to have %d bytes", size)
	}
	piece = make([]byte, size)
	if _, err := io.ReadFull(stream, piece); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return what, piece, nil
}

// giveRest gives what there is of a line, and begins the next.
func giveRest(line *dockertools.LogLine, each func(dockertools.LogLine) error) error {
	if len(line.Text) == 0 {
		return nil
	}
	whole := *line
	line.Text = nil
	return each(whole)
}

// cutTime takes the time from the beginning of a text. One that has none is of the time
// of what came before.
func cutTime(text []byte, before time.Time) (time.Time, []byte) {
	stamp, rest, _ := bytes.Cut(text, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return before, text
	}
	return at, rest
}

func (c *Client) LogDriver(ctx context.Context) (driver string, err error) {
	err = c.call(ctx, callLimit, "ask for the log driver", func(_ context.Context, api *docker.Client) error {
		info, err := api.Info()
		if err == nil {
			driver = info.LoggingDriver
		}
		return err
	})
	return driver, err
}

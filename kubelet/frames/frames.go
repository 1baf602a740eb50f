// Package frames carries the streams of a command over one connection between the info server and its client: its input and the sizes
// of its terminal to the server, its outputs and its exit code to the client.
//
//	a frame: its kind (1 byte), the length of its text (4 bytes, the highest first), its text
//
// The client sends one Stdin frame and waits for the Read frame that follows, so the server always has room for the next frame,
// and notices at once when the client is gone.
package frames

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"kubelet14/api"
)

// Protocol is the name in the header Upgrade.
const Protocol = "kubelet14-exec"

// Kind is what a frame holds.
type Kind byte

// The kinds of frames.
const (
	Stdin  Kind = iota // input; an empty one ends it
	Resize             // a size, see Size
	Read               // the command has taken the last Stdin frame
	Stdout             // output
	Stderr             // output
	Exit               // the exit code, in decimal: the last frame
	Failed             // why there is no exit code: the last frame
)

const (
	headerSize = 5
	maxText    = 32 << 10 // bytes
)

// Conn is one end of a connection.
type Conn struct {
	r io.Reader

	mu sync.Mutex // held while a frame is written
	w  io.Writer
}

// NewConn returns the end of a connection that is read and written like this.
func NewConn(r io.Reader, w io.Writer) *Conn { return &Conn{r: r, w: w} }

// Send sends a text of at most 32 KiB. It may be called concurrently.
func (c *Conn) Send(kind Kind, text []byte) error {
	frame := append(make([]byte, headerSize, headerSize+len(text)), text...)
	frame[0] = byte(kind)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(text)))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.w.Write(frame)
	return err
}

// Receive returns the next frame. At the end of the connection the error is io.EOF, and within a frame io.ErrUnexpectedEOF.
func (c *Conn) Receive() (Kind, []byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(c.r, header[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > maxText {
		return 0, nil, fmt.Errorf("a frame of %d bytes; the most is %d", size, maxText)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(c.r, text); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return Kind(header[0]), text, nil
}

// Writer returns a writer whose output is sent as frames of a kind.
func (c *Conn) Writer(kind Kind) io.Writer { return writer{c, kind} }

type writer struct {
	conn *Conn
	kind Kind
}

func (w writer) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := p[n:min(len(p), n+maxText)]
		if err := w.conn.Send(w.kind, piece); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

// Size returns the text of a Resize frame.
func Size(size api.TerminalSize) []byte {
	text := binary.BigEndian.AppendUint16(nil, size.Rows)
	return binary.BigEndian.AppendUint16(text, size.Columns)
}

// ParseSize is the inverse of Size.
func ParseSize(text []byte) (size api.TerminalSize, err error) {
	if len(text) != 4 {
		return size, fmt.Errorf("a size of %d bytes", len(text))
	}
	return api.TerminalSize{Rows: binary.BigEndian.Uint16(text), Columns: binary.BigEndian.Uint16(text[2:])}, nil
}

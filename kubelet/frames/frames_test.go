package frames

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestMain(m *testing.M) { unittest.Main(m) }

func TestWhatIsSentIsReceived(t *testing.T) {
	var wire bytes.Buffer
	c := NewConn(&wire, &wire)
	long := strings.Repeat("0123456789", 10_000)
	if n, err := c.Writer(Stdout).Write([]byte(long)); n != len(long) || err != nil {
		t.Errorf("%d of %d bytes are written, %v", n, len(long), err)
	}
	size := api.TerminalSize{Rows: 24, Columns: 300}
	unittest.Must(t, c.Send(Stdin, nil), c.Send(Resize, Size(size)))
	got := ""
	for len(got) < len(long) {
		kind, text, err := c.Receive()
		if kind != Stdout || err != nil {
			t.Fatalf("a frame of kind %d, %v", kind, err)
		}
		got += string(text)
	}
	if kind, text, err := c.Receive(); got != long || kind != Stdin || len(text) > 0 || err != nil {
		t.Errorf("a frame of kind %d with %q, %v, after %d bytes", kind, text, err, len(got))
	}
	kind, text, err := c.Receive()
	if parsed, sizeErr := ParseSize(text); kind != Resize || err != nil || sizeErr != nil || parsed != size {
		t.Errorf("a frame of kind %d with size %v, %v, %v", kind, parsed, err, sizeErr)
	}
	if _, _, err := c.Receive(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestWhatIsNoFrame(t *testing.T) {
	for wire, want := range map[string]error{
		"":                         io.EOF,
		"\x00\x00":                 io.ErrUnexpectedEOF,
		"\x00\x00\x00\x00\x05":     io.ErrUnexpectedEOF,
		"\x00\x00\x00\x00\x05abcd": io.ErrUnexpectedEOF,
		"\x00\xff\xff\xff\xff":     nil,
		"\x00\x00\x00\x80\x01":     nil,
	} {
		if _, _, err := NewConn(strings.NewReader(wire), nil).Receive(); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", wire, err, want)
		}
	}
	if _, err := ParseSize([]byte("123")); err == nil {
		t.Error("three bytes are a size")
	}
}

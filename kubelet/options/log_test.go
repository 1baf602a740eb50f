package options

import (
	"strings"
	"testing"
)

// A full disk costs the lines that do not fit, and one message.
func TestLogOnAFullDisk(t *testing.T) {
	var stderr strings.Builder
	log := &logWriter{stderr: &stderr, path: "/dev/full"}
	for range 3 {
		if n, err := log.Write([]byte("line\n")); n != 5 || err != nil {
			t.Errorf("it writes %d bytes, %v", n, err)
		}
	}
	text := stderr.String()
	if strings.Count(text, "line\n") != 3 || strings.Count(text, "no space left on device; until that is mended") != 1 {
		t.Errorf("standard error has %q", text)
	}
}

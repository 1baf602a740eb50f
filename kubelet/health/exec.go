package health

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// maxOutput is how many bytes are kept of what a container says.
const maxOutput = 1 << 10

// run runs a command in the container.
func (t Target) run(ctx context.Context, a *api.ExecAction) (seen string, err error) {
	var out head
	code, err := t.Exec(ctx, a.Command, &out)
	if err != nil {
		// A command that was not started has not been slow: Docker was.
		if over := overdue(ctx); over != nil && !errors.Is(err, dockertools.ErrExecNotStarted) {
			err = fmt.Errorf("run %q: %w", a.Command[0], over)
		}
		return "", err
	}
	seen = fmt.Sprintf("exit code %d%s", code, out.after(": "))
	if code != 0 {
		return "", fmt.Errorf("run %q: %w", a.Command[0], failed(seen))
	}
	return seen, nil
}

// head keeps the start of what is written to it, maxOutput bytes, and takes the rest
// as written: whoever prints endlessly costs no memory, and is not broken off.
type head struct {
	kept []byte
	more bool // something was not kept
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), maxOutput-len(h.kept))
	h.kept = append(h.kept, p[:n]...)
	h.more = h.more || n < len(p)
	return len(p), nil
}

// after gives what was kept behind a prefix, and nothing when there is nothing.
func (h *head) after(prefix string) string {
	text := string(h.kept)
	if h.more {
		text = wholeRunes(text) + "…"
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return prefix + text
}

// readable makes one line of anything: at most maxOutput bytes of UTF-8 that can all
// be seen. It is somebody's output, and goes to a log and to a terminal.
func readable(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r // what is no UTF-8 comes as U+FFFD
	}, text)
	if len(text) > maxOutput {
		text = wholeRunes(text[:maxOutput-len("…")]) + "…"
	}
	return text
}

// wholeRunes drops the rune at the end of a text that was cut inside it.
func wholeRunes(text string) string {
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestIntegrationRunOnceWaitsForAPull(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web:1")
	h.registry.HoldBlobs()
	h.put("pod", image.Ref)
	ended := make(chan result, 1)
	go func() { ended <- h.runOnce() }()
	h.registry.AwaitHeld()
	select {
	case r := <-ended:
		t.Fatalf("it ended with exit %d in the middle of the pull\n%s%s", r.exit, r.stdout, r.stderr)
	default:
	}

	h.registry.MendBlobs()
	r := <-ended
	if row := r.table(t)["pod"]; r.exit != 0 || row.state != "running" {
		t.Errorf("exit %d, want 0, and the table is\n%s\n%s", r.exit, r.stdout, r.stderr)
	}
	if err := h.runs("pod", image); err != nil {
		t.Errorf("the pod has not stayed: %v", err)
	}
	if strings.Contains(r.stdout+r.stderr, "\x1b") {
		t.Errorf("it writes for a terminal where there is none: %q", r.stderr)
	}
}

// What a registry does not have may come later, but not while somebody waits.
func TestIntegrationRunOnceDoesNotWaitForAMissingImage(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	good := h.registry.Push("web:1")
	missing := h.registry.Addr() + "/web:2"
	h.put("good", good.Ref)
	h.put("bad", missing)
	r := h.runOnce()
	rows := r.table(t)
	if r.exit != 1 || rows["good"].state != "running" || rows["bad"].state != "failed" {
		t.Errorf("exit %d, want 1, and the table is\n%s\n%s", r.exit, r.stdout, r.stderr)
	}
	for _, word := range []string{missing, "manifest unknown"} {
		if !strings.Contains(rows["bad"].reason, word) {
			t.Errorf("the reason does not say %q: %s", word, rows["bad"].reason)
		}
	}
	h.mustHaveAsked(1, "by the end", "web:2")
}

func TestIntegrationRunOnceShowsAPullOnATerminal(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web:1")
	h.registry.HoldBlobs()
	h.put("pod", image.Ref)
	terminal, screen := newTerminal(t)
	cmd := exec.Command(kubeletBinary, h.args("-config="+h.manifests, "-runonce")...)
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Stderr = terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() }) // or else it keeps the terminal

	const eraseLine = "\r\x1b[K"
	line := regexp.MustCompile(regexp.QuoteMeta(eraseLine+"pulling "+image.Ref) + `: 0 of 1 layers, [0-9.]+[kM]?B of 3[0-9.]*MB\r`)
	h.eventually("a line says how far the pull is", func() error {
		if text := screen.String(); !line.MatchString(text) {
			return fmt.Errorf("the screen has %q", text)
		}
		return nil
	})
	h.registry.MendBlobs()
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, screen)
	}
	h.eventually("the line is erased", func() error {
		text := screen.String()
		if strings.LastIndex(text, eraseLine) <= strings.LastIndex(text, eraseLine+"pulling ") {
			return fmt.Errorf("the screen has %q", text)
		}
		return nil
	})
}

// newTerminal makes a terminal for a program to write to, and gives what it has
// written so far.
func newTerminal(t *testing.T) (terminal *os.File, screen *buffer) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(ours.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	screen = &buffer{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(screen, ours) // ends when nobody holds the terminal any more
	}()
	t.Cleanup(func() {
		terminal.Close()
		<-done
		ours.Close()
	})
	return terminal, screen
}

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A user who starts the kubelet in a terminal gets the link with the page's key there, and
// nowhere else. The token is printed nowhere.
func TestIntegrationTheLinkIsForATerminalAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("web")
	port := freePort(t)
	flags := []string{"-config=" + h.manifests, "-address=127.0.0.1", fmt.Sprint("-port=", port), "-v=9"}
	p := h.startWith(flags...)
	p.awaitUp("web")
	data, err := os.ReadFile(filepath.Join(h.rootDir, "token"))
	h.must(err)
	token := strings.TrimSpace(string(data))
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/run/default/web/main?cmd=/hello&cmd=env", port), nil)
	h.must(err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	h.must(err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("with the token: %s", resp.Status)
	}
	p.stop()
	if strings.Contains(p.log.String(), token) {
		t.Errorf("the token is printed\n%s", p.log)
	}

	terminal, screen := h.newTerminal()
	log := &buffer{}
	cmd := h.command(flags...)
	cmd.Stdout, cmd.Stderr = terminal, log
	h.must(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	linkForm := regexp.MustCompile(`http://\S+/\?key=(\S+)`)
	h.await("the terminal has the link", func() error {
		if !linkForm.MatchString(screen.String()) {
			return fmt.Errorf("it has %q", screen)
		}
		return nil
	})
	link, key := linkForm.FindStringSubmatch(screen.String())[0], linkForm.FindStringSubmatch(screen.String())[1]
	statusTerminal, statusScreen := h.newTerminal()
	h.await("-status succeeds, and prints the same link in a terminal", func() error {
		status := h.command(append(flags, "-status")...)
		status.Stdout = statusTerminal
		return errors.Join(status.Run(), hasWords(statusScreen.String(), []string{link}))
	})
	for address, want := range map[string]int{
		link: http.StatusOK, fmt.Sprintf("http://127.0.0.1:%d/containerLogs/default/web/main?key=%s", port, key): http.StatusOK,
		fmt.Sprintf("http://127.0.0.1:%d/boundPods?env=1&key=%s", port, key): http.StatusUnauthorized,
	} {
		resp, err := http.Get(address)
		h.must(err)
		resp.Body.Close()
		if resp.StatusCode != want || len(resp.Cookies()) > 0 {
			t.Errorf("%s answers %s, with the cookies %v; want %d", address, resp.Status, resp.Cookies(), want)
		}
	}
	if text := log.String() + screen.String(); strings.Contains(log.String(), key) || strings.Contains(text, token) {
		t.Errorf("the key or the token is printed:\n%s", text)
	}
}

// newTerminal makes a terminal for a program; screen is what it has written so far.
func (h *host) newTerminal() (terminal *os.File, screen *buffer) {
	h.t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	h.must(err)
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	h.must(err)
	h.must(unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	h.must(err)
	screen = &buffer{}
	go io.Copy(screen, ours) // ends when nobody has the terminal open any more
	h.t.Cleanup(func() { terminal.Close() })
	return terminal, screen
}

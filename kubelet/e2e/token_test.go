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

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// The link with the page's key is printed only to the terminal in which a user starts the kubelet. The token is printed
// nowhere.
func TestIntegrationTheLinkIsForATerminalAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("web")
	port := freePort(t)
	flags := []string{"-config=" + h.Manifests, "-address=127.0.0.1", fmt.Sprint("-port=", port), "-v=9"}
	p := h.StartWith(flags...)
	p.AwaitUp("web")
	data, err := os.ReadFile(filepath.Join(h.RootDir, "token"))
	h.Must(err)
	token := strings.TrimSpace(string(data))
	req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/run/default/web/main?cmd=/hello&cmd=env", port), nil)
	h.Must(err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	h.Must(err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("with the token: %s", resp.Status)
	}
	p.Stop()
	if strings.Contains(p.Log.String(), token) {
		t.Errorf("the token is printed\n%s", p.Log)
	}

	terminal, screen := newTerminal(t)
	log := &hosttest.Buffer{}
	cmd := h.Command(flags...)
	cmd.Stdout, cmd.Stderr = terminal, log
	h.Must(cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	linkForm := regexp.MustCompile(`http://\S+/\?key=(\S+)`)
	h.Await("the terminal has the link", func() error {
		if !linkForm.MatchString(screen.String()) {
			return fmt.Errorf("the screen shows %q", screen)
		}
		return nil
	})
	link, key := linkForm.FindStringSubmatch(screen.String())[0], linkForm.FindStringSubmatch(screen.String())[1]
	statusTerminal, statusScreen := newTerminal(t)
	h.Await("-status succeeds, and prints the same link in a terminal", func() error {
		status := h.Command(append(flags, "-status")...)
		status.Stdout = statusTerminal
		return errors.Join(status.Run(), unittest.HasWords(statusScreen.String(), link))
	})
	for address, want := range map[string]int{
		link: http.StatusOK, fmt.Sprintf("http://127.0.0.1:%d/containerLogs/default/web/main?key=%s", port, key): http.StatusOK,
		fmt.Sprintf("http://127.0.0.1:%d/boundPods?env=1&key=%s", port, key): http.StatusUnauthorized,
	} {
		resp, err := http.Get(address)
		h.Must(err)
		resp.Body.Close()
		if resp.StatusCode != want || len(resp.Cookies()) > 0 {
			t.Errorf("%s answers %s, with the cookies %v; want %d", address, resp.Status, resp.Cookies(), want)
		}
	}
	if text := log.String() + screen.String(); strings.Contains(log.String(), key) || strings.Contains(text, token) {
		t.Errorf("the key or the token is printed:\n%s", text)
	}
}

// newTerminal opens a terminal for a program; screen is what it has written so far.
func newTerminal(t *testing.T) (terminal *os.File, screen *hosttest.Buffer) {
	t.Helper()
	person, terminal := hosttest.OpenTerminal(t)
	screen = &hosttest.Buffer{}
	go io.Copy(screen, person) // it ends when nobody has the terminal open
	t.Cleanup(func() { terminal.Close() })
	return terminal, screen
}

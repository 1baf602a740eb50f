package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// window is the info server of a kubelet, as the holder of its token sees it.
type window struct {
	h     *host
	p     *process
	token string
}

// startServing starts the host's kubelet with its info server.
func (h *host) startServing(flags ...string) *window {
	h.t.Helper()
	p := h.start(append([]string{"-enable_server", "-port=0"}, flags...)...)
	p.infoPort() // it serves, so the token is there
	token, err := os.ReadFile(filepath.Join(h.rootDir, "token"))
	if err != nil {
		h.t.Fatal(err)
	}
	return &window{h: h, p: p, token: strings.TrimSpace(string(token))}
}

// request begins a request that ends with ctx; the caller reads and closes the body.
func (w *window) request(ctx context.Context, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", w.p.infoPort(), path), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultClient.Do(req)
}

// reply is a request that came to its end.
type reply struct {
	status  int
	body    string
	trailer http.Header
}

// ask makes a request and reads the answer to its end.
func (w *window) ask(method, path string) (reply, error) {
	resp, err := w.request(w.h.t.Context(), method, path)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(body), resp.Trailer}, err
}

// mustAsk is ask for what must be answered.
func (w *window) mustAsk(method, path string) reply {
	w.h.t.Helper()
	a, err := w.ask(method, path)
	if err != nil {
		w.h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// goroutines is how many the kubelet has.
func (w *window) goroutines() (int, error) {
	page, err := w.p.scrape()
	return int(page.sum("go_goroutines")), err
}

// Package browser looks at the page in Chromium, with a kubelet that runs pods on the real Docker.
package browser

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

	"kubelet14/kubelet/e2e/hosttest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// host has a kubelet that serves the page.
type host struct {
	*hosttest.Host
	url, port string // of the page
	flags     []string
	kubelet   *hosttest.Process
}

// newHost starts a kubelet, with more flags.
func newHost(t *testing.T, flags ...string) *host {
	t.Helper()
	h := &host{Host: hosttest.New(t), port: "0", flags: flags}
	h.start()
	return h
}

var address = regexp.MustCompile(`info server at (http://\S+:(\d+)/)`)

// start starts the kubelet, with its info server at the port that it had before.
func (h *host) start() {
	h.T.Helper()
	h.kubelet = h.Start(append(h.flags, "-address=127.0.0.1", "-port="+h.port, "-sync_frequency=500ms", "-max_restart_backoff=1m")...)
	h.Await("the kubelet logs where its page is", func() error {
		found := address.FindStringSubmatch(h.kubelet.Log.String())
		if found == nil {
			return errors.New("it does not")
		}
		h.url, h.port = found[1], found[2]
		return nil
	})
}

// link is the page's address with its key, which lets a browser read logs: links of the page have it.
func (h *host) link() string {
	h.T.Helper()
	token, err := os.ReadFile(filepath.Join(h.RootDir, "token"))
	h.Must(err)
	request, _ := http.NewRequest(http.MethodGet, h.url, nil)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	answer, err := http.DefaultClient.Do(request)
	h.Must(err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	key := regexp.MustCompile(`\?pretty=1&amp;(key=\w+)`).FindSubmatch(page)
	if err != nil || key == nil {
		h.T.Fatalf("the page has no link with a key: %v\n%s", err, page)
	}
	return h.url + "?" + string(key[1])
}

// write gives the kubelet the manifest of a pod. Its container has a command of hello, and runs until that succeeds.
func (h *host) write(id, image, command string) {
	h.T.Helper()
	h.Write(id, manifest(id, image, command))
}

func manifest(id, image, command string) string {
	return fmt.Sprintf(`version: v1beta1
id: %s
restartPolicy: {onFailure: {}}
containers: [{name: main, image: %s, imagePullPolicy: PullNever, command: [/hello, %s]}]
`, id, image, command)
}

// writeMany gives the kubelet the manifests of pods p00, p01 and so on.
func (h *host) writeMany(pods int) {
	h.T.Helper()
	var all []string
	for i := range pods {
		all = append(all, manifest(fmt.Sprintf("p%02d", i), hello, "sleep"))
	}
	h.Write("all", strings.Join(all, "---\n"))
}

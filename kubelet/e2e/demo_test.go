package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// webPod is the classic of 2014: a server and a sidecar that share an EmptyDir and
// localhost.
const webPod = `version: v1beta1
id: web
volumes:
  - name: pages
    source: {emptyDir: {}}
containers:
  - name: server
    image: HELLO
    command: ["/hello", "serve", "-port", "8080", "-show", "/pages/now"]
    ports: [{containerPort: 8080, hostPort: PORT}]
    volumeMounts: [{name: pages, mountPath: /pages, readOnly: true}]
  - name: writer
    image: HELLO
    command: ["/hello", "write", "-every", "100ms", "-ask", "http://localhost:8080/healthz", "/pages/now"]
    env: [{name: GREETING, value: "VALUE"}]
    volumeMounts: [{name: pages, mountPath: /pages}]
`

func TestIntegrationDemo(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	port := freePort(t)
	web := strings.ReplaceAll(webPod, "PORT", fmt.Sprint(port))
	h.write("web", strings.ReplaceAll(web, "VALUE", "first"))
	h.writeSleepers("other")
	h.start()
	h.awaitUp("other")
	other := h.ids()
	isUp := func() error { return h.whole("web", "server", "writer") }
	h.await("the pod is up", isUp)
	count := 0
	awaitCount := func(more int) {
		t.Helper()
		h.await("the page shows what the sidecar writes, who reaches the server as localhost", func() error {
			page, err := get(fmt.Sprintf("http://127.0.0.1:%d/", port), "pod web", "localhost:8080/healthz answers 200 OK")
			if now := lineCount(page); err == nil && now < more {
				err = fmt.Errorf("the count is %d, want %d", now, more)
			} else if err == nil {
				count = now
			}
			return err
		})
	}
	awaitCount(3)

	// An edit of one container replaces that container alone, and keeps the volume.
	writer, server := h.live("web", "writer"), h.live("web", "server")
	h.write("web", strings.ReplaceAll(web, "VALUE", "second"))
	h.await("the edit counts", func() error { return errors.Join(isUp(), h.replaced(writer)) })
	if env := fmt.Sprint(h.mustInspect(h.live("web", "writer").id).Config.Env); !strings.Contains(env, "GREETING=second") {
		t.Errorf("the new container has the environment %s", env)
	}
	if now := h.live("web", "server"); now.id != server.id {
		t.Errorf("the server was replaced too: %s, before %s", now, server)
	}
	awaitCount(count + 1)

	volumes := h.podDir("web")
	h.remove("web")
	h.awaitGone("web")
	h.await("the volume goes with its pod", func() error { return missing(volumes) })
	h.mustBe("at the end", other, "web")
}

// lineCount returns the number that hello's command write keeps, in a page that shows
// its file.
func lineCount(page string) int {
	n := 0
	for _, field := range strings.Fields(page) {
		if _, err := fmt.Sscanf(field, "%d", &n); err == nil {
			return n
		}
	}
	return 0
}

func missing(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s is there: %v", path, err)
}

// uid returns the UID of a pod, which its containers have in their names.
func (h *host) uid(id string) string {
	h.t.Helper()
	return strings.Split(h.newest(id, "").name, "_")[3]
}

// podDir returns the directory of a pod.
func (h *host) podDir(id string) string {
	h.t.Helper()
	return filepath.Join(h.rootDir, "pods", h.uid(id))
}

// emptyDirs returns where the EmptyDirs of a UID are.
func (h *host) emptyDirs(uid string) string {
	return filepath.Join(h.rootDir, "pods", uid, "volumes", "kubernetes.io~empty-dir")
}

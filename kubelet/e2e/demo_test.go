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

// webPod is the classic of 2014: a server and a sidecar that share an EmptyDir
// and localhost.
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

// sleeper is the smallest pod, with an id.
func sleeper(id string) string {
	return "version: v1beta1\nid: " + id + "\ncontainers:\n  - {name: main, image: HELLO, command: [/hello, sleep]}\n"
}

func TestIntegrationDemo(t *testing.T) {
	h := newHost(t)
	port := freePort(t)
	web := strings.ReplaceAll(webPod, "PORT", fmt.Sprint(port))
	h.write("web.yaml", strings.ReplaceAll(web, "VALUE", "first"))
	h.write("other.yaml", sleeper("other"))
	h.start()
	isUp := func() error {
		if err := h.whole("other", "main"); err != nil {
			return err
		}
		return h.whole("web", "server", "writer")
	}
	h.eventually("both pods come up", isUp)
	other := h.ids()

	h.eventually("the host port answers, and shows what the sidecar writes into the shared directory", func() error {
		page, err := get(port, "/")
		if err == nil && !strings.Contains(page, "pod web") {
			err = fmt.Errorf("the page does not say that it is of pod web:\n%s", page)
		}
		if err == nil && count(page) < 3 {
			err = fmt.Errorf("the page does not show what the sidecar writes:\n%s", page)
		}
		return err
	})
	h.eventually("the sidecar reaches the server as localhost", func() error {
		page, err := get(port, "/")
		if err == nil && !strings.Contains(page, "localhost:8080/healthz answers 200 OK") {
			err = fmt.Errorf("the page says\n%s", page)
		}
		return err
	})

	page, err := get(port, "/")
	if err != nil {
		t.Fatal(err)
	}
	before := count(page)
	writer, server := h.live("web", "writer"), h.live("web", "server")
	h.write("web.yaml", strings.ReplaceAll(web, "VALUE", "second"))
	h.eventually("an edit of one container's env replaces that container", func() error {
		if err := isUp(); err != nil {
			return err
		}
		return h.replaced("web", "writer", writer)
	})
	detail, err := h.inspect(h.live("web", "writer").id)
	if err != nil {
		t.Fatal(err)
	}
	if env := strings.Join(detail.Config.Env, " "); !strings.Contains(env, "GREETING=second") {
		t.Errorf("the new container's env is %q", env)
	}
	if now := h.live("web", "server"); now.id != server.id {
		t.Errorf("the server was replaced too: %s, before %s", now, server)
	}
	h.eventually("the volume's data stayed: the count goes on where it was", func() error {
		page, err := get(port, "/")
		if err == nil && count(page) <= before {
			err = fmt.Errorf("count %d, before the edit %d", count(page), before)
		}
		return err
	})

	volumes := filepath.Join(h.rootDir, "pods", h.uid("web"))
	if _, err := os.Stat(volumes); err != nil {
		t.Error(err)
	}
	h.remove("web.yaml")
	h.eventually("the pod goes with its file, and its volume with it", func() error {
		if err := h.gone("web"); err != nil {
			return err
		}
		if _, err := os.Stat(volumes); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("its volumes are left: %v", err)
		}
		return nil
	})
	for name, id := range h.ids() {
		if other[name] != id {
			t.Errorf("container %s of a pod that was never touched has a new id", name)
		}
	}
}

// count finds the number that hello's write keeps, in a page that shows its file.
func count(page string) int {
	n := 0
	for _, field := range strings.Fields(page) {
		if _, err := fmt.Sscanf(field, "%d", &n); err == nil {
			return n
		}
	}
	return 0
}

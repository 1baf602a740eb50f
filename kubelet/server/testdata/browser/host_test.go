// Package browser looks at the page in Chromium, with a kubelet that runs pods on the real Docker.
package browser

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for a state. It is no limit on speed.
const patience = 2 * time.Minute

const top = "../../../.." // of kubelet14

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubelet14-browser-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "kubelet14")
	for _, args := range [][]string{{"build", "-C", top, "-o", binary, "."}, {"run", "-C", top, "./manifests/hello/mkimage"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %s: %v\n%s", strings.Join(args, " "), err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// host has a kubelet that runs the pods of a directory.
type host struct {
	t        *testing.T
	hostname string
	dir      string
	url      string // of the page
	kubelet  *exec.Cmd
}

var hosts atomic.Int32

// newHost starts a kubelet. When the test ends it is stopped, and its pods are removed.
func newHost(t *testing.T) *host {
	t.Helper()
	// The tests of kubelet/e2e remove what is left of this name when its process has died.
	h := &host{t: t, hostname: fmt.Sprintf("kubelet14-test-%d-%d", os.Getpid(), hosts.Add(1)), dir: t.TempDir()}
	if err := os.Mkdir(h.path("manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stop()
		if out, err := exec.Command(binary, h.args("-cleanup")...).CombinedOutput(); err != nil {
			t.Errorf("-cleanup: %v\n%s", err, out)
		}
	})
	h.start(0)
	return h
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

func (h *host) args(more ...string) []string {
	return append([]string{"-hostname_override=" + h.hostname, "-root_dir=" + h.path("root")}, more...)
}

var address = regexp.MustCompile(`info server at (http://\S+)`)

// start starts the kubelet with its info server at a port, 0 for a free one.
func (h *host) start(port int) {
	h.t.Helper()
	log, err := os.Create(h.path("log"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close()
	h.kubelet = exec.Command(binary, h.args("-config="+h.path("manifests"), fmt.Sprint("-port=", port), "-sync_frequency=500ms")...)
	h.kubelet.Stderr = log
	if err := h.kubelet.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.eventually("the kubelet logs where its page is", func() error {
		text, err := os.ReadFile(h.path("log"))
		if found := address.FindSubmatch(text); found != nil {
			h.url = string(found[1])
			return nil
		}
		return fmt.Errorf("its log is %v\n%s", err, text)
	})
}

// stop ends the kubelet; its pods go on.
func (h *host) stop() {
	if h.kubelet == nil {
		return
	}
	h.kubelet.Process.Signal(syscall.SIGTERM)
	if err := h.kubelet.Wait(); err != nil {
		h.t.Errorf("the kubelet ended with %v", err)
	}
	h.kubelet = nil
}

// link is the page's address with the token, which lets a browser read logs.
func (h *host) link() string {
	h.t.Helper()
	token, err := os.ReadFile(h.path("root/token"))
	if err != nil {
		h.t.Fatal(err)
	}
	return h.url + "?token=" + strings.TrimSpace(string(token))
}

// web is a pod with a server at a port of this host, which answers its liveness probe until it is told otherwise.
func web(image string, port int) string {
	return fmt.Sprintf(`version: v1beta1
id: web
containers:
  - name: server
    image: %s
    imagePullPolicy: PullNever
    command: ["/hello", "serve", "-port", "8080"]
    ports:
      - {name: http, containerPort: 8080, hostPort: %d}
    livenessProbe: {initialDelaySeconds: 1, httpGet: {path: /healthz, port: http}}
`, image, port)
}

// write puts a manifest into the directory in one go.
func (h *host) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(h.path("aside"), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(h.path("aside"), filepath.Join(h.path("manifests"), name)); err != nil {
		h.t.Fatal(err)
	}
}

// get asks the server of a container for a path until it answers 200.
func (h *host) get(port int, path string) {
	h.t.Helper()
	h.eventually("the server answers "+path, func() error {
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", resp.Status)
		}
		return nil
	})
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// eventually waits until check returns nil.
func (h *host) eventually(what string, check func() error) {
	h.t.Helper()
	err := check()
	for deadline := time.Now().Add(patience); err != nil; err = check() {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(h.path("log"))
			h.t.Fatalf("%s: still after %v: %v\nthe kubelet's log:\n%s", what, patience, err, log)
		}
		time.Sleep(50 * time.Millisecond) // between two checks
	}
}

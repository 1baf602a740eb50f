// Package browser looks at the page in Chromium, with a kubelet that runs pods on the real Docker.
package browser

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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
	if out, err := exec.Command("go", "build", "-C", top, "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// host has a kubelet that runs the pods of a directory.
type host struct {
	t         *testing.T
	dir       string
	url, port string // of the page
	flags     []string
	kubelet   *exec.Cmd
}

// newHost starts a kubelet, with more flags. When the test ends it is stopped, and its pods are removed.
func newHost(t *testing.T, flags ...string) *host {
	t.Helper()
	h := &host{t: t, dir: t.TempDir(), port: "0", flags: flags}
	if err := os.Mkdir(h.path("manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stop()
		if out, err := h.command("-cleanup").CombinedOutput(); err != nil {
			t.Errorf("-cleanup: %v\n%s", err, out)
		}
	})
	h.start()
	return h
}

func (h *host) path(name string) string { return filepath.Join(h.dir, name) }

func (h *host) command(flags ...string) *exec.Cmd {
	// The tests of kubelet/e2e remove what is left of this name.
	hostname := fmt.Sprintf("kubelet14-test-%d-1", os.Getpid())
	cmd := exec.Command(binary, append(flags, "-hostname_override="+hostname, "-root_dir="+h.path("root"))...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // with a test that is killed
	return cmd
}

var address = regexp.MustCompile(`info server at (http://\S+:(\d+)/)`)

// start starts the kubelet, with its info server at the port that it had before.
func (h *host) start() {
	h.t.Helper()
	log, err := os.Create(h.path("log"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close()
	h.kubelet = h.command(append(h.flags, "-config="+h.path("manifests"), "-port="+h.port, "-sync_frequency=500ms")...)
	h.kubelet.Stderr = log
	if _, err := h.kubelet.StdinPipe(); err != nil { // with -step the kubelet ends with its input
		h.t.Fatal(err)
	}
	if err := h.kubelet.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.eventually("the kubelet logs where its page is", func() error {
		text, err := os.ReadFile(h.path("log"))
		if found := address.FindSubmatch(text); found != nil {
			h.url, h.port = string(found[1]), string(found[2])
			return nil
		}
		return fmt.Errorf("its log is %v\n%s", err, text)
	})
}

// stop ends the kubelet; its pods go on.
func (h *host) stop() {
	h.kubelet.Process.Signal(syscall.SIGTERM)
	defer time.AfterFunc(patience, func() { h.kubelet.Process.Kill() }).Stop()
	if err := h.kubelet.Wait(); err != nil {
		h.t.Errorf("the kubelet ended with %v", err)
	}
}

// link is the page's address with its key, which lets a browser read logs: links of the page have it.
func (h *host) link() string {
	h.t.Helper()
	token, err := os.ReadFile(h.path("root/token"))
	if err != nil {
		h.t.Fatal(err)
	}
	request, _ := http.NewRequest(http.MethodGet, h.url, nil)
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	key := regexp.MustCompile(`\?pretty=1&amp;(key=\w+)`).FindSubmatch(page)
	if err != nil || key == nil {
		h.t.Fatalf("the page has no link with a key: %v\n%s", err, page)
	}
	return h.url + "?" + string(key[1])
}

// write gives the kubelet the manifest of a pod. Its container has a command of hello, and runs until that succeeds.
func (h *host) write(id, image, command string) {
	h.t.Helper()
	h.put(id, manifest(id, image, command))
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
	h.t.Helper()
	var all []string
	for i := range pods {
		all = append(all, manifest(fmt.Sprintf("p%02d", i), hello, "sleep"))
	}
	h.put("all", strings.Join(all, "---\n"))
}

// put writes a file in one go.
func (h *host) put(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(h.path("aside"), []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(h.path("aside"), h.path("manifests/"+name+".yaml")); err != nil {
		h.t.Fatal(err)
	}
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

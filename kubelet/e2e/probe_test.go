package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serverWith is a pod of one web server, which keeps a diary in a directory of the
// test. More are lines that say something else of the container.
func serverWith(id, dir string, more ...string) string {
	return strings.NewReplacer("ID", id, "DIR", dir, "MORE", strings.Join(more, "\n    ")).Replace(`version: v1beta1
id: ID
volumes: [{name: data, source: {hostDir: {path: DIR}}}]
containers:
  - name: main
    image: HELLO
    command: [/hello, serve, -port, "8080", -diary, /data/ID]
    ports: [{name: http, containerPort: 8080}]
    volumeMounts: [{name: data, mountPath: /data}]
    MORE
`)
}

// ask fetches a page from a server in a pod, at the pod's own address.
func (h *host) ask(id, path string) error {
	h.t.Helper()
	c, err := h.one(id, "net")
	if err != nil {
		return err
	}
	net, err := h.inspect(c.id)
	if err != nil {
		return err
	}
	resp, err := http.Get(fmt.Sprintf("http://%s:8080%s", net.NetworkSettings.IPAddress, path))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s of pod %s: %s", path, id, resp.Status)
	}
	return nil
}

// mustServe asks a server once it is there. It may answer before Docker's list says
// that it runs.
func (h *host) mustServe(id, path string) {
	h.t.Helper()
	h.eventually("pod "+id+" serves "+path, func() error {
		if err := h.whole(id, "main"); err != nil {
			return err
		}
		return h.ask(id, path)
	})
}

// exited checks that a container is there and does not run any more.
func (h *host) exited(c container) error {
	detail, err := h.inspect(c.id)
	if err == nil && detail.State.Status != "exited" {
		err = fmt.Errorf("%s is %s", c, detail.State.Status)
	}
	return err
}

// A server is given 2 s to begin to listen: the first failure of a probe counts.
func TestIntegrationUnhealthyIsRestartedAndHealthyStays(t *testing.T) {
	for _, test := range []struct{ name, probe, spoil, words string }{
		{"httpGet", `httpGet: {path: /healthz, port: http}`, "/health?ok=false", ":8080/healthz: 500 Internal Server Error: not ok"},
		{"httpGet refused", `httpGet: {path: /healthz, port: 8080}`, "/close", ":8080/healthz: connection refused"},
		{"tcpSocket", `tcpSocket: {port: http}`, "/close", ":8080: connection refused"},
		{"exec", `exec: {command: [/hello, fetch, "http://localhost:8080/healthz"]}`, "/health?ok=false", `run "/hello": exit code 1: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			dir := t.TempDir()
			for _, id := range []string{"first", "second"} {
				h.write(id+".yaml", serverWith(id, dir, "livenessProbe: {initialDelaySeconds: 2, "+test.probe+"}"))
			}
			p := h.start("-sync_frequency=200ms")
			h.eventually("the pods are up", func() error { return h.sleepersAre("first", "second") })
			first, second := h.live("first", "main"), h.live("second", "main")

			h.mustServe("first", test.spoil)
			h.eventually("the spoilt container is replaced", func() error { return h.replaced("first", "main", first) })
			p.says("first.default.file", `stopped container "main" (attempt 1): its liveness probe failed: `, test.words)
			if err := h.exited(first); err != nil {
				t.Error(err)
			}
			mended := h.live("first", "main")
			h.mustKeep(map[string]string{second.name: second.id}, "second")

			// What happens to the other one later shows that probes have gone on.
			h.mustServe("second", test.spoil)
			h.eventually("the other container is replaced too", func() error { return h.replaced("second", "main", second) })
			h.mustKeep(map[string]string{mended.name: mended.id}, "first")
			h.mustServe("first", test.spoil)
			h.eventually("the new container is replaced when it is spoilt", func() error { return h.replaced("first", "main", mended) })
			h.mustServe("first", "/env") // else it may be deaf to the signal that ends it
		})
	}
}

func TestIntegrationUnhealthyOfAPodThatRunsOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	well := filepath.Join(dir, "well")
	h.writeFile(well, "fine") // and not the word ok, which 2014 wanted
	h.write("pod.yaml", "restartPolicy: {never: {}}\n"+serverWith("pod", dir, "livenessProbe: {exec: {command: [/hello, cat, /data/well]}}"))
	p := h.start("-sync_frequency=200ms")
	p.says("pod pod.default.file", "is up")
	main := h.live("pod", "main")
	h.mustServe("pod", "/healthz")

	if err := os.Remove(well); err != nil {
		t.Fatal(err)
	}
	h.eventually("the pod has failed", func() error { return p.shows("pod/", "failed") })
	if err := p.shows("pod/main", "terminated", "Unhealthy", "its liveness probe failed", "exit code 1: hello cat: open /data/well: no such file"); err != nil {
		t.Error(err)
	}
	if now := h.newest("pod", "main"); now.id != main.id {
		t.Errorf("it was restarted: %s, before %s", now, main)
	}
	if err := h.exited(main); err != nil {
		t.Error(err)
	}
}

func TestIntegrationInitialDelayOfAProbe(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", `version: v1beta1
id: pod
containers:
  - {name: prompt, image: HELLO, command: [/hello, sleep], livenessProbe: {tcpSocket: {port: 8080}}}
  - {name: patient, image: HELLO, command: [/hello, sleep], livenessProbe: {tcpSocket: {port: 8080}, initialDelaySeconds: 3600}}
`)
	h.start("-sync_frequency=200ms")
	h.eventually("the container without a delay is restarted more than once", func() error {
		c, err := h.one("pod", "prompt")
		if err == nil && c.attempt < "3" {
			err = fmt.Errorf("it is %s", c)
		}
		return err
	})
	if c := h.live("pod", "patient"); c.attempt != "1" {
		t.Errorf("the container with a delay was restarted: %s", c)
	}
}

// meanwhile has another pod started, changed and removed while something else goes
// on. begin begins that, and returns what tells whether it still goes on. On a busy
// machine it may be over too soon: then both are done again.
func (h *host) meanwhile(begin func() (goesOn func() bool)) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		goesOn := begin()
		h.write("aside.yaml", sleeper("aside"))
		h.eventually("another pod comes up", func() error { return h.whole("aside", "main") })
		old := h.live("aside", "main")
		h.write("aside.yaml", strings.ReplaceAll(sleeper("aside"), "sleep]", "sleep, -exit-on-term, '3']"))
		h.eventually("it is changed", func() error { return h.replaced("aside", "main", old) })
		h.remove("aside.yaml")
		h.eventually("it is removed", func() error { return h.gone("aside") })
		if goesOn() {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("no pod was started, changed and removed while the others were busy\n%s", h.describe())
		}
	}
}

func TestIntegrationAProbeThatHangsHoldsUpNoOtherPod(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	diary := filepath.Join(dir, "slow")
	h.write("slow.yaml", serverWith("slow", dir, "livenessProbe: {initialDelaySeconds: 2, httpGet: {path: /hang, port: http}}"))
	p := h.start("-sync_frequency=200ms")
	var story string
	h.meanwhile(func() (goesOn func() bool) {
		h.eventually("a probe waits for its answer", func() error {
			if story = read(diary); !strings.HasSuffix(story, "GET /hang\n") {
				return fmt.Errorf("the diary is %q", story)
			}
			return nil
		})
		return func() bool { return read(diary) == story }
	})
	p.says("slow.default.file", "its liveness probe failed: ", ":8080/hang: no answer within 5s")
	h.eventually("the container is stopped, and the next one probed", func() error {
		if now := read(diary); !strings.HasPrefix(now, story+"asked to stop\nGET /hang\n") {
			return fmt.Errorf("the diary is %q, before %q", now, story)
		}
		return nil
	})
}

// read gives what a file holds; nothing while it is not there.
func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIntegrationAPodOfToday is the walk through a kubelet that stands alone: a web server
// writes a log into a volume, and a second container empties it.
func TestIntegrationAPodOfToday(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web", `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: server
      image: HELLO
      command: [/hello, serve, -port, "8080", -diary, /logs/requests]
      volumeMounts: [{name: logs, mountPath: /logs}]
    - name: truncator
      image: HELLO
      args: [/hello, write, -every, 200ms, /logs/requests]
      volumeMounts: [{name: logs, mountPath: /logs}]
  volumes: [{name: logs, emptyDir: {}}]
`)
	p := h.start()
	h.await("the pod is up", func() error { return h.whole("web", "server", "truncator") })
	log := filepath.Join(h.rootDir, "pods", h.uid("web"), "volumes", "kubernetes.io~empty-dir", "logs", "requests")
	h.await("a request is in the log", func() error {
		asked := h.ask("web", "/")
		text, err := os.ReadFile(log)
		return errors.Join(asked, err, hasWords(string(text), []string{"GET /"}))
	})
	h.await("the log is emptied", func() error {
		text, err := os.ReadFile(log)
		if strings.Contains(string(text), "GET /") {
			err = fmt.Errorf("it has %q", text)
		}
		return err
	})
	for path, words := range map[string]string{"/pods": `"name":"web"`, "/healthz": "ok", "/spec/": "num_cores"} {
		h.check(hasWords(p.mustAsk("GET", path).body, []string{words}))
	}
	h.remove("web")
	h.awaitGone("web")
	h.await("its volume is gone", h.noVolumes)
}

// An upgrade overwrites the file: the init container runs again, and then the others.
func TestIntegrationInitContainers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	pod := func(release string) string {
		return strings.ReplaceAll(`
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: app, labels: {release: RELEASE}}
    spec:
      initContainers:
        - name: prepare
          image: HELLO
          command: [/hello, append, -for, 0s, /data/releases, RELEASE]
          volumeMounts: [{name: data, mountPath: /data}]
      containers:
        - name: app
          image: HELLO
          command: [/hello, serve, -port, "8080", -show, /data/releases]
          env: [{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: URL, value: "http://$(IP):8080/"}]
          volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
        - name: sidecar
          image: HELLO
          command: [/hello, write, -every, 100ms, /data/count]
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, emptyDir: {}}]
`, "RELEASE", release)
	}
	h.write("app", "version: v1beta1\nid: old\ncontainers: []\n---\n"+pod("one"))
	p := h.start()
	want := func(lines string) func() error {
		return func() error { return h.ask("app", "/", "Hello from pod app.\n"+lines) }
	}
	h.await("the first release", want("one\n"))
	p.awaitUp("app")
	ip := address(h.mustInspect(h.live("app", "net").id))
	h.check(hasWords(p.mustAsk("POST", "/run/default/app/app?cmd=/hello&cmd=env").body, []string{"URL=http://" + ip + ":8080/\n"}))
	h.await("a pod without containers is up", func() error { return h.whole("old") })
	p.kill()
	h.start()
	h.write("app", pod("two"))
	h.await("the second release", want("one\ntwo\n"))
	h.await("all of it", func() error { return h.whole("app", "app", "sidecar") })
	h.awaitGone("old")
	if n := len(h.of("app", "prepare")); n != 2 {
		t.Errorf("there are %d attempts of the init container, want 2", n)
	}
}

// kubeadm's control plane: its four files are taken as they are.
func TestIntegrationStaticPodsOfACluster(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	r := h.mustRun("-dry_run", "-config=testdata/cluster", "-root_dir="+h.rootDir)
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		r.mustExit(t, 0, "pod "+name+".kube-system.file", "create "+name+" (attempt 1)")
	}
}

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// TestIntegrationAPodOfToday is the walk through a kubelet that stands alone: a web server
// writes a log into a volume, and a second container empties it.
func TestIntegrationAPodOfToday(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("web", `
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
	p := h.Start()
	h.Await("the pod is up", func() error { return h.Whole("web", "server", "truncator") })
	log := filepath.Join(h.RootDir, "pods", h.UID("web"), "volumes", "kubernetes.io~empty-dir", "logs", "requests")
	h.Await("a request is in the log", func() error {
		asked := h.Ask("web", "/")
		text, err := os.ReadFile(log)
		return errors.Join(asked, err, unittest.HasWords(string(text), "GET /"))
	})
	h.Await("the log is emptied", func() error {
		text, err := os.ReadFile(log)
		if strings.Contains(string(text), "GET /") {
			err = fmt.Errorf("it has %q", text)
		}
		return err
	})
	for path, words := range map[string]string{"/pods": `"name":"web"`, "/healthz": "ok", "/spec/": "num_cores"} {
		unittest.Says(t, p.MustAsk("GET", path).Body, words)
	}
	h.Remove("web")
	h.AwaitGone("web")
	h.Await("its volume is gone", h.NoVolumes)
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
	h.Write("app", "version: v1beta1\nid: old\ncontainers: []\n---\n"+pod("one"))
	p := h.Start()
	want := func(lines string) func() error {
		return func() error { return h.Ask("app", "/", "Hello from pod app.\n"+lines) }
	}
	h.Await("the first release", want("one\n"))
	p.AwaitUp("app")
	ip := hosttest.Address(h.MustInspect(h.Live("app", "net").ID))
	unittest.Says(t, p.MustAsk("POST", "/run/default/app/app?cmd=/hello&cmd=env").Body, "URL=http://"+ip+":8080/\n")
	h.Await("a pod without containers is up", func() error { return h.Whole("old") })
	p.Kill()
	h.Start()
	h.Write("app", pod("two"))
	h.Await("the second release", want("one\ntwo\n"))
	h.Await("all of it", func() error { return h.Whole("app", "app", "sidecar") })
	h.AwaitGone("old")
	if n := len(h.Of("app", "prepare")); n != 2 {
		t.Errorf("there are %d attempts of the init container, want 2", n)
	}
}

// kubeadm's control plane: its four files are taken as they are.
func TestIntegrationStaticPodsOfACluster(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	r := h.MustRun("-dry_run", "-config=testdata/cluster", "-root_dir="+h.RootDir)
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		r.MustExit(t, 0, "pod "+name+".kube-system.file", "create "+name+" (attempt 1)")
	}
}

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"
)

// A server may take its time to listen and to answer. After that the first failure counts.
const probedPod = `apiVersion: v1
kind: Pod
metadata: {name: ID}
spec:
  containers:
  - name: main
    image: HELLO
    command: [/hello, serve, -port, "8080"]
    ports: [{name: http, containerPort: 8080}]
    startupProbe: {PROBE, periodSeconds: 1, timeoutSeconds: 60, failureThreshold: 1000}
    livenessProbe: {PROBE, periodSeconds: 1, timeoutSeconds: 60, failureThreshold: 1}
`

func TestIntegrationProbes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	kinds := map[string]struct{ probe, spoil, words string }{
		"http":    {`httpGet: {path: /healthz, port: http}`, "/health?ok=false", "500 Internal Server Error"},
		"refused": {`httpGet: {path: /healthz, port: 8080}`, "/close", "connection refused"},
		"tcp":     {`tcpSocket: {port: http}`, "/close", "connection refused"},
		"exec":    {`exec: {command: [/hello, fetch, "http://localhost:8080/healthz"]}`, "/health?ok=false", "exit code 1"},
	}
	for id, kind := range kinds {
		for _, id := range []string{id, id + "-well"} {
			h.Write(id, strings.NewReplacer("ID", id, "PROBE", kind.probe).Replace(probedPod))
		}
	}
	p := h.Start("-sync_frequency=200ms")
	old, healthy := map[string]hosttest.Container{}, map[string]hosttest.Container{}
	for id := range kinds {
		h.MustServe(id, "/env")
		h.AwaitUp(id + "-well")
		old[id], healthy[id] = h.Live(id, "main"), h.Live(id+"-well", "main")
	}
	// The second time shows that probes go on with the new container.
	for attempt := range 2 {
		for id, kind := range kinds {
			p.AwaitReady(id)
			h.MustServe(id, kind.spoil)
		}
		for id, kind := range kinds {
			next := h.AwaitReplaced(old[id])
			h.Check(h.Exited(old[id]))
			p.AwaitLog(id+".default.file", fmt.Sprintf("(attempt %d)", attempt+1), "liveness probe failed", kind.words)
			old[id] = next
		}
	}
	for id := range kinds {
		h.MustServe(id, "/env") // else it may not handle the signal yet that ends it
		if now := h.Live(id+"-well", "main"); now.ID != healthy[id].ID {
			t.Errorf("a healthy container was replaced: %s, before %s", now, healthy[id])
		}
	}
}

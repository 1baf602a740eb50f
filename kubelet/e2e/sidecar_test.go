package e2e

import (
	"fmt"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"
)

// sidecarPod has a server between two init containers, the second of which needs it, and a sidecar without a probe.
const sidecarPod = `
apiVersion: v1
kind: Pod
metadata: {name: pod}
spec:
  restartPolicy: Never
  initContainers:
  - {name: first, image: HELLO, command: [/hello, exit, "0"]}
  - name: mesh
    image: HELLO
    restartPolicy: Always
    command: [/hello, serve, -port, "8080"]
    startupProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1, timeoutSeconds: 60, failureThreshold: 1000}
    lifecycle: {preStop: {httpGet: {path: /, port: 8080}}}
  - {name: second, image: HELLO, command: [/hello, fetch, "http://localhost:8080/"]}
  - {name: log, image: HELLO, restartPolicy: Always, command: [/hello, sleep]}
  containers:
  - {name: main, image: HELLO, command: [/hello, sleep]}
`

// A sidecar serves the init containers after it and the app, comes back whatever the policy of its pod is, and ends with the app, which
// finishes the pod, also for the next kubelet.
func TestIntegrationSidecars(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("pod", sidecarPod)
	h.WriteSleepers("other")
	p := h.Start()
	p.AwaitUp("pod", "other")
	h.Must(h.Whole("pod", "mesh", "log", "main"))
	if fetched := h.MustInspect(h.Newest("pod", "second").ID); fetched.State.ExitCode != 0 {
		t.Errorf("the init container after the sidecar ended with %d", fetched.State.ExitCode)
	}
	main := h.Live("pod", "main")
	h.AwaitReplaced(h.Kill("pod", "mesh"))
	h.Await("the pod is whole again", func() error { return h.Whole("pod", "mesh", "log", "main") })
	if now := h.Live("pod", "main"); now.ID != main.ID {
		t.Errorf("the app is %s, and was %s", now, main)
	}
	mesh, log := h.Live("pod", "mesh"), h.Live("pod", "log")
	h.Must(h.Docker.StopContainer(main.ID, 60))
	p.AwaitShows("pod", "succeeded")
	h.Await("the sidecars have ended", func() error { return h.Ended("pod") })
	h.mustEndInTurn(main, log, mesh)
	p.AwaitShows("pod/mesh", "terminated")
	p.Kill()
	h.Start()
	h.Mend("other")
	h.Must(h.Ended("pod"))
}

// mustEndInTurn checks that each container has ended after the one before it.
func (h *host) mustEndInTurn(containers ...hosttest.Container) {
	h.T.Helper()
	text, last := "", h.MustInspect(containers[0].ID)
	for _, c := range containers {
		now := h.MustInspect(c.ID)
		text += fmt.Sprintf("%s at %v\n", c, now.State.FinishedAt)
		if now.State.Running || now.State.FinishedAt.Before(last.State.FinishedAt) {
			h.T.Errorf("they end in another order:\n%s", text)
		}
		last = now
	}
}

package e2e

import (
	"fmt"
	"testing"
)

const deadlineJobs = `
apiVersion: batch/v1
kind: Job
metadata: {name: slow}
spec:
  activeDeadlineSeconds: 4
  template:
    spec:
      restartPolicy: OnFailure
      containers: [{name: main, image: HELLO, command: [/hello, sleep]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: quick}
spec:
  activeDeadlineSeconds: 3600
  template:
    spec:
      restartPolicy: OnFailure
      containers: [{name: main, image: HELLO, command: [/hello, exit, "0"]}]
`

// A Job that is not done at its deadline is stopped and has failed, although its program then exits with 0, and stays so for the next
// kubelet and after somebody has started its containers. One that is done before has succeeded.
func TestIntegrationADeadline(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("jobs", deadlineJobs)
	h.WriteSleepers("other")
	p := h.Start()
	p.AwaitUp("other")
	failed := func() {
		t.Helper()
		p.AwaitShows("slow", "failed", "DeadlineExceeded", "it was not done within its activeDeadlineSeconds of 4")
		h.Await("nothing of it runs", func() error {
			for _, c := range h.Of("slow", "") {
				if c.Live() {
					return fmt.Errorf("%s runs", c)
				}
			}
			return nil
		})
	}
	failed()
	p.AwaitShows("quick", "succeeded")
	p.Kill()
	attempts := h.Of("slow", "")
	h.Must(h.Docker.StartContainer(h.Newest("slow", "net").ID, nil))
	p = h.Start()
	failed()
	h.Mend("other")
	failed()
	p.AwaitShows("quick", "succeeded")
	if now := h.Of("slow", ""); len(now) != len(attempts) {
		t.Errorf("it has other containers than %v:\n%s", attempts, h.Describe())
	}
}

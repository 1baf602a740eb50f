package probes

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// A clock that is set back, here by an hour, does not delay the first probe.
func TestAStartInTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan time.Duration, 1)
		begun := time.Now()
		probers := Probers{
			Period: 10 * time.Second, Note: func(_, _, _, _ string) {}, Wake: func() {},
			Exec: func(context.Context, string, []string, io.Writer) (int, error) {
				asked <- time.Since(begun)
				return 1, nil
			},
		}
		spec := &api.Container{Name: "main", LivenessProbe: &api.Probe{
			Exec: &api.ExecAction{Command: []string{"check"}}, InitialDelaySeconds: 15,
		}}
		pod := &plan.Pod{Apps: []plan.Container{{Name: "main", Spec: spec}}}
		c := plan.Observed{
			Listed:    dockertools.Listed{Of: dockertools.NameParts{Name: "main"}},
			Inspected: dockertools.Inspected{State: dockertools.StateRunning, StartedAt: begun.Add(time.Hour)},
		}
		ctx, cancel := context.WithCancel(t.Context())
		probers.Sync(ctx, pod.FullName(), pod, []plan.Observed{c}, "")
		if at := <-asked; at != 15*time.Second {
			t.Errorf("the first probe came after %v", at)
		}
		cancel()
		probers.Wait()
	})
}

package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"
)

// One of the two goes on, and nothing of the other is left.
func TestIntegrationTwoRootDirsInTheSameInstant(t *testing.T) {
	t.Parallel()
	for range 3 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			ids := []string{"web", "db", "more"}
			h.WriteSleepers(ids...)
			other := filepath.Join(h.Dir, "other")
			t.Cleanup(func() { h.MustRun("-cleanup", "-root_dir="+other) })
			processes := map[string]*hosttest.Process{h.RootDir: nil, other: nil}
			for rootDir := range processes {
				processes[rootDir] = h.Start("-root_dir="+rootDir, "-address=unix:"+rootDir+".sock", "-sync_frequency=200ms")
			}
			h.Await("one of them goes on, with all pods", func() error {
				running := ""
				for rootDir, p := range processes {
					if p.Running() {
						running += rootDir
					}
				}
				if processes[running] == nil {
					return fmt.Errorf("running: %q", running)
				}
				err := h.Up(ids...)
				for _, c := range h.Containers() {
					if c.Labels["kubelet14.root_dir"] != running {
						err = errors.Join(err, fmt.Errorf("%s is left", c))
					}
				}
				return err
			})
		})
	}
}

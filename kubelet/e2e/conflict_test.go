package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// One of the two goes on, and nothing of the other is left.
func TestIntegrationTwoRootDirsInTheSameInstant(t *testing.T) {
	t.Parallel()
	for range 3 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			ids := []string{"web", "db", "more"}
			h.writeSleepers(ids...)
			other := filepath.Join(h.dir, "other")
			t.Cleanup(func() { h.mustRun("-cleanup", "-root_dir="+other) })
			processes := map[string]*process{h.rootDir: nil, other: nil}
			for rootDir := range processes {
				processes[rootDir] = h.start("-root_dir="+rootDir, "-address=unix:"+rootDir+".sock", "-sync_frequency=200ms")
			}
			h.await("one of them goes on, with all pods", func() error {
				running := ""
				for rootDir, p := range processes {
					if p.running() {
						running += rootDir
					}
				}
				if processes[running] == nil {
					return fmt.Errorf("running: %q", running)
				}
				err := h.up(ids...)
				for _, c := range h.containers() {
					if c.labels["kubelet14.root_dir"] != running {
						err = errors.Join(err, fmt.Errorf("%s is left", c))
					}
				}
				return err
			})
		})
	}
}

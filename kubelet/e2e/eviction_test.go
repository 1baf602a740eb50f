package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/e2e/hosttest"
)

// onlyNodeFs are the flags of a kubelet that evicts only when its root_dir is full, whatever else this machine lacks.
var onlyNodeFs = []string{
	"-feature_gates=AllAlpha=true", "-eviction_hard=memory.available<0,imagefs.available<0", "-eviction_pressure_transition_period=1s",
}

// A pod fills the file system of the root_dir. It is evicted, and comes back with its data when there is room again,
// even if the kubelet is killed. Containers of others are left alone.
func TestIntegrationEvictionAndTheWayBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, options string // of the file system
		files, size   int    // what the pod writes
		message       string
	}{
		{"bytes", "size=16m", 1, 15 << 20, "less than 10%; this pod uses 15"},
		{"inodes", "nr_inodes=200", 180, 1, "less than 5%; this pod uses 18"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			unittest.Must(t, os.Mkdir(root, 0o755))
			if err := syscall.Mount("tmpfs", root, "tmpfs", 0, tt.options); errors.Is(err, fs.ErrPermission) {
				t.Logf("no mounts for this user: %v", err)
				return
			} else if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unittest.Must(t, syscall.Unmount(root, 0)) })
			other, h := newHost(t), newHost(t)
			h.RootDir = root
			stranger := h.stranger("stranger-"+h.Hostname, dockertools.HelloImage)
			other.WriteSleepers("neighbour")
			other.Start("-sync_frequency=1s").AwaitUp("neighbour")
			neighbour := other.IDs()

			h.Write("pod", hosttest.EmptyDirPod())
			h.WriteSleepers("idle")
			p := h.Start(onlyNodeFs...)
			p.AwaitUp("pod", "idle")
			idle := h.Live("idle", "main")
			data := filepath.Join(h.EmptyDirs(h.UID("pod")), "data")
			for i := range tt.files {
				h.Must(os.WriteFile(filepath.Join(data, fmt.Sprint(i)), make([]byte, tt.size), 0o644))
			}
			p.AwaitLog("pod.default.file", "nodefs", tt.message)
			h.AwaitGone("pod")
			p.Kill()
			p = h.Start(onlyNodeFs...)
			p.AwaitLog("pod.default.file waits", "no DiskPressure")
			if left := h.Of("pod", ""); len(left) > 0 {
				t.Errorf("a kubelet that was started under pressure has made %v", left)
			}
			for i := range tt.files {
				h.Must(os.Remove(filepath.Join(data, fmt.Sprint(i))))
			}
			p.AwaitUp("pod")
			h.Await("the pod goes on with its data", func() error { return hosttest.FileHolds(filepath.Join(data, "log"), "begun\nbegun\n") })
			if c := h.Live("idle", "main"); c.ID != idle.ID {
				t.Errorf("the pod that has written nothing has the container %v, and had %v", c, idle)
			}
			other.MustBe("after the eviction", neighbour)
			h.untouched("by an eviction", stranger)
		})
	}
}

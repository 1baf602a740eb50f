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
)

// onlyNodeFs are the flags of a kubelet that evicts when its root_dir is full, whatever else this machine lacks.
var onlyNodeFs = []string{
	"-feature_gates=AllAlpha=true", "-eviction_hard=memory.available<0,imagefs.available<0", "-eviction_pressure_transition_period=1s",
}

// A pod fills the file system of the root_dir. It is evicted, and comes back with its data when there is room again, also
// from a kubelet that was killed. The containers of others are left alone.
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
			h.rootDir = root
			stranger := h.stranger("stranger-"+h.hostname, helloImage)
			other.writeSleepers("neighbour")
			other.start("-sync_frequency=1s").awaitUp("neighbour")
			neighbour := other.ids()

			h.write("pod", emptyDirPod())
			h.writeSleepers("idle")
			p := h.start(onlyNodeFs...)
			p.awaitUp("pod", "idle")
			idle := h.live("idle", "main")
			data := filepath.Join(h.emptyDirs(h.uid("pod")), "data")
			for i := range tt.files {
				h.must(os.WriteFile(filepath.Join(data, fmt.Sprint(i)), make([]byte, tt.size), 0o644))
			}
			p.awaitLog("pod.default.file", "nodefs", tt.message)
			h.awaitGone("pod")
			p.kill()
			p = h.start(onlyNodeFs...)
			p.awaitLog("pod.default.file waits", "no DiskPressure")
			if left := h.of("pod", ""); len(left) > 0 {
				t.Errorf("a kubelet that was started under pressure has made %v", left)
			}
			for i := range tt.files {
				h.must(os.Remove(filepath.Join(data, fmt.Sprint(i))))
			}
			p.awaitUp("pod")
			h.await("the pod goes on with its data", func() error { return fileHolds(filepath.Join(data, "log"), "begun\nbegun\n") })
			if c := h.live("idle", "main"); c.id != idle.id {
				t.Errorf("the pod that has written nothing has the container %v, and had %v", c, idle)
			}
			other.mustBe("after the eviction", neighbour)
			h.untouched("by an eviction", stranger)
		})
	}
}

// With a threshold that is always met nothing is started, and the status says why.
func TestIntegrationNothingStartsUnderPressure(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("web")
	h.run("-config="+h.manifests, "-feature_gates=Eviction=true", "-dry_run").mustExit(t, 0, "-feature_gates=Eviction does nothing with -runonce and -dry_run")
	for range 2 { // the second one after a kill
		p := h.start("-feature_gates=Eviction=true", "-eviction_hard=memory.available<100%")
		p.awaitLog("web.default.file waits", "no MemoryPressure", "less than 100%")
		h.run("-status").mustExit(t, 1, "web.default.file", "failing", "NodePressure", "MemoryPressure since")
		if made := h.of("web", ""); len(made) > 0 {
			t.Errorf("under pressure it has made %v", made)
		}
		p.kill()
	}
	h.start("-feature_gates=Eviction=true", "-eviction_hard=memory.available<0,nodefs.available<0,nodefs.inodesFree<0,imagefs.available<0").awaitUp("web")
}

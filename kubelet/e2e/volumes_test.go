package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noVolumes checks that no volume is left, not even one that is to be deleted.
func (h *host) noVolumes() error {
	return errors.Join(dirHolds(filepath.Join(h.rootDir, "pods")), dirHolds(filepath.Join(h.rootDir, "trash")))
}

// dirHolds checks the names in a directory, which may be missing if there are none.
func dirHolds(dir string, want ...string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if err == nil && !slices.Equal(names, want) {
		err = fmt.Errorf("%s holds %v, want %v", dir, names, want)
	}
	return err
}

func missing(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s is there: %v", path, err)
}

// uid returns the UID of a pod, which its containers have in their names.
func (h *host) uid(id string) string {
	h.t.Helper()
	return strings.Split(h.newest(id, "").name, "_")[3]
}

// emptyDirs returns where the EmptyDirs of a UID are.
func (h *host) emptyDirs(uid string) string {
	return filepath.Join(h.rootDir, "pods", uid, "volumes", "kubernetes.io~empty-dir")
}

func fileHolds(path, want string) error {
	got, err := os.ReadFile(path)
	if err == nil && string(got) != want {
		err = fmt.Errorf("%s holds %q, want %q", path, got, want)
	}
	return err
}

func TestIntegrationEmptyDir(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod", emptyDirPod())
	h.write("other", strings.ReplaceAll(emptyDirPod(), "id: pod", "id: other"))
	h.start()
	isUp := func() error { return h.whole("pod", "main", "writer") }
	h.await("the pods are up", func() error { return errors.Join(isUp(), h.whole("other", "main", "writer")) })
	first, other := h.uid("pod"), h.uid("other")
	data := filepath.Join(h.emptyDirs(first), "data")

	// The volume outlives each of its containers.
	mark, log := filepath.Join(data, "mark"), filepath.Join(data, "log")
	h.writeFile(mark, "here since the beginning")
	old := h.live("pod", "main")
	h.write("pod", strings.ReplaceAll(emptyDirPod(), `"1"`, `"2"`))
	h.awaitReplaced(old)
	h.await("the writer has noted its start", func() error { return fileHolds(log, "begun\n") })
	h.kill("pod", "net")
	h.await("the pod is rebuilt around another network", func() error { return errors.Join(isUp(), fileHolds(log, "begun\nbegun\n")) })
	h.check(fileHolds(mark, "here since the beginning"))

	// A new uuid is a new pod with new volumes.
	second := h.hostname + "-second"
	h.write("pod", emptyDirPod("uuid: "+second))
	h.await("the pod with the new uuid is up", func() error {
		err := errors.Join(isUp(), fileHolds(filepath.Join(h.emptyDirs(second), "data", "log"), "begun\n"))
		for _, c := range h.of("pod", "") {
			if !strings.Contains(c.name, second) {
				err = fmt.Errorf("%s of the old pod is left", c)
			}
		}
		return err
	})
	h.check(missing(filepath.Join(h.emptyDirs(second), "data", "mark")))
	h.remove("pod")
	h.awaitGone("pod")
	h.await("only the volume of the other pod is left", func() error {
		return errors.Join(dirHolds(filepath.Join(h.rootDir, "pods"), other), dirHolds(filepath.Join(h.rootDir, "trash")))
	})
	h.check(fileHolds(filepath.Join(h.emptyDirs(other), "data", "log"), "begun\n"))
	h.check(h.whole("other", "main", "writer"))
}

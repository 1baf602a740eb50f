package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

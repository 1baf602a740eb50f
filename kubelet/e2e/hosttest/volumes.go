package hosttest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NoVolumes checks that no volume is left, not even one that is to be deleted.
func (h *Host) NoVolumes() error {
	return errors.Join(DirHolds(filepath.Join(h.RootDir, "pods")), DirHolds(filepath.Join(h.RootDir, "trash")))
}

// DirHolds checks the names in a directory, which may be missing if there are none.
func DirHolds(dir string, want ...string) error {
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

// UID returns the UID of a pod, which its containers have in their names.
func (h *Host) UID(id string) string {
	h.T.Helper()
	return strings.Split(h.Newest(id, "").Name, "_")[3]
}

// EmptyDirs returns where the EmptyDirs of a UID are.
func (h *Host) EmptyDirs(uid string) string {
	return filepath.Join(h.RootDir, "pods", uid, "volumes", "kubernetes.io~empty-dir")
}

func FileHolds(path, want string) error {
	got, err := os.ReadFile(path)
	if err == nil && string(got) != want {
		err = fmt.Errorf("%s holds %q, want %q", path, got, want)
	}
	return err
}

package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// terminationDir is where a pod's containers leave their termination messages:
// one file for each attempt of each.
const terminationDir = "termination"

func terminationFile(uid, container string) string {
	return filepath.Join(podsDir, uid, terminationDir, container)
}

// MakeTerminationFile makes the empty file that a container of the pod gets as its
// terminationMessagePath, and returns its path on the host. Any user of the
// container may write to it. container names the attempt, such as "web.3".
func (r *RootDir) MakeTerminationFile(uid, container string) (path string, err error) {
	rel := terminationFile(uid, container)
	if err := r.mkdirs(filepath.Dir(rel)); err != nil {
		return "", err
	}
	// A creation that was lost may have left one.
	if err := r.RemoveTerminationFile(uid, container); err != nil {
		return "", err
	}
	f, err := r.root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return "", fmt.Errorf("create termination file %q: %w", r.abs(rel), err)
	}
	// The umask does not apply to the containers.
	return r.abs(rel), errors.Join(f.Chmod(0o666), f.Close())
}

// ReadTerminationFile returns at most limit bytes of what a container has left
// there; nothing when there is no such file.
func (r *RootDir) ReadTerminationFile(uid, container string, limit int64) ([]byte, error) {
	rel := terminationFile(uid, container)
	info, err := r.lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a plain file (%v): remove it", r.abs(rel), info.Mode())
	}
	f, err := r.root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// RemoveTerminationFile removes the file of a container that is gone.
func (r *RootDir) RemoveTerminationFile(uid, container string) error {
	err := r.root.Remove(terminationFile(uid, container))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

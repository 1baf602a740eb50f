package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// terminationFile returns the path of the termination message of an attempt, such as "web.3".
func terminationFile(uid, attempt string) string {
	return filepath.Join(podsDir, uid, "termination", attempt)
}

// MakeTerminationFile creates the empty file that a container mounts at its
// terminationMessagePath, and returns its path on the host. Any user in the container may
// write to it.
func (r *RootDir) MakeTerminationFile(uid, attempt string) (path string, err error) {
	rel := terminationFile(uid, attempt)
	if err := r.mkdirAll(filepath.Dir(rel)); err != nil {
		return "", err
	}
	// A failed attempt to create the container may have left a file.
	f, err := r.dir.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return "", fmt.Errorf("create termination file %q: %w", r.abs(rel), err)
	}
	return r.abs(rel), errors.Join(f.Chmod(0o666), f.Close()) // the umask does not apply to Chmod
}

// ReadTerminationFile returns at most limit bytes of a termination message, or nothing if
// there is none.
func (r *RootDir) ReadTerminationFile(uid, attempt string, limit int64) ([]byte, error) {
	f, err := r.dir.Open(terminationFile(uid, attempt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// RemoveTerminationFile removes a termination message. It is not an error if there is none.
func (r *RootDir) RemoveTerminationFile(uid, attempt string) error {
	if r == nil {
		return nil
	}
	return r.dir.RemoveAll(terminationFile(uid, attempt))
}

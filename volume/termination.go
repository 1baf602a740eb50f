package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// terminationFile is the path of the message of an attempt of a container, as in "web.3".
func terminationFile(uid, attempt string) string {
	return filepath.Join(podsDir, uid, "termination", attempt)
}

// MakeTerminationFile makes the empty file that a container mounts at its
// terminationMessagePath, and returns its path on the host. Any user of the container may
// write to it.
func (r *RootDir) MakeTerminationFile(uid, attempt string) (path string, err error) {
	rel := terminationFile(uid, attempt)
	if err := r.mkdirAll(filepath.Dir(rel)); err != nil {
		return "", err
	}
	// A creation that failed may have left a file.
	f, err := r.dir.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return "", fmt.Errorf("create termination file %q: %w", r.abs(rel), err)
	}
	return r.abs(rel), errors.Join(f.Chmod(0o666), f.Close()) // the umask does not apply to Chmod
}

// ReadTerminationFile returns at most limit bytes of a termination message, and nothing if
// there is no file.
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

// RemoveTerminationFile removes a termination message; it is no error if there is none.
func (r *RootDir) RemoveTerminationFile(uid, attempt string) error {
	if r == nil {
		return nil
	}
	return r.dir.RemoveAll(terminationFile(uid, attempt))
}

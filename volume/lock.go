package volume

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockMarker opens the marker, makes it when it is missing, and takes its lock.
// The kernel lets go of it when the process ends, however it ends; programs that
// the process starts do not inherit it, as Go opens files close-on-exec.
func lockMarker(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(markerFile, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another kubelet14%s works in it: stop that one, or give this one a -root_dir and a -hostname_override of its own", holder(f))
	}
	if err == nil {
		err = writeMarker(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unlock ends the lock even when a process that is just being started still holds
// a copy of the file.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// writeMarker tells who holds the lock, and people what they look at. A crash in
// it does no harm: an empty marker marks as well.
func writeMarker(f *os.File) error {
	text := fmt.Sprintf("pid %d\n\nThis directory belongs to kubelet14, which keeps the volumes of its pods here and\n"+
		"deletes them when their pods are gone. Keep nothing of your own in it.\n", os.Getpid())
	_, err := f.WriteAt([]byte(text), 0)
	return errors.Join(err, f.Truncate(int64(len(text))))
}

// holder names the process that wrote the marker, when it says so.
func holder(f *os.File) string {
	var pid int
	if _, err := fmt.Fscanf(f, "pid %d", &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

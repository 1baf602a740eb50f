package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"syscall"
)

// The entries of a root_dir. The info server's token is there too.
const (
	markerFile = "kubelet14.lock"
	podsDir    = "pods"
	trashDir   = "trash"
	claimsDir  = "claims" // the kubelet deletes nothing there
)

const emptyDirs = "volumes/kubernetes.io~empty-dir" // in the directory of a pod

// marker is the content of the lock file: the process that holds the lock, and the hostname
// of the kubelet that has volumes there. A file that a crash left empty has none.
const marker = `pid %d
hostname %s
This directory belongs to kubelet14, which keeps the volumes of its pods here and
deletes them when their pods are gone, except those in claims. Keep nothing of your own in it.
`

// RootDir owns the pods, the trash and the claims below -root_dir. Its methods may be called concurrently.
type RootDir struct {
	path     string   // absolute, links resolved
	dir      *os.Root // path, opened, so that no name leads out of it
	lock     *os.File // the marker file, locked
	hostname string   // in the marker file at the time of opening
}

// AbsRootDir returns the absolute path of a root_dir, with links resolved if it exists. It
// does not touch the disk.
func AbsRootDir(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find root_dir %q: %w", path, err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return abs, nil
	}
	return resolved, err
}

// OpenRootDir creates the directory path if it is missing (0750), marks it as ours and
// locks it until Close or the end of the process. It refuses a directory that is neither
// empty nor marked, and one that another kubelet has locked.
func OpenRootDir(path string) (*RootDir, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("create root_dir %q: %w", path, err)
	}
	abs, err := AbsRootDir(path)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open root_dir %q: %w", abs, err)
	}
	lock, hostname, err := lockMarker(dir)
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("open root_dir %q: %w", abs, err)
	}
	return &RootDir{abs, dir, lock, hostname}, nil
}

// OpenExisting is OpenRootDir for a directory that a kubelet has used before. It creates
// nothing: if the directory is missing or empty, it returns nil, which has no volumes.
func OpenExisting(path string) (*RootDir, error) {
	dir, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("open root_dir %q: %w", path, err)
	}
	defer dir.Close()
	if err := checkOwner(dir); err != nil {
		return nil, fmt.Errorf("open root_dir %q: %w", path, err)
	}
	if _, err := dir.Lstat(markerFile); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return OpenRootDir(path)
}

// RecordHostname records the hostname of the kubelet that opened the directory. It refuses a directory
// with volumes of another hostname: that kubelet's containers may still use them, even if
// the directory was moved.
func (r *RootDir) RecordHostname(hostname string) error {
	uids, err := r.PodUIDs()
	if len(uids) > 0 && r.hostname != "" && r.hostname != hostname {
		return fmt.Errorf("root_dir %q has volumes of a kubelet with hostname %q; this one has hostname %q. "+
			"To carry on as that kubelet, give -hostname_override=%s -root_dir=%[1]s, at the directory's original path; "+
			"to remove its pods and volumes, run it with these two flags and -cleanup; or give this one another -root_dir", r.path, r.hostname, hostname, r.hostname)
	}
	return errors.Join(err, writeMarker(r.lock, hostname))
}

// writeMarker replaces the content of the lock file.
func writeMarker(f *os.File, hostname string) error {
	text := fmt.Sprintf(marker, os.Getpid(), hostname)
	_, err := f.WriteAt([]byte(text), 0)
	return errors.Join(err, f.Truncate(int64(len(text))))
}

// lockMarker opens or creates the lock file and locks it. The kernel releases the lock
// when the process ends. Child processes do not inherit the file.
func lockMarker(dir *os.Root) (f *os.File, hostname string, err error) {
	if err := checkOwner(dir); err != nil {
		return nil, "", err
	}
	if f, err = dir.OpenFile(markerFile, os.O_RDWR|os.O_CREATE, 0o640); err != nil {
		return nil, "", err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	var pid int // 0 until the other kubelet writes it
	fmt.Fscanf(f, "pid %d\nhostname %s\n", &pid, &hostname)
	if err == nil {
		err = writeMarker(f, hostname)
	} else if errors.Is(err, syscall.EWOULDBLOCK) {
		const format = "another kubelet14 (pid %d) is using it: stop that one, or give this one its own -root_dir and -hostname_override"
		err = fmt.Errorf(format, pid)
	}
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, hostname, nil
}

// checkOwner returns an error unless the directory is marked as ours, or empty.
func checkOwner(dir *os.Root) error {
	// List before looking for the marker: a kubelet that starts at the same time creates
	// the marker before anything else.
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	if _, err := dir.Lstat(markerFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		// A new ext4 file system contains the first, and users put credentials into the second.
		if name := entry.Name(); name != "lost+found" && name != ".dockercfg" {
			return fmt.Errorf("it is not empty (%q) and was not made by kubelet14, which deletes files there: "+
				"give -root_dir an empty or a new directory", name)
		}
	}
	return nil
}

// Path returns the absolute path of the directory, with links resolved.
func (r *RootDir) Path() string { return r.path }

// Close unlocks the directory. Its contents stay.
func (r *RootDir) Close() error {
	// A child process that is being started may hold a copy of the file, and with it the lock.
	return errors.Join(syscall.Flock(int(r.lock.Fd()), syscall.LOCK_UN), r.lock.Close(), r.dir.Close())
}

// abs returns the path on the host for a path in root_dir.
func (r *RootDir) abs(rel string) string { return filepath.Join(r.path, rel) }

// readDir lists the directory rel, sorted by name. It creates the directory if it is missing.
func (r *RootDir) readDir(rel string) ([]fs.DirEntry, error) {
	if r == nil {
		return nil, nil
	}
	if err := r.mkdirAll(rel); err != nil {
		return nil, err
	}
	return fs.ReadDir(r.dir.FS(), rel)
}

// Check returns an error if the directory at the path is no longer the one that this kubelet locked.
func (r *RootDir) Check() error {
	ours, err := r.lock.Stat()
	found, findErr := os.Lstat(r.abs(markerFile))
	if err != nil || findErr != nil || !os.SameFile(ours, found) {
		return fmt.Errorf("root_dir %q was removed or replaced, so the kubelet does nothing: put the original back, "+
			"or restart the kubelet if it is gone for good", r.path)
	}
	return nil
}

// mkdirAll creates the directory rel and its parents where they are missing.
func (r *RootDir) mkdirAll(rel string) error {
	if err := r.Check(); err != nil {
		return err
	}
	for level := range levels(rel) {
		if _, err := r.mkdir(level, 0o750); err != nil {
			return err
		}
	}
	return nil
}

// levels returns the directories above a relative path, outermost first, and then the path.
func levels(rel string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range rel + "/" {
			if c == '/' && !yield(rel[:i]) {
				return
			}
		}
	}
}

// mkdir creates one directory if it is missing. A link is an error, even if it stays inside
// root_dir: it could point to the volumes of another pod.
func (r *RootDir) mkdir(rel string, perm fs.FileMode) (fs.FileInfo, error) {
	if err := r.dir.Mkdir(rel, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create directory %q: %w", r.abs(rel), err)
	}
	info, err := r.dir.Lstat(rel)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%q is not a directory (%v): remove it", r.abs(rel), info.Mode())
	}
	return info, err
}

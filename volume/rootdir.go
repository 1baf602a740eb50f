package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The entries of a root_dir.
const (
	markerFile = "kubelet14.lock"
	podsDir    = "pods"
	trashDir   = "trash"
)

// RootDir is the one owner of all that is below -root_dir. Its methods may be
// called by any number of goroutines at once.
type RootDir struct {
	path      string   // absolute, without links
	root      *os.Root // path, opened: no name leads out of it
	lock      *os.File // the marker; holds the lock while it is open
	mountinfo string   // the kernel's table of mounts
}

// AbsRootDir is the absolute path, links resolved, that OpenRootDir would give the
// root_dir named path. It touches nothing, and path needs not exist.
func AbsRootDir(path string) (string, error) {
	if path == "" {
		return "", errors.New("-root_dir is empty: give it the path of a directory for the pods' volumes")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find root_dir %q: %w", path, err)
	}
	// What is not there yet is no link: resolve what is.
	existing, missing := abs, ""
	for {
		resolved, err := filepath.EvalSymlinks(existing)
		if err == nil {
			return filepath.Join(resolved, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find root_dir %q: %w", path, err)
		}
		missing = filepath.Join(filepath.Base(existing), missing)
		existing = filepath.Dir(existing)
	}
}

// OpenRootDir takes path for this kubelet: it creates the directory (0750), marks
// it as ours and locks it until Close, or until this process ends in any way. It
// refuses a directory that is neither empty nor marked, and one that another
// kubelet holds.
func OpenRootDir(path string) (*RootDir, error) {
	abs, err := AbsRootDir(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(abs, 0o750); err != nil {
		return nil, fmt.Errorf("create root_dir %q: %w: give -root_dir a directory that this user may make", abs, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open root_dir %q: %w", abs, err)
	}
	r := &RootDir{path: abs, root: root, mountinfo: "/proc/self/mountinfo"}
	if err := r.claim(); err != nil {
		root.Close()
		return nil, fmt.Errorf("open root_dir %q: %w", abs, err)
	}
	return r, nil
}

// claim finds out that the directory is ours, or may become ours, and locks it.
func (r *RootDir) claim() error {
	// The list comes first: a kubelet that makes the directory its own meanwhile
	// puts the marker there before anything else, so what was seen of it is marked.
	names, err := r.list(".")
	if err != nil {
		return err
	}
	marker, err := r.root.Lstat(markerFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A new ext4 file system has the one, and an operator may have put the other
		// there, with credentials for registries.
		names = slices.DeleteFunc(names, func(name string) bool { return name == "lost+found" || name == ".dockercfg" })
		if len(names) > 0 {
			return fmt.Errorf("it is not empty (%s) and was not made by kubelet14, which deletes what it finds there: give -root_dir an empty or a new directory", some(names))
		}
	case err != nil:
		return err
	case !marker.Mode().IsRegular():
		return fmt.Errorf("%q in it is not a plain file: remove it, or give another -root_dir", markerFile)
	}
	r.lock, err = lockMarker(r.root)
	return err
}

// some names the first few of names.
func some(names []string) string {
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i == 3 {
			fmt.Fprintf(&b, " and %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}

// Path is the absolute path of the directory, links resolved.
func (r *RootDir) Path() string { return r.path }

// Close gives the directory up; what is in it stays.
func (r *RootDir) Close() error {
	return errors.Join(unlock(r.lock), r.root.Close())
}

// abs is the path on the host of a path in root_dir.
func (r *RootDir) abs(rel string) string { return filepath.Join(r.path, rel) }

// lstat is the Lstat of rel, but an error when a directory above it is a link.
func (r *RootDir) lstat(rel string) (fs.FileInfo, error) {
	for i, c := range rel {
		if c != '/' {
			continue
		}
		info, err := r.root.Lstat(rel[:i])
		if err == nil {
			err = r.mustBeDir(rel[:i], info)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.root.Lstat(rel)
}

// list names what is in a directory, in no order.
func (r *RootDir) list(rel string) ([]string, error) {
	dir, err := r.root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// mkdirs makes rel and the directories above it, as far as they are missing.
func (r *RootDir) mkdirs(rel string) error {
	for i, c := range rel + "/" {
		if c != '/' {
			continue
		}
		if _, err := r.mkdir(rel[:i], 0o750); err != nil {
			return err
		}
	}
	return nil
}

// mkdir makes one directory, or finds it there. A link is not a directory, even one
// that stays in root_dir: it would make one pod's volume another's.
func (r *RootDir) mkdir(rel string, perm fs.FileMode) (fs.FileInfo, error) {
	if err := r.root.Mkdir(rel, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create directory %q: %w", r.abs(rel), err)
	}
	info, err := r.root.Lstat(rel)
	if err != nil {
		return nil, fmt.Errorf("create directory %q: %w", r.abs(rel), err)
	}
	return info, r.mustBeDir(rel, info)
}

func (r *RootDir) mustBeDir(rel string, info fs.FileInfo) error {
	if info.IsDir() {
		return nil
	}
	return fmt.Errorf("%q is not a directory (%v): remove it", r.abs(rel), info.Mode())
}

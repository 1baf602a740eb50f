package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// emptyDirKind is the directory that holds a pod's volumes of this kind.
const emptyDirKind = "kubernetes.io~empty-dir"

// EmptyDirectory is a directory in root_dir that begins empty, is shared by the
// containers of one pod and lives as long as the pod's UID is wanted.
type EmptyDirectory struct {
	name, podUID string
	root         *RootDir
}

func createEmptyDirectory(name, podUID string, root *RootDir) (Interface, error) {
	// Manifests are validated; a name that got past that must not become a path.
	if err := errors.Join(checkElement("volume name", name), checkElement("uid", podUID)); err != nil {
		return nil, fmt.Errorf("create volume %q of uid %q: %w", name, podUID, err)
	}
	return &EmptyDirectory{name: name, podUID: podUID, root: root}, nil
}

// rel is the volume's path in root_dir.
func (e *EmptyDirectory) rel() string {
	return filepath.Join(podsDir, e.podUID, "volumes", emptyDirKind, e.name)
}

// GetPath is <root_dir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>.
func (e *EmptyDirectory) GetPath() string {
	return e.root.abs(e.rel())
}

// SetUp makes the directory with mode 0777, so that a container's user needs not
// be root to write; the directories above keep everybody else out.
func (e *EmptyDirectory) SetUp() error {
	rel := e.rel()
	if err := e.root.mkdirs(filepath.Dir(rel)); err != nil {
		return err
	}
	// The umask applies to a Mkdir and not to a Chmod. Made with mode 0, a directory
	// that a crash left between the two is known; any other mode is the wish of a
	// container that has used the volume, and stays.
	info, err := e.root.mkdir(rel, 0)
	if err != nil || info.Mode().Perm() != 0 {
		return err
	}
	if err := e.root.root.Chmod(rel, 0o777); err != nil {
		return fmt.Errorf("open directory %q to the containers: %w", e.GetPath(), err)
	}
	return nil
}

// TearDown deletes the volume and its data, by way of the trash.
func (e *EmptyDirectory) TearDown(ctx context.Context) error {
	entry, err := e.root.setAside(e.rel(), e.podUID+"."+e.name)
	if err != nil || entry == "" {
		return err
	}
	return e.root.deleteTrash(ctx, entry)
}

// checkElement refuses what is not the plain name of one entry of a directory.
func checkElement(what, s string) error {
	if s == "" || strings.HasPrefix(s, ".") || strings.ContainsAny(s, "/\\\x00") {
		return fmt.Errorf("%s %q: must not be empty, begin with a dot or hold a slash: %w", what, s, fs.ErrInvalid)
	}
	return nil
}

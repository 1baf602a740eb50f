package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"kubelet14/api"
)

// Interface is a directory that the containers of a pod can mount. Its methods are
// idempotent. Only the worker of the pod calls them.
type Interface interface {
	// SetUp prepares the directory for mounting and leaves existing data alone.
	SetUp() error
	// GetPath returns the absolute path of the directory on the host.
	GetPath() string
}

// CreateVolume returns the volume that v, with defaults filled in, describes for a pod. It
// does not touch the disk.
func CreateVolume(v *api.Volume, pod *api.Pod, root *RootDir) (Interface, error) {
	if dir := v.Source.HostDir; dir != nil {
		return &HostDirectory{*dir}, nil
	}
	if claim := v.Source.Claim; claim != nil {
		if err := errors.Join(checkName("namespace", pod.Namespace), checkName("claim", claim.Name)); err != nil {
			return nil, fmt.Errorf("create volume %q: %w", v.Name, err)
		}
		return &ClaimDirectory{directory{filepath.Join(claimsDir, pod.Namespace, claim.Name), pod.Manifest.FSGroup, root}}, nil
	}
	// Validation checks these names too, but a gap there must not become a path.
	if err := errors.Join(checkName("volume name", v.Name), checkName("uid", pod.UID)); err != nil {
		return nil, fmt.Errorf("create volume %q of uid %q: %w", v.Name, pod.UID, err)
	}
	return &EmptyDirectory{directory{filepath.Join(podsDir, pod.UID, emptyDirs, v.Name), pod.Manifest.FSGroup, root}}, nil
}

// checkName returns an error unless name can be a single directory entry.
func checkName(what, name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%s %q: must not be empty, begin with a dot or contain a slash: %w", what, name, fs.ErrInvalid)
	}
	return nil
}

// EmptyDirectory is a directory below root_dir that starts empty. In 2014 its path had
// the pod's name in place of the UID, so same-named pods from two sources shared data.
type EmptyDirectory struct{ directory }

// SetUp creates the directory, in which any user of a container can write.
func (e *EmptyDirectory) SetUp() error {
	_, err := e.create()
	return err
}

// HostDirectory is a directory of the host, or another kind of file if its type says so.
type HostDirectory struct{ api.HostDir }

func (h *HostDirectory) GetPath() string { return h.Path }

// hostDirModes maps each type to the kind of file that must be at the path.
var hostDirModes = map[api.HostDirType]fs.FileMode{
	api.HostDirDirectory: fs.ModeDir, api.HostDirDirectoryOrCreate: fs.ModeDir, api.HostDirFile: 0, api.HostDirFileOrCreate: 0,
	api.HostDirSocket: fs.ModeSocket, api.HostDirCharDevice: fs.ModeDevice | fs.ModeCharDevice, api.HostDirBlockDevice: fs.ModeDevice,
}

// SetUp checks the file at the path, and creates it if the type says so. Without a type it
// checks nothing, as in 2014.
func (h *HostDirectory) SetUp() error {
	mode, typed := hostDirModes[h.Type]
	if !typed {
		return nil
	}
	info, err := os.Stat(h.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && h.Type == api.HostDirDirectoryOrCreate:
		return os.MkdirAll(h.Path, 0o755)
	case missing && h.Type == api.HostDirFileOrCreate:
		f, err := os.OpenFile(h.Path, os.O_CREATE, 0o644)
		if err == nil {
			f.Close()
		}
		return err
	case missing:
		return fmt.Errorf("%s is missing, and must be a %s", h.Path, h.Type)
	case err == nil && info.Mode().Type() != mode:
		return fmt.Errorf("%s is not a %s: its mode is %v", h.Path, strings.TrimSuffix(string(h.Type), "OrCreate"), info.Mode())
	}
	return err
}

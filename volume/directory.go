package volume

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// directory is a directory below root_dir that any user of a container may write.
type directory struct {
	rel   string // its path in root_dir
	group *int64 // GID; nil: the kubelet's
	root  *RootDir
}

// GetPath returns the absolute path of the directory on the host.
func (d *directory) GetPath() string { return d.root.abs(d.rel) }

// create makes the directory, if it is missing, with mode 0777, so that any user in a container can write. Users of the
// host cannot enter the directories above it. The group, if there is one, gets the directory and what is made in it from then on.
func (d *directory) create() (made bool, err error) {
	if err := d.root.mkdirAll(filepath.Dir(d.rel)); err != nil {
		return false, err
	}
	// Mode 0 means that a crash came between Mkdir and Chmod. Any other mode was set by
	// a container and stays. The umask does not apply to Chmod.
	info, err := d.root.mkdir(d.rel, 0)
	if err != nil {
		return false, err
	}
	mode := info.Mode()
	if made = mode.Perm() == 0; made {
		mode |= 0o777 // a part of a directory with a group has its setgid bit already
		err = d.root.dir.Chmod(d.rel, mode)
	}
	if d.group != nil && int64(info.Sys().(*syscall.Stat_t).Gid) != *d.group {
		err = errors.Join(err, d.root.dir.Chown(d.rel, -1, int(*d.group)), d.root.dir.Chmod(d.rel, mode|fs.ModeSetgid))
	}
	return made, err
}

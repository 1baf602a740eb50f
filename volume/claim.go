package volume

import (
	"io/fs"
	"path/filepath"

	"github.com/golang/glog"
)

// ClaimDirectory is a directory below root_dir that all pods of a namespace that name it share. It starts empty, stays when its
// pods are gone, and is never deleted: a new root_dir has none of them.
type ClaimDirectory struct{ directory }

// SetUp creates the directory, in which any user of a container can write, and logs where it is.
func (c *ClaimDirectory) SetUp() error {
	made, err := c.create()
	if made {
		glog.Infof("made the claim %s; it stays until you remove it", c.GetPath())
	}
	return err
}

// Claims returns the paths of all claims, sorted.
func (r *RootDir) Claims() (paths []string, err error) {
	if r == nil {
		return nil, nil
	}
	rels, err := fs.Glob(r.dir.FS(), filepath.Join(claimsDir, "*", "*"))
	for _, rel := range rels {
		paths = append(paths, r.abs(rel))
	}
	return paths, err
}

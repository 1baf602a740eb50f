package volume

import (
	"fmt"
	"path/filepath"
)

// part is a directory or a file of a volume.
type part struct {
	Interface
	rel string // its path in the volume
}

// Part returns a part of a volume. Its SetUp sets up the volume too. In a volume below root_dir it makes the directory if it is
// missing, and fails if there is a link on the way, which Docker would follow to any file of the host.
func Part(v Interface, rel string) Interface { return &part{v, filepath.Clean(rel)} }

func (p *part) GetPath() string { return filepath.Join(p.Interface.GetPath(), p.rel) }

// String tells parts apart, see SetUps.
func (p *part) String() string { return fmt.Sprint(p.Interface, p.rel) }

func (p *part) SetUp() error {
	err := p.Interface.SetUp()
	if d, ok := p.Interface.(interface{ createPart(rel string) error }); ok && err == nil {
		err = d.createPart(p.rel)
	}
	return err
}

// createPart makes a directory in the directory, and all above it, as create does. A file that is there stays.
func (d *directory) createPart(rel string) error {
	for level := range levels(rel) {
		sub := directory{filepath.Join(d.rel, level), d.group, d.root}
		if info, err := d.root.dir.Lstat(sub.rel); err == nil && info.Mode().IsRegular() && level == rel {
			return nil
		}
		if _, err := sub.create(); err != nil {
			return err
		}
	}
	return nil
}

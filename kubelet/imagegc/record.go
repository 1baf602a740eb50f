package imagegc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
	"kubelet14/volume"
)

// record is the content of a file that records a pull of this kubelet. Losing the file does no harm: the image stays.
type record struct{ Name, ID string }

// PullImage pulls an image and records the pull. It makes no record if Docker had that name or that image before, unless
// from an earlier pull of this kubelet, or if somebody else pulls the image meanwhile.
func (c *Collector) PullImage(ctx context.Context, image string, auth dockertools.Auth, progress func(dockertools.PullProgress)) error {
	name := dockertools.ImageName(image)
	c.update(name, func(p *pull) { p.running, p.unseen = p.running+1, p.unseen+1 })
	defer c.update(name, func(p *pull) { p.running-- })
	before, listErr := c.ListImages(ctx)
	if err := c.Interface.PullImage(ctx, image, auth, progress); err != nil {
		c.update(name, func(p *pull) { p.unseen = max(p.unseen-1, 0) }) // a failed pull has no event
		return err
	}
	id, _, err := c.InspectImage(ctx, image)
	ours := c.pulled()[name]
	foreign := slices.ContainsFunc(before, func(i dockertools.Image) bool {
		named := slices.ContainsFunc(slices.Concat(i.Tags, i.Digests), func(other string) bool { return dockertools.ImageName(other) == name })
		return i.ID != ours && (named || i.ID == id)
	})
	if err = cmp.Or(listErr, err); err == nil && !foreign {
		c.update(name, func(p *pull) {
			if !p.theirs {
				err = c.write(record{name, id})
			}
		})
	}
	if err != nil {
		glog.Warningf("image %q will never be collected: %v", image, err)
	}
	return nil
}

// dir returns the directory of the records.
func (c *Collector) dir() string { return filepath.Join(c.RootDir, "image_manager", "pulled") }

func (c *Collector) path(name string) string {
	return filepath.Join(c.dir(), fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
}

// write writes a record atomically. It does not create the root_dir.
func (c *Collector) write(r record) error {
	_ = os.Mkdir(filepath.Dir(c.dir()), 0o750)
	_ = os.Mkdir(c.dir(), 0o750)
	text, _ := json.Marshal(r) // strings always marshal
	return volume.WriteFile(c.path(r.Name), append(text, '\n'))
}

// pulled reads the records, and skips files that are not one.
func (c *Collector) pulled() map[string]string {
	ids := map[string]string{}
	files, _ := os.ReadDir(c.dir())
	for _, f := range files {
		var r record
		path := filepath.Join(c.dir(), f.Name())
		text, _ := os.ReadFile(path)
		if json.Unmarshal(text, &r) == nil && c.path(r.Name) == path {
			ids[r.Name] = r.ID
		}
	}
	return ids
}

// forget removes the records of images that are gone. If somebody else pulls such an image, it is theirs.
func (c *Collector) forget(w World) {
	for name, id := range w.Pulled {
		if !slices.ContainsFunc(w.Images, func(i dockertools.Image) bool { return i.ID == id }) {
			_ = os.Remove(c.path(name))
		}
	}
}

// Package imagegc removes images that this kubelet pulled and nobody needs any more, when the disk is nearly full.
// Upstream: pkg/kubelet/images/image_gc_manager.go, which removes everybody's images.
//
//	PullImage ─▶ a record in the root_dir ─▶ Candidates, which is pure ─▶ Collect: RemoveImage, never by force
//
// Not implemented: a maximum age, and images whose name has moved to a newer one, which `docker image prune` removes.
package imagegc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/docker/go-units"
	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/node"
)

// restInterval is the time between two looks at the images while there is room. They find out since when an image is unneeded.
const restInterval = time.Minute

// Options are the settings of a Collector.
type Options struct {
	High, Low int           // how full the file system must be to start and to end a collection, in percent
	MinAge    time.Duration // how long an image must have been unneeded
}

// Collector is a Docker that records its pulls, and removes the images when there is no room. Every exported field must be set. Its
// methods may be called concurrently, except that only one goroutine may call Collect.
type Collector struct {
	dockertools.Interface
	Options
	RootDir  string
	Needed   func() (images []string, complete bool) // images of desired pods; complete once every source has been read
	Pressure func() bool                             // reports pressure on the disk of the images
	Note     func(reason, message string)            // records an event
	Removed  func()                                  // counts a removed image

	mu    sync.Mutex
	pulls map[string]*pull // guarded by mu; by name

	// The one goroutine that calls Collect owns the rest.
	looked     time.Time
	since      map[string]time.Time // when each image was first seen unneeded, by id
	layers     map[string][]string  // of the images at the last look, by id
	collecting bool
}

// Collect starts to remove images when their file system is as full as High, and goes on until it is below Low, longest unneeded
// first. Under pressure it removes every image that it may.
func (c *Collector) Collect(ctx context.Context, f node.Facts) {
	total, used := float64(f.ImageFS.Total), float64(f.ImageFS.Total-f.ImageFS.Available)
	excess, why := used-total*float64(c.Low)/100, fmt.Sprintf("their file system is %.0f %% full", 100*used/total)
	c.collecting = total > 0 && c.High < 100 && (used >= total*float64(c.High)/100 || c.collecting && excess > 0)
	if c.Pressure() {
		excess, why = math.Inf(1), "their disk runs short"
	} else if !c.collecting {
		excess = 0
	}
	if excess <= 0 && time.Since(c.looked) < restInterval {
		return
	}
	for _, image := range c.look(ctx) {
		name := nameOf(image)
		if excess <= 0 || time.Since(c.since[image.ID]) < c.MinAge {
			break
		}
		if err := c.RemoveImage(ctx, name); ctx.Err() != nil {
			return
		} else if err != nil {
			glog.Warningf("%v; will try again", err)
			c.since[image.ID] = time.Now()
			continue
		}
		_ = os.Remove(c.path(name)) // see forget
		excess -= float64(image.Size)
		message := fmt.Sprintf("%s (%s): nobody needs it, and %s", name, units.HumanSize(float64(image.Size)), why)
		glog.Infof("removed image %s", message)
		c.Note("ImageCollected", message)
		c.Removed()
	}
}

// look returns the candidates, longest unneeded first. It returns none until all sources have been read, and none while Docker
// does not answer, which the sync loop reports. The order matters: records are read first, so their images are in the list;
// Needed is called last, so a container too new for the list belongs to a desired pod.
func (c *Collector) look(ctx context.Context) (candidates []dockertools.Image) {
	w := World{Pulled: c.pulled(), Needed: map[string]bool{}}
	var err, listErr, layersErr error
	w.Images, err = c.ListImages(ctx)
	w.Containers, listErr = c.ListContainers(ctx, nil)
	if len(w.Pulled) > 0 {
		w.Layers, layersErr = c.readLayers(ctx, w.Images)
	}
	c.addPulling(w.Needed)
	needed, complete := c.Needed()
	for _, image := range needed {
		w.Needed[dockertools.ImageName(image)] = true
	}
	seen := map[string]time.Time{}
	if err == nil && listErr == nil && layersErr == nil && complete {
		c.forget(w)
		candidates = Candidates(w)
	}
	for _, image := range candidates {
		seen[image.ID] = time.Now()
		if first, known := c.since[image.ID]; known {
			seen[image.ID] = first
		}
	}
	slices.SortFunc(candidates, func(a, b dockertools.Image) int {
		return cmp.Or(seen[a.ID].Compare(seen[b.ID]), cmp.Compare(nameOf(a), nameOf(b)))
	})
	c.since, c.looked = seen, time.Now()
	return candidates
}

// readLayers returns the layers of images. They never change, so Docker is asked once for each id.
func (c *Collector) readLayers(ctx context.Context, images []dockertools.Image) (map[string][]string, error) {
	layers := map[string][]string{}
	for _, i := range images {
		known, ok := c.layers[i.ID]
		if !ok {
			var err error
			if known, err = c.ImageLayers(ctx, i.ID); errors.Is(err, dockertools.ErrNoSuchImage) { // removed after the list
				continue
			} else if err != nil {
				return nil, err
			}
		}
		layers[i.ID] = known
	}
	c.layers = layers
	return layers, nil
}

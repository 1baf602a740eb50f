// Package imagegc removes images that this kubelet has pulled and nobody needs any more, when the disk is nearly full.
// Upstream: pkg/kubelet/images/image_gc_manager.go, which removes everybody's images.
//
//	PullImage ─▶ a record in the root_dir ─▶ Candidates, which is pure ─▶ Collect: RemoveImage, never by force
//
// Left out: a maximum age, and images that have lost their name to a newer one, which `docker image prune` removes.
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

// restInterval is between two looks at the images while there is room, which find out since when one is unneeded.
const restInterval = time.Minute

// Options are the settings of a Collector.
type Options struct {
	High, Low int           // percent of the file system of images that begin and end a collection
	MinAge    time.Duration // for which an image must have been unneeded
}

// Collector is a Docker that records what is pulled, and removes it when there is no room. Every exported field must be set. Its
// methods may be called concurrently, but Collect by one goroutine only.
type Collector struct {
	dockertools.Interface
	Options
	RootDir  string
	Needed   func() (images []string, complete bool) // by desired pods; complete once every source was read
	Pressure func() bool                             // on the disk of images; another one would not get emptier
	Note     func(reason, message string)            // records an event
	Removed  func()                                  // counts an image

	mu    sync.Mutex
	pulls map[string]*pull // guarded by mu; by name

	// The one goroutine that calls Collect owns the rest.
	looked     time.Time
	since      map[string]time.Time // when an image, by id, was first seen unneeded
	layers     map[string][]string  // of the images of the last look, by id
	collecting bool
}

// Collect removes images from when their file system is as full as High until it is below Low, those first that have been
// unneeded for the longest time. Under pressure it removes all that it may.
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
			glog.Warningf("%v; it is tried again", err)
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

// look returns the candidates, with the longest unneeded first; none while it is not known what pods need, or Docker does not
// answer, which the sync loop reports. Records are read first: their images are in the list. What is needed is asked for
// last: a container that the list does not have is that of a desired pod.
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

// readLayers returns the layers of images. Those of an id never change, so each is asked for once.
func (c *Collector) readLayers(ctx context.Context, images []dockertools.Image) (map[string][]string, error) {
	layers := map[string][]string{}
	for _, i := range images {
		known, ok := c.layers[i.ID]
		if !ok {
			var err error
			if known, err = c.ImageLayers(ctx, i.ID); errors.Is(err, dockertools.ErrNoSuchImage) { // it is gone since the list
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

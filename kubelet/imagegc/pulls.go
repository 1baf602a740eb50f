package imagegc

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// Docker keeps no trace of a pull of an image that is there and still the same. It only sends an event for each pull that
// succeeds, and does not say whose. So the pulls of this kubelet are counted, and one more than these is somebody else's.

// pull is what is known of this kubelet's pulls of a name.
type pull struct {
	running int  // calls of PullImage
	unseen  int  // pulls whose event is still to come
	theirs  bool // somebody else has pulled it meanwhile
}

// Watch gives up the images that somebody else pulls, until ctx is done.
func (c *Collector) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.WatchPulls(ctx, c.sawPull); err != nil {
			glog.V(1).Infof("watch pulls: %v; it is tried again", err) // the sync loop says what is wrong with Docker
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// sawPull takes in an event. An empty name begins the stream: events from before may be lost.
func (c *Collector) sawPull(image string) {
	if image == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		maps.DeleteFunc(c.pulls, func(_ string, p *pull) bool { p.unseen = p.running; return p.running == 0 })
		return
	}
	name := dockertools.ImageName(image)
	c.note(name, func(p *pull) {
		if p.unseen > 0 {
			p.unseen--
			return
		}
		p.theirs = true
		_ = os.Remove(c.path(name)) // see forget
	})
}

// note changes what is known of the pulls of a name, and forgets it when there is nothing left to know.
func (c *Collector) note(name string, change func(*pull)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pulls == nil {
		c.pulls = map[string]*pull{}
	}
	if c.pulls[name] == nil {
		c.pulls[name] = &pull{}
	}
	p := c.pulls[name]
	change(p)
	if p.running == 0 {
		p.theirs = false
		if p.unseen == 0 {
			delete(c.pulls, name)
		}
	}
}

// addPulling adds the names that this kubelet pulls now.
func (c *Collector) addPulling(names map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.pulls {
		names[name] = names[name] || p.running > 0
	}
}

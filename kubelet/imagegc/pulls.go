package imagegc

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// Docker keeps no trace of a pull that changes nothing. It only sends an event for each successful pull, without saying who
// pulled. So this kubelet counts its own pulls, and takes any further event for somebody else's.

// pull is the state of this kubelet's pulls of one name.
type pull struct {
	running int  // calls of PullImage
	unseen  int  // pulls whose event is still to come
	theirs  bool // somebody else pulled it meanwhile
}

// Watch gives up every image that somebody else pulls, until ctx is done.
func (c *Collector) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.WatchPulls(ctx, c.sawPull); err != nil {
			glog.V(1).Infof("watch pulls: %v; will try again", err) // the sync loop reports Docker's problem
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// sawPull handles an event. An empty name means that the stream begins, and that earlier events may be lost.
func (c *Collector) sawPull(image string) {
	if image == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		maps.DeleteFunc(c.pulls, func(_ string, p *pull) bool { p.unseen = p.running; return p.running == 0 })
		return
	}
	name := dockertools.ImageName(image)
	c.update(name, func(p *pull) {
		if p.unseen > 0 {
			p.unseen--
			return
		}
		p.theirs = true
		_ = os.Remove(c.path(name)) // see forget
	})
}

// update changes the state of a name, and deletes it once it is empty.
func (c *Collector) update(name string, change func(*pull)) {
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

// addPulling adds the names that this kubelet is pulling.
func (c *Collector) addPulling(names map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.pulls {
		names[name] = names[name] || p.running > 0
	}
}

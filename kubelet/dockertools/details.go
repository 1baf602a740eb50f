package dockertools

import (
	"context"
	"errors"
	"sync"
)

// detailCache remembers what an inspect said, so that a sync in which nothing
// has changed makes none. What is known of a container holds while its key
// stays the same and no event names it.
type detailCache struct {
	mu         sync.Mutex
	known      map[string]knownDetails // by container id
	generation int                     // grows with every Forget, so that an inspect that was on its way is not kept
}

type knownDetails struct {
	key     string
	details Details
}

// Details inspects a listed container, or remembers. The key must change whenever
// what the caller sees of the container and of its network does. What contradicts
// the list is not remembered: the next list may.
func (l *Lister) Details(ctx context.Context, o Owned, key string) (Details, error) {
	c := &l.details
	c.mu.Lock()
	known, ok := c.known[o.ID]
	generation := c.generation
	c.mu.Unlock()
	if ok && known.key == key {
		return known.details, nil
	}

	details, err := l.docker.InspectContainer(ctx, o.ID)
	if err != nil {
		return Details{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation == generation && details.State == o.State {
		c.known[o.ID] = knownDetails{key, details}
	}
	return details, nil
}

// Forget makes the next look at a container ask Docker again; an empty id means
// every container, as after a gap in the events.
func (l *Lister) Forget(id string) {
	c := &l.details
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if id == "" {
		clear(c.known)
	} else {
		delete(c.known, id)
	}
}

func (c *detailCache) keepOnly(owned []Owned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := make(map[string]bool, len(owned))
	for i := range owned {
		listed[owned[i].ID] = true
	}
	for id := range c.known {
		if !listed[id] {
			delete(c.known, id)
		}
	}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

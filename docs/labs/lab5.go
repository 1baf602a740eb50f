package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
)

// lab5 checks that a pod that takes long holds up no other, and that nothing is lost meanwhile. The proxy holds a
// request to stop until the check lets it go, so nothing depends on times.
func lab5(c *check) {
	c.proxy.check = c.noDoubles
	c.proxy.oneAtATime = true
	c.do("writes slow.json and other.json, and starts your program", "as in lab 2")
	c.write("slow", sleeper("slow", 1))
	c.write("other", sleeper("other", 1))
	c.start()
	for _, id := range []string{"slow", "other"} {
		c.await("a container of "+id+" runs", func() error { return c.runs(id, "main", 1) })
	}

	c.do("edits slow.json: VERSION=2, and lets Docker take its time to stop the old container", "docker stop -t 30")
	release := c.proxy.holdStops("slow")
	c.write("slow", sleeper("slow", 2))
	c.await("your program stops the old container, and gives it 30 seconds or more", c.proxy.stopIsHeld)
	c.do("adds two pods and edits other.json: VERSION=2, while slow stops", "trap 1: one worker for each pod, and a loop that waits for none of them")
	c.turns()
	c.write("other", sleeper("other", 2))
	c.await("one container of other runs, with VERSION=2", func() error { return c.runs("other", "main", 2) })
	c.await("it is the only one that is left of other", func() error { return c.only("other", "main", 1) })
	other := c.current("other", "main")

	c.do("edits slow.json while it still stops: VERSION=3, and then VERSION=4", "a pod that is busy gets no second worker")
	for _, version := range []int{3, 4} {
		c.write("slow", sleeper("slow", version))
		c.turns()
	}
	c.proxy.check = func(q *request) error { return errors.Join(c.noDoubles(q), c.noneOfVersion(q, "slow", 3)) }
	c.do("lets the old container of slow stop", "trap 2: when a worker has ended, the loop has to look at its pod again, for the manifest may have changed since")
	release()
	c.await("one container of slow runs, with VERSION=4", func() error { return c.runs("slow", "main", 4) })
	c.await("it is the only one that is left of slow", func() error { return c.only("slow", "main", 1) })

	c.do("removes slow.json, and lets Docker take its time again", "a pod that goes has a worker, too")
	release = c.proxy.holdStops("slow")
	c.remove("slow")
	c.await("your program stops the container, and gives it 30 seconds or more", c.proxy.stopIsHeld)
	c.do("writes slow.json again, with VERSION=5, while the container still stops", "trap 2: its worker carries out the old plan; the next plan is made when it has ended")
	c.write("slow", sleeper("slow", 5))
	c.turns()
	release()
	c.await("one container of slow runs, with VERSION=5", func() error { return c.runs("slow", "main", 5) })
	c.await("it is the only one that is left of slow", func() error { return c.only("slow", "main", 1) })
	c.see("other still has the same container", func() error { return c.same(other) })
	c.stop()
}

// noneOfVersion returns an error if a request has made a container of a version that is not desired any more.
func (c *check) noneOfVersion(q *request, pod string, version int) error {
	if q.pod != pod || q.verb != "create" {
		return nil
	}
	made, err := c.engine.inspect(c, q.name)
	if old := fmt.Sprint("VERSION=", version); err == nil && slices.Contains(made.Config.Env, old) {
		err = fmt.Errorf("your program made %s with %s after %s.json had changed again: it kept an old plan (trap 2)", made.Name, old, pod)
	}
	return err
}

// holdStops lets no request to stop a container of a pod through until release is called.
func (p *proxy) holdStops(pod string) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	released := make(chan struct{})
	p.held = nil
	p.hold = func(q *request) <-chan struct{} {
		if q.kind != "containers" || q.pod != pod || !slices.Contains([]string{"stop", "kill", "remove"}, q.verb) {
			return nil
		}
		p.held = q
		return released
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hold = nil
		close(released)
	}
}

// stopIsHeld returns an error unless a request to stop is held that gives the container time.
func (p *proxy) stopIsHeld() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		return fmt.Errorf("no request to stop it")
	}
	query, _ := url.ParseQuery(p.held.query)
	if seconds, err := strconv.Atoi(query.Get("t")); p.held.verb != "stop" || err != nil || seconds >= 0 && seconds < 30 {
		return fmt.Errorf("%s with the parameters %q", p.held.verb, p.held.query)
	}
	return nil
}

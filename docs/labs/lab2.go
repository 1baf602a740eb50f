package main

import (
	"errors"
	"fmt"
	"slices"
)

// lab2 checks that an edit replaces a container, in the right order, and that nothing else does.
func lab2(c *check) {
	c.proxy.check = c.noDoubles
	c.do("writes web.json and db.json, and starts your program", "as in lab 1")
	c.write("web", sleeper("web", 1))
	c.write("db", sleeper("db", 1))
	c.start()
	for _, id := range []string{"web", "db"} {
		c.await("a container of "+id+" runs", func() error { return c.runs(id, "main", 1) })
	}
	web, db := c.current("web", "main"), c.current("db", "main")

	c.do("writes web.json with other spaces and another order of the same fields", "trap 1: the hash is of the values, not of the text")
	c.write("web", reordered("web", 1))
	c.turns()
	c.see("web still has the same container", func() error { return c.same(web) })
	c.do("kills your program and starts it again", "trap 1: the hash of equal values is the same in every process. "+
		"Addresses are not, nor are Python's hash() and Go's maphash; and a map is printed in any order unless it is sorted")
	c.program.kill()
	c.start()
	c.turns()
	c.see("web and db still have the same containers", func() error { return errors.Join(c.same(web), c.same(db)) })

	c.do("edits web.json: VERSION=2", "a container cannot be changed: another hash is another name, and so another container")
	c.write("web", sleeper("web", 2))
	c.await("one container of web runs, with VERSION=2", func() error { return c.runs("web", "main", 2) })
	c.await("it is the only one that is left of web", func() error { return c.only("web", "main", 1) })
	c.hint = "trap 2: create, then stop the old one, then start; `docker run` is create and start in one"
	c.see("the new container was created before the old one was stopped", func() error { return c.proxy.createdBeforeStopOf(web) })
	c.see("db still has the same container", func() error { return c.same(db) })

	web = c.current("web", "main")
	c.do("edits web.json: VERSION=3, with an image that nobody has", "trap 2: while the new container cannot be made, the old one runs on")
	c.write("web", manifest("web", "127.0.0.1:1/nobody-has/this:1", 3, `"/hello", "sleep"`))
	c.turns()
	c.see("web still has the container with VERSION=2", func() error { return c.same(web) })
	c.do("takes that edit back", "the hash is the old one again: there is nothing to do")
	c.write("web", sleeper("web", 2))
	c.turns()
	c.see("web still has the same container", func() error { return c.same(web) })

	c.do("ends your program, edits web.json: VERSION=4, and starts your program again", "the hash of what runs is in Docker, not in the program")
	c.stop()
	c.write("web", sleeper("web", 4))
	c.start()
	c.await("one container of web runs, with VERSION=4", func() error { return c.runs("web", "main", 4) })
	c.await("it is the only one that is left of web", func() error { return c.only("web", "main", 1) })
	c.see("db still has the same container", func() error { return c.same(db) })
	c.stop()
}

// reordered returns the same manifest as sleeper, in another form.
func reordered(id string, version int) string {
	return fmt.Sprintf(`{"containers":[{"env":[{"value":"%d","name":"VERSION"}],"command":["/hello","sleep"],"image":%q,"name":"main"}],"id":%q,"version":"v1beta1"}`,
		version, helloImage, id)
}

// only returns an error unless as many containers as given are left of a pod by a name, dead ones included.
func (c *check) only(pod, of string, n int) error {
	all, err := c.ofPod(pod, of)
	if err == nil && len(all) != n {
		err = fmt.Errorf("%d containers: %v", len(all), all)
	}
	return err
}

// noDoubles returns an error if a request has started a container beside another one that it should replace.
func (c *check) noDoubles(q *request) error {
	if q.kind != "containers" || q.verb != "start" && q.verb != "restart" {
		return nil
	}
	all, err := c.ofPod(q.pod, q.of)
	live := slices.DeleteFunc(all, func(one container) bool { return !one.live() })
	if err == nil && len(live) > 1 {
		err = fmt.Errorf("your program started %s while another one ran: %v", q.name, live)
	}
	return err
}

// createdBeforeStopOf returns an error if a container was stopped before its successor was created.
func (p *proxy) createdBeforeStopOf(old container) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	created := slices.IndexFunc(p.requests, func(q *request) bool {
		return q.verb == "create" && q.pod == old.pod && q.of == old.of && q.name != old.Name && q.status < 300
	})
	stopped := slices.IndexFunc(p.requests, func(q *request) bool {
		return q.name == old.Name && slices.Contains([]string{"stop", "kill", "remove", "restart", "rename"}, q.verb)
	})
	switch {
	case created < 0 || stopped < 0:
		return errors.New("not all of its requests; ask only the Docker that DOCKER_HOST names")
	case stopped < created:
		return fmt.Errorf("%v, and only then %v", p.requests[stopped], p.requests[created])
	}
	return nil
}

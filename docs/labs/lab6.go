package main

import (
	"errors"
	"fmt"
)

// lab6 checks that a program that is killed at any moment arrives at the same containers. What it leaves in
// Docker is different only after another request that changes something, so it is killed after the first, the second, …
func lab6(c *check) {
	c.proxy.check = c.noDoubles
	port, newPort := c.freePort(), c.freePort()
	c.do("writes steady.json, starts your program, and ends it again", "as in lab 5")
	c.write("steady", sleeper("steady", 1))
	c.start()
	c.await("a container of steady runs", func() error { return c.runs("steady", "main", 1) })
	c.stop()
	steady := c.current("steady", "main")

	started := func() error { return errors.Join(c.same(steady), c.whole("web", 1, 1)) }
	removed := func() error { return errors.Join(c.same(steady), c.gone("web"), c.noVolumes("web")) }
	for k, died := 1, true; died; k++ {
		c.do("writes web.json", "to start and to repair are the same work: what is there says what is missing")
		c.write("web", group("web", port, 1, 1))
		died = c.dies(k, nil, "web is whole, and nothing else of it is there", started, started)
		c.do("removes web.json", "trap 1: a volume that no container uses any more is still yours, by its name")
		c.remove("web")
		died = c.dies(k, nil, "no container and no volume of web is left", removed, removed) || died
	}

	c.do("writes web.json, and a file into its volume", "as in lab 4")
	c.write("web", group("web", port, 1, 1))
	c.start()
	c.await("web is whole", func() error { return c.whole("web", 1, 1) })
	server, net := c.current("web", "server"), c.current("web", "net")
	c.exec(server, "/hello", "say", "/data/keepsake", keepsake)
	c.await("web shows it", func() error { return answers(port, "web", keepsake) })
	c.stop()

	version := 1
	untouched := func() error { return errors.Join(c.same(steady), c.same(server), c.same(net)) }
	edited := func() error {
		return errors.Join(untouched(), c.whole("web", 1, version), answers(port, "web", keepsake))
	}
	for k, died := 1, true; died; k++ {
		version++
		c.do(fmt.Sprintf("edits the writer of web: VERSION=%d", version), "a container that was created and not started yet is started when the old one has stopped")
		c.write("web", group("web", port, 1, version))
		died = c.dies(k, nil, "web is whole, with that version, and its other containers are the same", edited, edited)
	}
	for k, died := 1, true; died; k++ {
		writer := c.current("web", "writer")
		version++
		c.do(fmt.Sprintf("edits the writer of web: VERSION=%d, and takes that back when your program is killed", version),
			"trap 2: what was created for an edit that is taken back has to go, and what runs and is desired again has to stay")
		c.write("web", group("web", port, 1, version))
		ran := false // the old one, when the program was killed
		died = c.dies(k, func() {
			version--
			c.write("web", group("web", port, 1, version))
			ran = c.same(writer) == nil
		}, "web is whole, with the version that is desired, and a container that is desired and ran is the same", edited, func() error {
			if ran {
				return errors.Join(edited(), c.same(writer))
			}
			return edited()
		})
	}
	moved := func() error {
		return errors.Join(c.same(steady), c.whole("web", 1, version), answers(port, "web", keepsake))
	}
	for k, died := 1, true; died; k++ {
		port, newPort = newPort, port
		c.do(fmt.Sprintf("edits web.json: the port is %d", port), "all three are replaced, and any of them may be there twice: one that runs, and one that was created")
		c.write("web", group("web", port, 1, version))
		died = c.dies(k, nil, "web is whole, answers at that port, and still has its file", moved, moved)
	}
}

// dies runs the program until it has arrived, unless it is killed after its k-th request that changes something. In that
// case it is started again, after something else was done, and must arrive then.
func (c *check) dies(k int, between func(), wanted string, arrived, arrivedThen func() error) (died bool) {
	c.proxy.killAfter(k, c.program.kill)
	c.start()
	var last *request
	c.wait(wanted, func() error {
		if last = c.proxy.killedAfter(); last != nil {
			return nil
		}
		return arrived()
	})
	c.proxy.killAfter(0, nil)
	if last == nil {
		fmt.Fprintf(c.w, "    seen: %s; it makes fewer than %d changes for that\n", wanted, k)
		c.stop()
		return false
	}
	fmt.Fprintf(c.w, "    killed it after change %d: %v\n", k, last)
	c.step += fmt.Sprintf("; kills it after change %d (%s %s), and starts it again", k, last.verb, last.name)
	if between != nil {
		between()
	}
	c.start()
	c.await(wanted, arrivedThen)
	c.stop()
	return true
}

// noVolumes returns an error if there is a volume of a pod.
func (c *check) noVolumes(pod string) error {
	names, err := c.engine.named(c.ctx, "volumes", c.prefix+"_"+pod+"_")
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("there are the volumes %v", names)
	}
	return err
}

package main

import "errors"

// lab1 checks that a directory is the desired state.
func lab1(c *check) {
	c.decoy(c.prefix + "x_old_main")
	c.decoy("other-" + c.prefix + "_old_main")
	c.do("writes web.json, db.json and jobs.json, and starts your program", "read every file whose name ends with .json, in each turn anew")
	for _, id := range []string{"web", "db", "jobs"} {
		c.write(id, sleeper(id, 1))
	}
	c.start()
	for _, id := range []string{"web", "db", "jobs"} {
		c.await("a container of "+id+" runs", func() error { return c.runs(id, "main", 1) })
	}

	web, db := c.current("web", "main"), c.current("db", "main")
	c.do("kills the container of jobs", "as the loop that you began with: a container that has exited is started")
	c.killContainer(c.current("jobs", "main"))
	c.await("a container of jobs runs", func() error { return c.runs("jobs", "main", 1) })

	c.do("removes jobs.json", "what Docker has under your prefix and no manifest desires has to go. "+
		"There are two other containers here, of somebody else, whose names only look like yours")
	c.remove("jobs")
	c.await("no container of jobs is left, not even a dead one", func() error { return c.gone("jobs") })

	c.do("writes half a manifest into web.json, and adds two others", "trap 1: a file that cannot be read is not a file that is gone")
	c.write("web", `{"version": "v1beta1", "id": "we`)
	c.turns()
	unchanged := func() error { return errors.Join(c.same(web), c.same(db)) }
	c.see("web and db still have the same containers", unchanged)
	c.do("repairs web.json, and removes tick-1.json and tick-2.json", "the file is good again, so nothing keeps you from removing")
	c.write("web", sleeper("web", 1))
	c.remove("tick-1", "tick-2")
	for _, id := range []string{"tick-1", "tick-2"} {
		c.await("no container of "+id+" is left", func() error { return c.gone(id) })
	}
	c.see("web and db still have the same containers", unchanged)

	c.do("ends your program with SIGTERM", "the program ends, and its containers go on running")
	c.stop()
	c.see("web and db still have the same containers", unchanged)
	c.do("removes db.json, and starts your program again", "trap 2: what has to be removed is known from Docker's list alone, not from what the program remembers")
	c.remove("db")
	c.start()
	c.await("no container of db is left", func() error { return c.gone("db") })
	c.see("web still has the same container", func() error { return c.same(web) })
	c.stop()
}

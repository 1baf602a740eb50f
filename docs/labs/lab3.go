package main

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// lab3 checks that a container that crashes is started again after longer and longer waits.
func lab3(c *check) {
	var crash crashes
	c.proxy.check = func(q *request) error { return errors.Join(c.noDoubles(q), c.crashed(q, &crash)) }
	c.do("writes crash.json, whose program exits at once, and steady.json; starts your program", "an ended container is replaced: by the next attempt, with the next number in its name")
	c.write("crash", manifest("crash", helloImage, 1, `"/hello", "exit", "1"`))
	c.write("steady", sleeper("steady", 1))
	c.start()
	c.await("a container of steady runs", func() error { return c.runs("steady", "main", 1) })
	steady := c.current("steady", "main")
	c.await("crash has been started 4 times, after waits of at least 0, 1 and 2 seconds", func() error { return crash.atLeast(4) })

	c.do("kills your program with SIGKILL, and starts it again", "trap 1: how often it has crashed is in Docker: a label of each attempt says how many crashes came before it")
	c.program.kill()
	c.start()
	c.await("crash has been started for the 5th time, after at least 4 seconds", func() error { return crash.atLeast(5) })

	c.do("adds two pods while crash waits", "trap 2: a wait is a time to compare with now, not a sleep in the loop")
	for began := time.Now(); ; {
		before := crash.number()
		c.turns()
		after := crash.number()
		if before == after {
			break
		} else if time.Since(began) > c.limit {
			c.fail("two pods that come while crash waits start before crash does", fmt.Sprintf("crash was started %d times meanwhile", after-before))
		}
		fmt.Fprintln(c.w, "    crash was faster; it waits longer now: once more")
	}
	fmt.Fprintln(c.w, "    yes: they did not wait for crash")
	c.await("crash has been started for the 6th time, after at least 8 seconds", func() error { return crash.atLeast(6) })
	c.do("looks for what the crashes have left", "the newest dead container is the memory; the older ones can go")
	c.await("at most two containers of crash are there", func() error {
		all, err := c.ofPod("crash", "main")
		if err == nil && len(all) > 2 {
			err = fmt.Errorf("%d: %v", len(all), all)
		}
		return err
	})
	c.see("steady still has the same container", func() error { return c.same(steady) })

	c.do("edits crash.json: VERSION=2, whose program does not crash", "another hash begins to count at 0")
	crash.edited()
	c.write("crash", sleeper("crash", 2))
	c.await("one container of crash runs, with VERSION=2", func() error { return c.runs("crash", "main", 2) })
	c.await("it is the only one that is left of crash", func() error { return c.only("crash", "main", 1) })

	c.do("kills the container of steady, which has not crashed before", "the first restart comes at once")
	c.killContainer(steady)
	c.await("a container of steady runs", func() error { return c.runs("steady", "main", 1) })
	c.stop()
}

// crashes counts the starts of a container that always crashes.
type crashes struct {
	mu     sync.Mutex
	starts int
	over   bool // the manifest was edited
}

func (k *crashes) number() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.starts
}

func (k *crashes) atLeast(n int) error {
	if now := k.number(); now < n {
		return fmt.Errorf("it was started %d times", now)
	}
	return nil
}

func (k *crashes) edited() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
}

// crashed counts a start of the pod crash. It returns an error if the start came too early, by Docker's own times, or
// if the count would be lost now.
func (c *check) crashed(q *request, k *crashes) error {
	if q.pod != "crash" || q.of != "main" || q.verb != "start" && q.verb != "restart" {
		return nil
	}
	all, err := c.ofPod("crash", "main")
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.starts++
	if k.starts == 1 || k.over {
		return nil
	}
	var began, ended time.Time
	for _, one := range all {
		if one.Name == q.name {
			began = one.State.StartedAt
		} else if one.State.FinishedAt.After(ended) {
			ended = one.State.FinishedAt
		}
	}
	if ended.IsZero() {
		return fmt.Errorf("your program started %s, and the dead container of the attempt before is not there. Make a new container for each attempt, and "+
			"remove the dead one after the new one has been started: if your program is killed between the two, nothing else knows of the crashes", q.name)
	}
	wait := time.Duration(0)
	if k.starts > 2 {
		wait = min(time.Second<<(k.starts-3), time.Minute)
	}
	if waited := began.Sub(ended); waited < wait {
		return fmt.Errorf("start number %d of crash, that of %s, came %v after the end of the one before; after %d crashes in a row it comes after %v at the earliest",
			k.starts, q.name, waited.Round(10*time.Millisecond), k.starts-1, wait)
	}
	return nil
}

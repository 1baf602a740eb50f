package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/client"
)

// check is one run of the check of a lab.
type check struct {
	ctx       context.Context
	w         io.Writer
	limit     time.Duration // of a wait
	engine    *engine       // Docker, not through the proxy
	proxy     *proxy
	program   *program
	prefix    string   // of all names; no other run has it
	manifests string   // the directory that the program reads
	decoys    []string // ids of containers that belong to somebody else
	step      string   // what the check did last
	hint      string   // what this step is about
	ticks     int      // pods that turns has made
}

// failure ends a check. It is what checks panic with.
type failure struct{ wanted, saw string }

// checkLab runs the check of a lab to its end, and removes everything that it has made.
func checkLab(ctx context.Context, w io.Writer, number int, dir, command string, limit time.Duration) (err error) {
	temp, err := os.MkdirTemp("", "lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	c := &check{ctx: ctx, w: w, limit: limit, prefix: "lab-" + strings.ToLower(rand.Text()[:8]), manifests: filepath.Join(temp, "manifests")}
	if c.engine, err = newEngine(); err == nil {
		err = c.engine.ensureImages(ctx)
	}
	if err == nil {
		err = os.Mkdir(c.manifests, 0o755)
	}
	if err == nil {
		c.program, err = newProgram(ctx, temp, dir, command)
	}
	if err == nil {
		c.proxy, err = newProxy(filepath.Join(temp, "docker.sock"), c.prefix, c.engine)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "lab %d: the names of this run begin with %s_\n", number, c.prefix)
	defer func() {
		problem := recover()
		failed, isFailure := problem.(failure)
		c.ctx = context.WithoutCancel(ctx)
		if isFailure {
			verdict := "not yet"
			if ctx.Err() != nil {
				verdict = "stopped"
			}
			err = errors.New(verdict + "\n\n" + c.explain(failed, labs[number-1].page))
		}
		c.program.kill()
		c.proxy.close()
		if errClean := c.clean(); errClean != nil {
			err = errors.Join(err, fmt.Errorf("remove what this check has made: %w", errClean))
		}
		if problem != nil && !isFailure {
			panic(problem)
		}
	}()
	labs[number-1].check(c)
	return nil
}

func (e *engine) ensureImages(ctx context.Context) error {
	docker, err := client.New("")
	for _, image := range []string{dockertools.HelloImage, dockertools.PauseImage} {
		if err == nil {
			err = dockertools.EnsureBuiltin(ctx, docker, image)
		}
	}
	return err
}

// explain is what the student reads after a failure.
func (c *check) explain(f failure, page string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the check: %s\nit wanted: %s\nit saw:    %s\n\nthe containers:\n", c.step, f.wanted, f.saw)
	all, _ := c.containers()
	for _, one := range all {
		fmt.Fprintf(&b, "  %v\n", one)
	}
	fmt.Fprintf(&b, "what your program changed last in Docker:\n%s", c.proxy.last(8))
	fmt.Fprintf(&b, "what it printed last (all of it: %s):\n%s\n", c.program.logFile, c.program.lastLines(8))
	if c.hint != "" {
		fmt.Fprintf(&b, "this step is about: %s\n", c.hint)
	}
	fmt.Fprintf(&b, "read again: docs/labs/%s", page)
	return b.String()
}

// do announces what the check does next. The hint is printed if something goes wrong in this step.
func (c *check) do(step, hint string) {
	c.step, c.hint = step, hint
	fmt.Fprintln(c.w, "  "+step)
}

// fail ends the check.
func (c *check) fail(wanted, saw string) { panic(failure{wanted, saw}) }

// must ends the check at an error that is not the student's.
func (c *check) must(err error) {
	if err != nil {
		c.fail("no error of Docker or of the machine", err.Error())
	}
}

// keepsRules ends the check if the program has asked Docker for something that it must not do, whatever the step is about.
func (c *check) keepsRules() {
	if problem := c.proxy.problem(); problem != nil {
		c.hint = ""
		c.fail("that your program keeps the rules of docs/labs/README.md", problem.Error())
	}
}

// see checks what holds already.
func (c *check) see(wanted string, look func() error) {
	c.keepsRules()
	if err := look(); err != nil {
		c.fail(wanted, err.Error())
	}
	fmt.Fprintln(c.w, "    yes: "+wanted)
}

// await looks until it sees what has to come, for as long as the limit, and says so.
func (c *check) await(wanted string, look func() error) {
	c.wait(wanted, look)
	fmt.Fprintln(c.w, "    seen: "+wanted)
}

func (c *check) wait(wanted string, look func() error) {
	patience := 10 * time.Second
	for began := time.Now(); ; {
		err := look()
		ended := c.program.ended() // before the look at problems, which are a better reason
		c.keepsRules()
		if err == nil {
			return
		}
		switch waited := time.Since(began); {
		case c.ctx.Err() != nil:
			c.fail(wanted, err.Error())
		case ended != nil:
			c.hint = "what it printed last says why"
			c.fail(wanted, ended.Error())
		case waited > c.limit:
			c.fail(wanted, fmt.Sprintf("%v (and waited %v)", err, c.limit))
		case waited > patience:
			patience *= 3
			fmt.Fprintf(c.w, "    waits: %s; sees: %v\n", wanted, err)
		}
		select {
		case <-c.ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// turns waits until the program has begun to look at its manifests twice more: it starts a pod that has come, and
// then another one. What it was not to do by then, it has not done.
func (c *check) turns() {
	for range 2 {
		c.ticks++
		id := fmt.Sprint("tick-", c.ticks)
		c.write(id, sleeper(id, 1))
		c.await(fmt.Sprintf("%s.json has come, and a container of it runs", id), func() error { return c.runs(id, "main", 1) })
	}
}

// clean removes what this run has made, also after Ctrl-C.
func (c *check) clean() error {
	all, err := c.containers()
	for _, one := range all {
		err = errors.Join(err, c.engine.remove(c.ctx, "/containers/"+one.ID+"?force=1&v=1"))
	}
	for _, id := range c.decoys {
		err = errors.Join(err, c.engine.remove(c.ctx, "/containers/"+id+"?force=1&v=1"))
	}
	return errors.Join(err, c.engine.removeNamed(c.ctx, "volumes", c.prefix+"_"), c.engine.removeNamed(c.ctx, "networks", c.prefix+"_"))
}

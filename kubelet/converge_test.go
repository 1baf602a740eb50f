package kubelet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
)

// TestPlanConverges begins with a random desired state and random containers, some of them unhealthy. It plans, acts,
// plans again, and so on. Within a few rounds nothing must be left to do. Meanwhile no container may be live twice,
// unless it was at the beginning. In half of the cases the kubelet is killed after a random call, and the next one
// continues.
func TestPlanConverges(t *testing.T) {
	for seed := range unittest.Seeds(600) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := random{w, rand.New(rand.NewPCG(seed, 14))}
				w.importPause()
				c.programs()
				want := c.desired()
				c.mess()
				before := w.describe()
				if c.Uint64()%2 == 0 {
					c.dies(1+c.IntN(8), func() { c.converge(want) })
				}
				c.forbidDoubles(want)
				rounds, done := c.converge(want)
				if !done {
					w.t.Errorf("still something to do after %d rounds", rounds)
				}
				c.checkResult(want)
				if w.t.Failed() {
					w.t.Logf("desired: %s\nbefore:\n%safter:\n%s", describePod(want), before, w.describe())
				}
			})
		})
	}
}

type random struct {
	*world
	*rand.Rand
}

// desired is a random form of the pod, or nil.
func (c *random) desired() *plan.Pod {
	if c.IntN(6) == 0 {
		return nil
	}
	return c.form()
}

func (c *random) form() *plan.Pod {
	var names []string
	for _, name := range []string{"a", "b", "c"} {
		if c.IntN(3) > 0 {
			names = append(names, fmt.Sprintf("%s:%d", name, c.IntN(2)))
		}
	}
	p := pod("web", names...)
	if c.IntN(4) == 0 {
		p.UID = "other"
	}
	if c.IntN(3) == 0 {
		p = withInit(p, []string{"i:1", "j", "k"}[c.IntN(2):1+c.IntN(2)+1]...)
		if init := &p.Manifest.InitContainers; c.IntN(2) == 0 {
			*init = slices.Insert(*init, c.IntN(len(*init)+1), api.Container{Name: "side", Image: "hello:1", Sidecar: true})
		}
	}
	if len(names) > 0 && c.IntN(2) == 0 {
		p = hooked(p)
	}
	if len(names) > 0 && c.IntN(3) == 0 {
		p = publish(p, 80)
	}
	switch c.IntN(3) {
	case 0:
		p = never(p)
	case 1:
		p = onFailure(p)
	}
	want := plan.NewPod(p, dockertools.PauseImage, time.Now())
	for i, parts := 0, c.IntN(3) == 0; i < len(want.Apps); i++ {
		want.Apps[i].Parts = parts
	}
	return want
}

// mess makes containers as a kubelet may have left them and people may have changed them since.
func (c *random) mess() {
	nets := []string{"none"}
	for range c.IntN(8) {
		form := c.form()
		of := form.Network
		if all := slices.Concat(form.Init, form.Apps); len(all) > 0 && c.IntN(3) > 0 {
			of = all[c.IntN(len(all))]
		}
		name := dockertools.NameParts{Name: of.Name, Hash: of.Hash, PodFullName: form.FullName(), UID: form.UID, Attempt: 1 + c.IntN(4)}
		spec := dockertools.ContainerSpec{Name: name.String(), Image: "hello:1"}
		spec.Labels = dockertools.Identity{Hostname: "host", RootDir: c.rootDir}.Labels(name.String())
		net := nets[c.IntN(len(nets))]
		if of.Spec != nil {
			spec.Labels[dockertools.LabelNetworkContainer] = net
			spec.Labels[dockertools.LabelQuickEnds] = fmt.Sprint(c.IntN(4))
			spec.Labels[dockertools.LabelLifecycle] = of.Lifecycle
			if net != "none" {
				spec.NetworkContainer = net
			}
		}
		id, err := c.docker.ByHand().CreateContainer(c.t.Context(), spec)
		if err != nil {
			continue // the name is taken
		}
		if of.Spec == nil {
			nets = append(nets, id)
		}
		c.maybeStart(id, form.IsInit(of.Name))
		time.Sleep(time.Duration(c.IntN(2000)) * time.Millisecond)
	}
}

// maybeStart starts a container for a while, or not at all.
func (c *random) maybeStart(id string, init bool) {
	if c.IntN(5) == 0 || c.docker.ByHand().StartContainer(c.t.Context(), id) != nil {
		return
	}
	time.Sleep(time.Duration(c.IntN(20)) * time.Minute)
	switch c.IntN(5) {
	case 0:
		c.docker.Kill(id, 0)
	case 1:
		c.docker.Kill(id, 1)
	case 2:
		if !init { // it would never end
			c.docker.Pause(id)
		}
	}
}

// doubles counts the live containers beyond the first of each name.
func (c *random) doubles() (n int) {
	seen := map[string]bool{}
	for parts, container := range c.containers() {
		if kind := parts.UID + "/" + parts.Name; container.ListState.Live() {
			if seen[kind] {
				n++
			}
			seen[kind] = true
		}
	}
	return n
}

// programs makes init containers end after a second, every third with a failure.
func (c *random) programs() {
	c.asNow(succeed)
	app, runs := c.program, 0
	c.program = func(name string) dockertest.Program {
		if runs++; strings.Contains("ijk", name) {
			return dockertest.Program{Exits: true, After: time.Second, ExitCode: runs % 3 / 2}
		}
		return app(name)
	}
}

// forbidDoubles passes on all calls, and fails the test if a container has become live twice before one of them.
func (c *random) forbidDoubles(want *plan.Pod) {
	most := c.doubles()
	c.docker.SetFault(func(call dockertest.Call) dockertest.Fault {
		if n := c.doubles(); n > most {
			c.t.Errorf("before call %d, %s %s: a container is live twice\n%s", call.N, call.Method, call.Container, c.describe())
		}
		if call.Method == "StartContainer" {
			c.checkStart(want, call.Container)
		}
		return dockertest.Fault{}
	})
}

// converge plans and acts until there is nothing to do, as a new kubelet.
func (c *random) converge(want *plan.Pod) (rounds int, done bool) {
	ctx := c.t.Context()
	kl, closeRoot := c.newKubelet()
	defer closeRoot()
	kl.desired.since = time.Now()
	if want != nil {
		kl.desired.pods[want.FullName()] = want
	}
	unhealthy := map[string]time.Time{} // when it started, by id
	for rounds = range 30 {
		list, err := kl.observer.List(ctx)
		if err != nil {
			return rounds, false
		}
		kl.planPods(ctx, list, nil)
		p := kl.pods["web.default.file"]
		if p == nil {
			return rounds, true
		}
		for i := range p.Observed {
			if o := &p.Observed[i]; o.StartedAt.Equal(unhealthy[o.ID]) {
				o.Unhealthy = "its liveness probe failed"
				p.Plan = plan.Make(p.Desired, p.Observed, kl.opts.Limits, time.Now())
			}
		}
		switch {
		case p.Err != nil:
			return rounds, false
		case len(p.Plan.Steps) == 0 && p.Plan.Next.IsZero() && (p.Plan.Init == "" || cannotCreate(p.Plan.Problems)):
			return rounds, true
		case len(p.Plan.Steps) == 0 && p.Plan.Next.IsZero():
			time.Sleep(time.Second)
		case len(p.Plan.Steps) == 0:
			time.Sleep(time.Until(p.Plan.Next))
		}
		for i := range p.Observed {
			if o := &p.Observed[i]; rounds == 0 && o.State == dockertools.StateRunning && !strings.Contains("ijk", o.Of.Name) && c.IntN(4) == 0 {
				unhealthy[o.ID] = o.StartedAt
			}
		}
		p.allowed = p.Plan.Steps
		kl.startWork(ctx, p)
		kl.workers.Wait()
		p.endWork(time.Second)
	}
	return rounds, false
}

// cannotCreate reports whether an edit came too late for a pod in which nothing starts twice.
func cannotCreate(problems []plan.Problem) bool {
	return slices.ContainsFunc(problems, func(p plan.Problem) bool { return p.Reason == api.ReasonCannotCreate })
}

// checkResult compares what is live with the desired state.
func (c *random) checkResult(want *plan.Pod) {
	c.t.Helper()
	if n := c.doubles(); n > 0 {
		c.t.Errorf("%d containers are live twice", n)
	}
	if want == nil {
		if n := len(c.docker.Containers()); n > 0 {
			c.t.Errorf("%d containers are left of a pod that is not wanted", n)
		}
		return
	}
	live := map[string]dockertest.FakeContainer{}
	for parts, container := range c.containers() {
		switch {
		case parts.UID != want.UID:
			c.t.Errorf("%s has another uid", container.Name)
		case container.ListState.Live():
			live[parts.Name] = container
		}
	}
	if want.Complete.RestartPolicy.Always == nil {
		c.checkJob(want)
		return
	}
	for _, desired := range want.Containers() {
		name := desired.Name
		container, ok := live[name]
		if want.IsInit(name) {
			if ok {
				c.t.Errorf("init container %q runs", name)
			}
			continue
		}
		if !ok {
			c.t.Errorf("container %q does not run", name)
			continue
		}
		if container.ListState == dockertools.StatePaused {
			continue
		}
		if name != "net" && container.Labels[dockertools.LabelNetworkContainer] != live["net"].ID {
			c.t.Errorf("container %q has not joined the pod's network container", name)
		}
		hash := want.Container(name).Hash
		if !strings.Contains(container.Name, "."+hash+"_") {
			c.t.Errorf("container %q is as before the edit", name)
		}
	}
}

// checkJob checks the newest attempt of each container of a pod that may finish. With never it has started; with
// onFailure it runs, or it succeeded as the manifest describes it now.
func (c *random) checkJob(want *plan.Pod) {
	c.t.Helper()
	newest := map[string]dockertest.FakeContainer{}
	for parts, container := range c.containers() {
		if parts.Attempt == c.newest(parts.Name) {
			newest[parts.Name] = container
		}
	}
	initFailed := slices.ContainsFunc(want.Init, func(init plan.Container) bool {
		c := newest[init.Name] // it has failed, or was edited too late
		return c.Details.ExitCode != 0 || !c.Details.StartedAt.IsZero() && !strings.Contains(c.Name, "."+init.Hash+"_")
	})
	for _, app := range want.Apps {
		container := newest[app.Name]
		succeeded := container.ListState.Ended() && container.Details.ExitCode == 0 && strings.Contains(container.Name, "."+app.Hash+"_")
		switch {
		case want.Complete.RestartPolicy.Never != nil && container.Details.StartedAt.IsZero() && !initFailed:
			c.t.Errorf("container %q was never started", app.Name)
		case want.Complete.RestartPolicy.OnFailure != nil && !container.ListState.Live() && !succeeded:
			c.t.Errorf("container %q neither runs nor has succeeded", app.Name)
		}
	}
}

func describePod(want *plan.Pod) string {
	if want == nil {
		return "none"
	}
	return fmt.Sprintf("uid %s, policy %+v, %d init containers, %d apps", want.UID, want.Complete.RestartPolicy, len(want.Init), len(want.Apps))
}

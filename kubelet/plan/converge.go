package plan

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/api/backoff"
	"kubelet14/kubelet/dockertools"
)

// converge plans for one network container and one live container of each app, joined to it. The order of the steps is
//
//  1. create what is missing or replaced, the network container first;
//  2. stop what is replaced, the network container last;
//  3. start what was created, the network container first; of the others only those whose turn has come,
//     if an init container has to run.
//
// If nothing has to be stopped, the network container starts while the apps are created. An app that needs the pod's IP waits
// for the next plan, when the network container runs, and an init container waits with it. One with parts is created in its turn.
func (p *planner) converge() {
	network, create := p.decideNetwork()
	if network == nil {
		return // it backs off, and every other container waits for it
	}
	var createNetwork, startNetwork, createApps, stopApps, startApps []Action
	unstarted := "it was created and never started"
	reason := unstarted
	switch {
	case create != nil:
		createNetwork, reason = []Action{*create}, create.Reason
	case network.Error != "":
		reason = "the network container " + network.Exit().Message
	}
	if !network.State.Live() {
		startNetwork = []Action{on(Start, network, reason)}
	}
	turn, containers := p.turn(network), p.pod.Staying()
	if turn < len(p.pod.Init) {
		if p.Init = p.pod.Init[turn].Name; p.pod.IsInit(p.Init) {
			containers = slices.Insert(containers, 0, p.pod.Init[turn])
		}
	} else if len(p.pod.Init) > 0 {
		unstarted = "the init containers have succeeded"
	}
	for _, init := range p.pod.Init {
		for _, c := range p.attempts[init.Name] {
			if c.State.Live() && init.Name != p.Init && !init.IsSidecar() {
				stopApps = append(stopApps, on(Stop, c, "init containers run one after the other, before the apps"))
			}
		}
	}
	noIP := func(app Container) bool { return app.NeedsIP && !network.State.Live() }
	waits := slices.ContainsFunc(containers, noIP)
	for i := range containers {
		app := &containers[i]
		if noIP(*app) {
			continue
		}
		newest, reason := p.newest(app.Name), unstarted
		if create := p.decideApp(app, newest, network); create != nil {
			if newest, reason = create.created(), create.Reason; !app.Parts || app.Turn <= turn {
				createApps = append(createApps, *create)
			}
		}
		if newest == nil {
			continue // see reportLateEdit
		}
		if newest.NeverStarted() && app.Turn <= turn && !(waits && p.Init != "") {
			start := on(Start, newest, reason)
			start.Others = p.others(newest)
			startApps = append(startApps, start)
		}
		p.checkCrashLoop(newest)
		if newest.Unhealthy != "" && newest.State == dockertools.StateRunning {
			stop := on(Stop, newest, newest.Unhealthy)
			stop.Killed = api.ReasonUnhealthy
			stopApps = append(stopApps, stop)
		}
		stopApps = append(stopApps, p.stopOthers(newest)...)
	}
	stop := append(stopApps, p.stopOthers(network)...)

	p.step(createNetwork)
	if len(stop) == 0 {
		p.step(append(startNetwork, createApps...))
	} else {
		p.step(createApps)
		p.stopInTurn(stop)
		p.step(startNetwork)
	}
	p.step(startApps)
}

// decideNetwork returns the pod's network container and, if it does not exist, the action that
// creates it. It returns nil while the network container backs off.
func (p *planner) decideNetwork() (*Observed, *Action) {
	newest, reason, crashes := p.newest(api.NetworkContainerName), "the pod has no network container yet", 0
	if newest != nil {
		reason = p.replaceNetwork(newest)
		switch {
		case newest.State.Live() && reason == "":
			return newest, nil
		case newest.State.Live() && p.inUse(newest):
			p.report(newest, reason+", and it stays: a container runs in it that is not started again")
			return newest, nil
		case reason != "":
		case newest.NeverStarted(), newest.Exit().Reason == api.ReasonPortTaken: // whose start is tried again, see podRecord.endWork
			return newest, nil
		default:
			var due time.Time
			if due, crashes = p.nextAttempt(newest); due.After(p.now) {
				return nil, nil
			}
			reason = "the network container " + newest.Exit().Message
		}
	}
	create := p.create(&p.pod.Network, reason, crashes)
	return create.created(), create
}

// created returns the container that a Create action makes.
func (a *Action) created() *Observed {
	c := Observed{Listed: dockertools.Listed{Of: a.Name, NetworkContainer: a.NetworkID}}
	c.Inspected.State = dockertools.StateCreated
	c.Labels = map[string]string{dockertools.LabelLifecycle: a.Lifecycle, dockertools.LabelGrace: a.Grace}
	return &c
}

// decideApp returns the action that creates the next attempt of an app container, or nil if the
// newest attempt is as desired, done, paused, or backing off.
func (p *planner) decideApp(want *Container, newest, network *Observed) *Action {
	create := func(reason string, crashes int, due time.Time) *Action {
		a := p.create(want, reason, crashes)
		a.NetworkID = network.ID
		if want.pulls(newest) {
			a.PulledSince = due
		}
		return a
	}
	switch {
	case p.editedTooLate() && (newest == nil || !newest.HasStarted()):
		p.reportLateEdit(want, newest, network)
		return nil
	case newest == nil:
		return create("the pod has no such container yet", 0, p.pod.Since)
	case p.pod.predates(newest):
		return create(restartAsked, 0, time.UnixMilli(p.pod.Restart))
	case p.pod.startsOnce() && newest.HasStarted() && !want.IsSidecar():
		p.notRestarted(newest, network)
		return nil
	case newest.Of.Hash != want.Hash:
		if len(p.pod.Init) > 0 { // their parts are in every hash
			return create("its part of the manifest, or an init container's, has changed", 0, p.pod.Since)
		}
		return create("its part of the manifest has changed", 0, p.pod.Since)
	case p.pod.Done(want, newest) && want.Name == p.Init:
		return create("init containers run again before the apps start anew", 0, p.pod.Since)
	case p.pod.Done(want, newest):
		return nil
	case newest.Terminated():
		due, crashes := p.nextAttempt(newest)
		if due.After(p.now) {
			return nil
		}
		return create("it "+newest.Exit().Message, crashes, due)
	case newest.State == dockertools.StatePaused:
		return nil
	case newest.NetworkContainer != network.ID:
		return create("the pod has a new network container", newest.QuickEnds, p.pod.Since)
	}
	return nil
}

// create returns the action that creates the next attempt of a container.
func (p *planner) create(want *Container, reason string, crashes int) *Action {
	name := dockertools.NameParts{Name: want.Name, Hash: want.Hash, PodFullName: p.pod.FullName(), UID: p.pod.UID, Attempt: 1}
	if all := p.attempts[want.Name]; len(all) > 0 {
		name.Attempt = all[len(all)-1].Of.Attempt + 1
	}
	a := &Action{Kind: Create, Name: name, Container: want, Reason: reason, Crashes: crashes, Lifecycle: want.Lifecycle, Grace: p.pod.Grace}
	if newest := p.newest(want.Name); newest != nil && newest.Of.Hash == want.Hash {
		a.Restarts = newest.Restarts
		if newest.HasStarted() {
			a.Restarts++
		}
	}
	return a
}

// nextAttempt returns when a terminated container may have its next attempt, and the number
// of crashes before that. A future time is also a problem and a time to plan again.
func (p *planner) nextAttempt(c *Observed) (due time.Time, crashes int) {
	ended, crashes := c.End()
	if p.endedTogether(c) {
		crashes = c.QuickEnds
	}
	due = ended.Add(RestartDelay(crashes, p.limits.MaxBackoff))
	failed := "ended soon after its start"
	if !c.State.Ended() { // it could not start
		failed = "failed"
	}
	why := fmt.Sprintf("it %s %d times in a row", failed, crashes)
	if moment := c.restartMoment(); moment.After(due) {
		due, why = moment, "somebody stopped it, and Docker may be about to start it again"
	}
	p.backOff(c, due, "%s; %s, next start at %s", c.Exit().Message, why, due.Local().Format(time.TimeOnly))
	return due, crashes
}

// endedTogether reports whether a whole pod ended at about the same time, as when Docker or the machine
// restarts: that is no crash. It counts only after a run as long as the longest back-off.
func (p *planner) endedTogether(c *Observed) bool {
	const spread = 15 * time.Second // Docker gives containers 10 s to end
	network := c
	for _, n := range p.attempts[api.NetworkContainerName] {
		if n.ID == c.NetworkContainer {
			network = n
		}
	}
	near := func(o *Observed) bool {
		return o.State.Ended() && network.State.Ended() && o.FinishedAt.Sub(network.FinishedAt).Abs() < spread
	}
	together := false
	for _, app := range p.pod.InitAndApps() {
		if o := p.newest(app.Name); o != nil && o.NetworkContainer == network.ID {
			if o.State.Live() {
				return false
			}
			together = together || near(o)
		}
	}
	return together && near(c) && c.FinishedAt.Sub(c.StartedAt) >= p.limits.MaxBackoff
}

// checkCrashLoop reports that a container has crashed, until it has run as long as it backed off.
func (p *planner) checkCrashLoop(c *Observed) {
	if c.State == dockertools.StateRunning {
		due := c.StartedAt.Add(RestartDelay(c.QuickEnds, p.limits.MaxBackoff))
		p.backOff(c, due, "it runs again; it ended soon after its start %d times in a row", c.QuickEnds)
	}
}

// backOff adds a problem that ends at a time, unless that time is past.
func (p *planner) backOff(c *Observed, until time.Time, format string, args ...any) {
	if !until.After(p.now) {
		return
	}
	p.Next = Earliest(p.Next, until)
	p.Problems = append(p.Problems, Problem{
		Container: c.Of.Name, Reason: api.ReasonBackOff, RetryAt: until, Message: fmt.Sprintf(format, args...),
	})
}

// RestartDelay returns how long to wait after a number of crashes in a row: 0 after the first, then
// 1 s, 2 s, 4 s and so on, up to limit. In 2014 a crashing container was restarted at every sync, for ever.
func RestartDelay(crashes int, limit time.Duration) time.Duration {
	return backoff.Wait(crashes-1, time.Second, limit)
}

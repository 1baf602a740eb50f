package server

import (
	"fmt"
	"net/url"
	"time"

	"kubelet14/api"
)

// podView is a pod as the page shows it.
type podView struct {
	*api.PodStatus
	FullName   string
	Tone       string    // of the colour: good, busy, bad or done
	Op         pageEvent // the last SET or UPDATE that changed it; Seq 0: not known any more
	Trouble    string    // what holds it up as a whole
	Containers []containerView
}

// containerView is a container as the page shows it.
type containerView struct {
	Name     string
	Network  bool // the one that holds the pod's network
	Image    string
	State    string // running, waiting or ended
	Tone     string
	Since    pageTime // of the state
	Trouble  string   // why it is not as it should be, or how it ended
	Next     pageTime // when it is tried again
	Restarts int
	Before   string   // how the attempt before ended
	Ended    pageTime // when that was
	Log      string   // an address; empty: none
}

// viewPod links each container that may have printed something to its log, if logs are
// served at all.
func viewPod(p *api.PodStatus, now time.Time, logs bool) podView {
	v := podView{PodStatus: p, FullName: p.FullName(), Trouble: sentence(p.Reason, p.Message)}
	for i := range p.Containers {
		c := viewContainer(&p.Containers[i], now)
		if c.Trouble == v.Trouble {
			c.Trouble = "" // it is said of the pod
		}
		if logs && !c.Network && (c.State != "waiting" || c.Restarts > 0 || c.Before != "") {
			c.Log = fmt.Sprintf("/containerLogs/%s/%s/%s?tail=200", url.PathEscape(v.Namespace), url.PathEscape(v.FullName), url.PathEscape(c.Name))
		}
		v.Containers = append(v.Containers, c)
	}
	v.Tone = v.tone()
	return v
}

// tone is the worst that is to be said of the pod. That its source cannot be read is said
// of the source: one bad file would turn all the good ones red.
func (v *podView) tone() string {
	worst := map[api.PodPhase]string{api.PodRunning: "good", api.PodPending: "busy", api.PodSucceeded: "done", api.PodFailed: "bad"}[v.Phase]
	if v.Trouble != "" {
		worst = "bad"
	}
	if v.Reason == api.ReasonRemoved {
		worst = "busy"
	}
	for i := range v.Containers {
		switch tone := v.Containers[i].Tone; {
		case tone == "bad":
			worst = tone
		case tone == "busy" && worst == "good":
			worst = tone
		}
	}
	return worst
}

func viewContainer(c *api.ContainerStatus, now time.Time) containerView {
	v := containerView{Name: c.Name, Network: c.Name == api.NetworkContainerName, Image: c.Image, Restarts: c.RestartCount}
	switch state := c.State; {
	case state.Running != nil:
		v.State, v.Tone, v.Since, v.Trouble = "running", "good", ago(state.Running.StartedAt, now), state.Running.Message
		if v.Trouble != "" {
			v.Tone = "busy"
		}
	case state.Terminated != nil:
		v.State, v.Tone, v.Since = "ended", "done", ago(state.Terminated.FinishedAt, now)
		if state.Terminated.ExitCode != 0 {
			v.Tone = "bad"
		}
		if !v.Network { // which ends because all others have
			v.Trouble = ending(state.Terminated)
		}
	case state.Waiting != nil:
		v.State, v.Tone, v.Next = "waiting", waitingTone(state.Waiting.Reason), ago(state.Waiting.Next, now)
		v.Trouble = sentence(state.Waiting.Reason, state.Waiting.Message)
		if state.Waiting.Next.Before(now) { // it is being done
			v.Next.Age = "0 s"
		}
	}
	if c.Last != nil {
		v.Before, v.Ended = ending(c.Last), ago(c.Last.FinishedAt, now)
	}
	return v
}

// waitingTone tells what takes its time from what has gone wrong.
func waitingTone(reason string) string {
	switch reason {
	case api.ReasonCreating, api.ReasonPulling, api.ReasonNetworkContainer:
		return "busy"
	}
	return "bad"
}

// ending says how a container ended.
func ending(t *api.ContainerStateTerminated) string {
	return sentence(fmt.Sprintf("exit code %d, %s", t.ExitCode, t.Reason), t.Message)
}

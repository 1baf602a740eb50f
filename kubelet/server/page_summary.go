package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
)

// Banner is the head of the page: its class, and whether all is well.
func (p *page) Banner() (banner struct{ Tone, Text string }) {
	up, err := CountUp(p.Pods)
	done, steps := 0, 0
	for _, pod := range p.Pods {
		if pod.Phase == api.PodSucceeded {
			done++
		}
		if pod.Up() && pod.Reason == api.ReasonWaitsForStep {
			steps++
		}
	}
	problems := describeProblems(p.SourceList)
	banner.Tone, banner.Text = "good", fmt.Sprintf("%d of %s are up", up-done, api.Count(len(p.Pods), "pod"))
	switch {
	case len(p.Pods) == 1 && done == 1:
		banner.Text = "The pod has done its work"
	case len(p.Pods) == 1:
		banner.Text = map[bool]string{true: "The pod is up", false: "The pod is not up"}[err == nil]
	case done > 0:
		banner.Text += fmt.Sprintf(", %d done", done)
	}
	if steps > 0 {
		banner.Text += map[bool]string{true: "; a plan waits", false: fmt.Sprintf("; %d plans wait", steps)}[steps == 1]
	}
	switch {
	case p.Ill != nil:
		banner.Tone, banner.Text = "bad", "The kubelet cannot manage its pods: "+p.Ill.Error()
	case p.Docker != nil:
		banner.Tone, banner.Text = "busy", "The state of the pods is not known: "+api.OneLine(p.Docker.Error())
	case err != nil:
		banner.Tone = tone(slices.MinFunc(p.Pods, byTrouble))
	case slices.ContainsFunc(p.Pods, api.PodStatus.NotReady):
		banner.Tone = "busy"
		banner.Text += ", but not all are ready yet"
	case len(problems) > 0:
		banner.Tone = "busy"
	case len(p.Pods) == 0:
		banner.Text = "There are no pods"
	}
	banner.Text = strings.Join(append([]string{banner.Text}, problems...), "; ")
	return banner
}

// byTrouble orders pods: those that need attention come first.
func byTrouble(a, b api.PodStatus) int { return strings.Compare(tone(a), tone(b)) }

// Trouble returns the pods that need attention, worst first.
func (p *page) Trouble() []api.PodStatus {
	pods := slices.DeleteFunc(slices.Clone(p.Pods), func(pod api.PodStatus) bool { return pod.Up() && !pod.NotReady() && pod.SourceError == "" })
	slices.SortStableFunc(pods, byTrouble)
	return pods
}

// Culprit returns the container that keeps a pod from being up: preferably none that only waits for another one, and one with a log.
func (p *page) Culprit(pod api.PodStatus) (culprit api.ContainerStatus) {
	best := 0
	for _, c := range pod.Containers {
		rank, s := 1, c.State.Waiting
		if s == nil || s.Reason != api.ReasonNetworkContainer && s.Reason != api.ReasonInitContainer {
			rank += 2
		}
		if p.LogLink(pod, c) != "" {
			rank++
		}
		if _, _, problem := Describe(c); problem != "" && containerTone(c) != "done" && rank > best {
			best, culprit = rank, c
		}
	}
	return culprit
}

// First says in one line what is wrong: with the worst pod, the host or a source. It is empty when all is well.
func (p *page) First() string {
	if trouble := p.Trouble(); len(trouble) > 0 && !(trouble[0].Up() && trouble[0].SourceError != "") { // else the source says more
		pod := trouble[0]
		_, _, problem := Describe(p.Culprit(pod))
		reason := pod.ShortReason()
		return api.OneLine(pod.Name + ": " + Join(reason, cmp.Or(pod.Message, strings.TrimPrefix(strings.TrimPrefix(problem, reason), ": "))))
	}
	text := p.Pressure()
	for _, source := range p.SourceList {
		if !source.FailingSince.IsZero() {
			text = cmp.Or(text, "source "+source.Source+": "+api.OneLine(source.LastError))
		}
	}
	return text
}

// wait is what a pod waits for.
type wait struct {
	Pod, Text string
	At        time.Time // zero: the time is not known
}

// Waits returns what the pods wait for, the soonest first; then those that wait for a person.
func (p *page) Waits() (waits []wait) {
	for _, pod := range p.Trouble() {
		if pod.Phase != api.PodPending && pod.Phase != api.PodFailing {
			continue
		}
		w := wait{Pod: pod.FullName(), Text: pod.ShortReason()}
		if pod.Phase == api.PodFailing {
			w.Text += ", until a person changes something"
		}
		for _, c := range pod.Containers {
			s := c.State.Waiting
			if s == nil || s.Next.IsZero() || !w.At.IsZero() && w.At.Before(s.Next) {
				continue
			}
			does := map[string]string{api.ReasonBackOff: "starts", api.ReasonPullFailed: "pulls the image of", api.ReasonImageNotFound: "pulls the image of"}
			w.At, w.Text = s.Next, cmp.Or(does[s.Reason], "tries")+" container "+c.Name+" again"
		}
		if w.Text != string(api.PodPending) { // else it is being worked on
			waits = append(waits, w)
		}
	}
	slices.SortStableFunc(waits, func(a, b wait) int {
		if a.At.IsZero() != b.At.IsZero() {
			return b.At.Compare(a.At)
		}
		return a.At.Compare(b.At)
	})
	return waits
}

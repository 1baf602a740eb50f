package server

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/trace"
)

func TestTheHeadOfThePageSaysWhetherAllIsWell(t *testing.T) {
	up, starting := api.PodStatus{Name: "a", Phase: api.PodRunning, Ready: true}, api.PodStatus{Name: "b", Phase: api.PodPending}
	notReady, done := api.PodStatus{Name: "c", Phase: api.PodRunning}, api.PodStatus{Name: "d", Phase: api.PodSucceeded}
	planned := api.PodStatus{Name: "e", Phase: api.PodRunning, Reason: api.ReasonWaitsForStep} // and a newer version is not started yet
	for name, tt := range map[string]struct {
		k           *fakeKubelet
		class, text string
	}{
		"all are up":       {&fakeKubelet{statuses: []api.PodStatus{up}}, "good", "The pod is up"},
		"one starts":       {&fakeKubelet{statuses: []api.PodStatus{up, starting}}, "busy", "1 of 2 pods are up b: pending"},
		"one is done":      {&fakeKubelet{statuses: []api.PodStatus{up, up, done}}, "good", "2 of 3 pods are up, 1 done"},
		"all are done":     {&fakeKubelet{statuses: []api.PodStatus{done}}, "good", "The pod has done its work"},
		"a plan waits":     {&fakeKubelet{statuses: []api.PodStatus{planned}}, "good", "The pod is up; a plan waits"},
		"plans wait":       {&fakeKubelet{statuses: []api.PodStatus{planned, planned}}, "good", "2 of 2 pods are up; 2 plans wait"},
		"a source fails":   {&fakeKubelet{sources: []api.SourceStatus{{Source: "http", FailingSince: noon, LastError: "no\nJSON"}}}, "busy", `source "http" has errors source http: no; JSON`},
		"one is not ready": {&fakeKubelet{statuses: []api.PodStatus{up, notReady}}, "busy", "2 of 2 pods are up, but not all are ready yet"},
		"no pods":          {&fakeKubelet{}, "good", "There are no pods"},
		"nothing is known": {&fakeKubelet{err: errors.New("no look yet")}, "busy", "The state of the pods is not known: no look yet"},
	} {
		doc := serve(t, tt.k).page(t)
		doc.shows("summary", "summary "+tt.class, tt.text)
		if strings.Contains(doc.text(), "as they were last read") { // none was ever read
			t.Errorf("%s: the pods of a source that was never read stay", name)
		}
	}
}

// While Docker does not answer, the page shows the pods of the last list, and how old that is.
func TestThePageWhileDockerIsSilent(t *testing.T) {
	k := everyKind()
	k.err = errors.New("it hangs")
	k.health, k.load.Listed = k.err, time.Now().Add(-12*time.Second)
	doc := serveInMemory(t, k).page(t)
	doc.shows("summary", "summary bad", "cannot manage its pods: it hangs")
	doc.shows("box-docker", "box wrong", "no answer; last list 12 s ago: 0 running, 1 ended")
	doc.shows("rest", "", "The loop cannot look, so it changes nothing")
	doc.shows("unknown", "alert", "the pods of the last list, 12 s ago: it hangs")
	doc.shows("pod-list", "pods old", "crash", "fresh")
}

// The page says what the pods wait for, the soonest first, and at the end what a person has to do.
func TestThePageSaysWhatPodsWaitFor(t *testing.T) {
	at := func(reason string, in time.Duration) api.ContainerState {
		s := waitingState(reason, "m")
		s.Waiting.Next = time.Now().Add(in + time.Second/2)
		return s
	}
	pod := func(name string, phase api.PodPhase, states ...api.ContainerState) api.PodStatus {
		p := api.PodStatus{Name: name, Namespace: "default", Source: "file", Phase: phase}
		for i, s := range states {
			p.Containers = append(p.Containers, api.ContainerStatus{Name: []string{"main", "net"}[i], State: s})
		}
		return p
	}
	k := &fakeKubelet{statuses: []api.PodStatus{
		pod("crash", api.PodFailing, at(api.ReasonBackOff, 40*time.Second)),
		pod("port", api.PodFailing, waitingState(api.ReasonNetworkContainer, "waits for the network container"), waitingState(api.ReasonPortTaken, "8080: see ss -lntup")),
		pod("pull", api.PodFailing, at(api.ReasonPullFailed, 12*time.Second)),
		pod("over", api.PodFailed), pod("good", api.PodRunning), pod("start", api.PodPending),
	}, rows: map[string][]trace.Row{}}
	doc := serveInMemory(t, k).page(t)
	doc.shows("rest", "", "The loop waits pull pulls the image of container main again in 12 s crash starts container main again in 40 s "+
		"port PortTaken, until a person changes something The loop looks again")
	doc.shows("trouble-port.default.file", "", "PortTaken 8080: see ss -lntup") // and not what only waits for it
	k.set(func() { k.statuses = nil })
	serveInMemory(t, k).page(t).shows("rest", "", "Nothing to do right now")
}

// A link of before a restart leads to a page that says so, with the command that prints the new one.
func TestThePageWithoutItsKey(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for query, want := range map[string]string{"/": "need a link with a key. It is in", "/?key=of-before": "The kubelet was restarted. The changes of before are gone. Its new link is in"} {
		text := s.ask(t, "GET "+query).body
		command := fmt.Sprintf("<code>kubelet14 -status -token_file=%s -address=127.0.0.1 -port=%d</code>", s.opts.TokenFile, s.listener.Addr().(*net.TCPAddr).Port)
		if !strings.Contains(strings.NewReplacer("<b>", "", "</b>", "").Replace(text), want) || !strings.Contains(text, command) || strings.Contains(text, "page.js") {
			t.Errorf("%s: %q and %q are not in\n%s", query, want, command, text)
		}
	}
}

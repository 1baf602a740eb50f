package server

import (
	"errors"
	"strings"
	"testing"

	"kubelet14/api"
)

func TestTheHeadOfThePageSaysWhetherAllIsWell(t *testing.T) {
	up, starting := api.PodStatus{Name: "a", Phase: api.PodRunning, Ready: true}, api.PodStatus{Name: "b", Phase: api.PodPending}
	notReady := api.PodStatus{Name: "c", Phase: api.PodRunning}
	for name, tt := range map[string]struct {
		k           *fakeKubelet
		class, text string
	}{
		"all are up":       {&fakeKubelet{statuses: []api.PodStatus{up}}, "good", "The pod is up"},
		"one starts":       {&fakeKubelet{statuses: []api.PodStatus{up, starting}}, "busy", "1 of 2 pods are up"},
		"a source fails":   {&fakeKubelet{sources: []api.SourceStatus{{Source: "http", FailingSince: noon}}}, "busy", `source "http" has errors`},
		"one is not ready": {&fakeKubelet{statuses: []api.PodStatus{up, notReady}}, "busy", "2 of 2 pods are up, but not all are ready yet"},
		"no pods":          {&fakeKubelet{}, "good", "There are no pods"},
		"Docker is silent": {&fakeKubelet{err: errors.New("away")}, "busy", "The state of the pods is not known: away"},
	} {
		doc := serve(t, tt.k).page(t)
		doc.shows("health", "health "+tt.class, tt.text)
		if strings.Contains(doc.text(), "as they were last read") { // none was ever read
			t.Errorf("%s: the pods of a source that was never read stay", name)
		}
	}
}

// A port is no link: nobody knows whether it speaks HTTP, and that of a pod that waits for it is another pod's.
func TestThePageLinksToNoPort(t *testing.T) {
	k := &fakeKubelet{statuses: []api.PodStatus{{
		Name: "late", Phase: api.PodFailing, Reason: api.ReasonPortTaken, Message: "by pod web", Ports: []api.Port{{HostPort: 8014, ContainerPort: 8080}},
	}}}
	doc := serve(t, k).page(t)
	doc.shows("pods", "", "8014->8080")
	for _, a := range doc.all("a") {
		if strings.Contains(a.attr("href"), "8014") {
			t.Errorf("%q is a link to %s", a.text(), a.attr("href"))
		}
	}
}

// With many pods, those that are up are rows; those in trouble come first.
func TestPodsInTroubleComeFirst(t *testing.T) {
	for n, want := range map[int]string{8: "crash taken sick failed (gone) fresh stale (done)", 6: "crash taken sick gone stale done"} {
		k := everyKind()
		k.statuses = k.statuses[:n]
		var got []string
		for _, e := range serve(t, k).page(t).byID("pod-list").all("article") {
			name := e.all("h3")[0].text()
			if len(e.all("details")) > 0 {
				name = "(" + name + ")"
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("of %d pods: %q, want %s", n, got, want)
		}
	}
}

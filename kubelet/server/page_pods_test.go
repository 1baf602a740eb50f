package server

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"kubelet14/api"
)

func TestTheHeadOfThePageSaysWhetherAllIsWell(t *testing.T) {
	up, starting := api.PodStatus{Name: "a", Phase: api.PodRunning}, api.PodStatus{Name: "b", Phase: api.PodPending}
	for name, tt := range map[string]struct {
		k           *fakeKubelet
		class, text string
	}{
		"all are up":       {&fakeKubelet{statuses: []api.PodStatus{up}}, "good", "The pod is up"},
		"one starts":       {&fakeKubelet{statuses: []api.PodStatus{up, starting}}, "busy", "1 of 2 pods are up"},
		"a source fails":   {&fakeKubelet{sources: []api.SourceStatus{{Source: "http", FailingSince: noon}}}, "busy", `source "http" cannot be read whole`},
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

// A port is a link to the host that the browser knows the page by.
func TestThePageLinksToHostPorts(t *testing.T) {
	s := serve(t, everyKind())
	for host, want := range map[string]string{"test-host:10250": "http://test-host:8080/", "[::1]:1": "http://[::1]:8080/"} {
		page := s.ask(t, "GET /", with("Host", host)).body
		push, err := bufio.NewReader(s.open(t, t.Context(), "GET /stream", with("Host", host)).Body).ReadString('\n')
		if err != nil || !strings.Contains(page, want) || !strings.Contains(push, want) {
			t.Errorf("at %s there is no %s: %v\n%s\n%s", host, want, err, page, push)
		}
		if strings.Contains(page, ":53/") {
			t.Errorf("there is a link to a port of UDP:\n%s", page)
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

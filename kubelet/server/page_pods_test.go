package server

import (
	"fmt"
	"strings"
	"testing"

	"kubelet14/api"
)

// A port is not a link: it may not speak HTTP, and the port that a pod waits for belongs to another pod.
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

// Pods are ordered by name; many pods are rows. Those in trouble are also at the top of the page, worst first.
func TestPodsKeepTheirPlaces(t *testing.T) {
	for n, want := range map[int]string{
		8: "(crash) (taken) (stale) (gone) (sick) (done) (failed) (fresh): crash taken sick failed fresh stale", 6: "crash taken stale gone sick done: crash taken sick stale",
	} {
		k := everyKind()
		k.statuses = k.statuses[:n]
		doc := serve(t, k).page(t)
		var got, trouble []string
		for _, e := range doc.byID("pod-list").all("article") {
			name := e.all("h3")[0].text()
			if len(e.all("details")) > 0 {
				name = "(" + name + ")"
			}
			got = append(got, name)
		}
		for _, e := range doc.byID("trouble").all("li") {
			trouble = append(trouble, e.all("a")[0].text())
		}
		if got := strings.Join(got, " ") + ": " + strings.Join(trouble, " "); got != want {
			t.Errorf("%d pods are shown as %q, want %s", n, got, want)
		}
	}
	k := &fakeKubelet{}
	for i := range 200 {
		k.statuses = append(k.statuses, api.PodStatus{Name: fmt.Sprint("p", i), Phase: api.PodFailing, Containers: make([]api.ContainerStatus, 1)})
	}
	doc := serve(t, k).page(t)
	if n := len(doc.byID("trouble").all("li")); n != 200 || !strings.Contains(doc.byID("why").all("summary")[0].text(), "0 of 200 pods are up p0: failing") {
		t.Errorf("%d lines are on top for 200 pods in trouble, or its one line is another", n)
	}
}

// Without pods the page shows what to do. A crash loop is shown as few events.
func TestThePageSaysWhatToDoAndSumsUpEvents(t *testing.T) {
	k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file", Place: "/etc/pods", LastSuccess: noon}}}
	for i, reason := range []string{"SET", "started", "BackOff", "started", "BackOff", "UPDATE", "started", "started"} {
		k.addEvent(api.Event{Pod: "a", Reason: reason, Message: fmt.Sprint("message ", i)})
	}
	doc := serve(t, k).page(t)
	doc.shows("hint", "", "cat >/etc/pods/hello.yaml <<END", "kubelet14/hello:1")
	var got []string
	for _, e := range doc.byID("event-list").all("li") {
		got = append(got, strings.TrimPrefix(e.text(), "ago "))
	}
	want := "started a ×2 message 7|UPDATE a message 5|BackOff a ×2 message 4|started a ×2 message 3|SET a message 0"
	if got := strings.Join(got, "|"); got != want {
		t.Errorf("the events are %s, want %s", got, want)
	}
}

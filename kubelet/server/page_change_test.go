package server

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/watch"
)

// traceOf returns a trace with one change, which has each kind of event for each pod.
func traceOf(text string, pods ...string) *trace.Trace {
	t := &trace.Trace{}
	t.Add(trace.Event{Kind: trace.Read, Source: "file", Place: "/etc/web.yaml", Error: text})
	for _, kind := range []trace.Kind{trace.Send, trace.Mux, trace.Merge, trace.Update} {
		t.Add(trace.Event{Kind: kind, Source: "file", N: 2, Pods: pods, Changed: pods})
	}
	for _, pod := range pods {
		t.Add(trace.Event{Kind: trace.Apply, Pod: pod, Place: "/etc/web.yaml", Change: watch.Edited, Changed: []string{"main: image changed"}})
	}
	t.Woken(watch.UPDATE)
	t.Add(trace.Event{Kind: trace.List})
	t.Add(trace.Event{Kind: trace.Listed, N: 3, Inspected: 1})
	rows := []trace.Row{{Container: "main", Desired: "runs", Sign: "≠", Observed: []trace.Attempt{{Attempt: 1, State: "ended", Message: text}},
		Plan: []trace.Act{{Step: 1, Do: "create", Attempt: 2, Reason: text}}}}
	for _, kind := range []trace.Kind{trace.Plan, trace.Work, trace.Begin, trace.End, trace.Ended, trace.Wait, trace.Docker} {
		for _, pod := range pods {
			e := trace.Event{Kind: kind, Pod: pod, Container: "main", Attempt: 2, Op: "create", Reason: text}
			if kind == trace.Plan || kind == trace.Wait {
				e.Rows = rows
			}
			t.Add(e)
		}
	}
	t.Add(trace.Event{Kind: trace.List})
	t.Add(trace.Event{Kind: trace.Listed, N: 3, Pods: pods[:1]})
	t.Synced()
	t.Add(trace.Event{Kind: trace.List})
	t.Add(trace.Event{Kind: trace.Listed, N: 3})
	for _, pod := range pods {
		t.Add(trace.Event{Kind: trace.Idle, Pod: pod, Rows: []trace.Row{{Container: "main", Desired: "runs", Sign: "="}}})
	}
	t.Synced()
	return t
}

func (s *testServer) change(t *testing.T, query string) element {
	t.Helper()
	got := s.ask(t, "GET /changes/1?key="+s.key+query)
	root, err := html.Parse(strings.NewReader(got.body))
	if err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return element{t, root}
}

// Each stage names a file, a function and a chapter that exist.
func TestStagesPointAtTheCode(t *testing.T) {
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.Trace, o.Source = traceOf("", "web.default.file"), os.DirFS("../..") })
	s.page(t).shows("change-1", "", "web.yaml was edited")
	doc := s.change(t, "")
	var kinds []string
	for _, li := range doc.byID("stages").all("li") {
		kinds = append(kinds, li.attr("data-kind"))
		file, chapter := li.all("code")[len(li.all("code"))-1].text(), li.all("cite")[0].text()
		function := strings.Fields(strings.SplitAfter(li.text(), file)[1])[0]
		code, err := os.ReadFile("../../" + file)
		_, noChapter := os.Stat("../../" + chapter)
		if err != nil || noChapter != nil || !regexp.MustCompile(`(?m)^func (\(.*?\) )?`+function+`\(`).Match(code) {
			t.Errorf("%s: %q has no function %q, or there is no chapter %q", li.attr("data-kind"), file, function, chapter)
		}
		if links := li.all("a"); len(links) != 2 || s.ask(t, "GET "+links[0].attr("href")).body != string(code) ||
			s.ask(t, "GET "+links[1].attr("href")).status != http.StatusOK {
			t.Errorf("%s: the links to the code and its chapter are %v", li.attr("data-kind"), links)
		}
	}
	want := "read send mux merge update apply list listed plan work begin end ended wait event list listed skip list listed idle"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("the stages are %s, want %s", got, want)
	}
	if got := s.ask(t, "GET /changes/7?key="+s.key); got.status != http.StatusNotFound {
		t.Errorf("a change that is not there is %d", got.status)
	}
}

// A change of several pods can be told for each pod, or as a sum.
func TestChangeOfSeveralPods(t *testing.T) {
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.Trace = traceOf("", "a.default.file", "b.default.file") })
	sum, one := s.change(t, ""), s.change(t, "&pod=b.default.file")
	sum.shows("of-pods", "", "all, as a sum, or of one: a b")
	sum.shows("stages", "", "create containers of 2 pods", "2 pods differ", "the worker of a was busy", "a is skipped")
	one.shows("stages", "", "create attempt 2 of main", "plan for b")
	if text := one.byID("stages").text(); strings.Contains(text, "worker of a") {
		t.Errorf("the story of b tells of a: %s", text)
	}
}

// A new container replaces one that runs, but not one that has ended. The story of one pod skips that pod alone.
func TestStagesSayWhatHasHappened(t *testing.T) {
	for state, want := range map[string]bool{"running": true, "ended": false} {
		tr := traceOf("", "a.default.file", "b.default.file")
		for _, kind := range []trace.Kind{trace.Plan, trace.Work, trace.Begin, trace.End, trace.Ended, trace.List, trace.Listed} {
			tr.Add(trace.Event{Kind: kind, Pod: "c.default.file", Container: "main", Attempt: 2, Op: "create", Rows: []trace.Row{
				{Container: "main", Observed: []trace.Attempt{{Attempt: 1, State: state}}, Plan: []trace.Act{{Do: "create"}}},
			}})
		}
		tr.Synced()
		s := serve(t, &fakeKubelet{}, func(o *Options) { o.Trace = tr })
		text := s.ask(t, "GET /changes/2?key="+s.key).body
		if got := strings.Contains(text, "What it replaces runs on"); got != want || strings.Contains(text, "Woken by") {
			t.Errorf("with an attempt that is %s the stages are %s", state, text)
		}
	}
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.Trace = traceOf("", "a.default.file", "b.default.file") })
	s.change(t, "&pod=a.default.file").shows("stages", "", "the worker of a was busy", "a is skipped", "2 pods are new, edited or gone")
	list, story := s.page(t).byID("change-1").text(), s.change(t, "")
	if took := story.byID("stages").attr("data-took"); took != s.opts.Trace.Changes()[0].Took().String() || !strings.Contains(list, "in "+took) && took != "0s" {
		t.Errorf("the list says %q, and the replay that it took %q", list, took)
	}
}

func TestForeignTextIsOnlyTextInAChange(t *testing.T) {
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.Trace = traceOf(hostile, hostile+".default.file") })
	doc := s.change(t, "")
	if n := strings.Count(doc.byID("stages").text(), "<img src=x onerror=alert(1)>"); n < 5 {
		t.Errorf("the text is shown %d times only", n)
	}
	saved := s.ask(t, "GET /changes/1?save=1&key="+s.key)
	if n := strings.Count(saved.body, "<script"); n != 1 {
		t.Errorf("a saved replay has %d scripts", n)
	}
	for _, e := range append(doc.all(), s.page(t).all()...) {
		if slices.Contains([]string{"img", "iframe"}, e.Data) || e.Data == "script" && !strings.HasPrefix(e.attr("src"), "/static/") {
			t.Errorf("there is a <%s>", e.Data)
		}
	}
}

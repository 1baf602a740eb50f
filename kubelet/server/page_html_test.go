package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"kubelet14/api"
)

// element is an element of a page, with what tests ask of one.
type element struct {
	t testing.TB
	*html.Node
}

func pageOf(t testing.TB, s *testServer) element {
	t.Helper()
	got := s.ask(t, "GET /")
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("the page is %d %s\n%s", got.status, got.header.Get("Content-Type"), got.body)
	}
	root, err := html.Parse(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	return element{t, root}
}

// all are the elements below e, of these kinds if any are named, in the order of the page.
func (e element) all(kinds ...string) (found []element) {
	for n := range e.Descendants() {
		if n.Type == html.ElementNode && (len(kinds) == 0 || slices.Contains(kinds, n.Data)) {
			found = append(found, element{e.t, n})
		}
	}
	return found
}

func (e element) attr(key string) string {
	for _, a := range e.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func (e element) has(key string) bool {
	return slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == key })
}

func (e element) byID(id string) element {
	e.t.Helper()
	for _, found := range e.all() {
		if found.attr("id") == id {
			return found
		}
	}
	e.t.Fatalf("the page has no element with id %q", id)
	return element{}
}

// text is what a person reads, with single spaces.
func (e element) text() string {
	var text strings.Builder
	for n := range e.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func (e element) hasText(parts ...string) {
	e.t.Helper()
	text := e.text()
	for _, part := range parts {
		if part = strings.Join(strings.Fields(part), " "); !strings.Contains(text, part) {
			e.t.Errorf("%q is missing in %q", part, text)
		}
	}
}

// hostile is what somebody may write into a manifest, a termination message or a log.
const hostile = `</p></script><script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>"'` + "`" + `<a href="javascript:alert(1)">`

// hostileKubelet says hostile words wherever words of others may come.
func hostileKubelet() *fakeKubelet {
	end := &api.ContainerStateTerminated{Reason: hostile, Message: hostile}
	k := &fakeKubelet{statuses: []api.PodStatus{{
		Name: hostile, Namespace: hostile, Source: hostile, Origin: hostile, Phase: hostile, PodIP: hostile, Reason: hostile, Message: hostile, SourceError: hostile, UID: hostile,
		Containers: []api.ContainerStatus{
			{Name: hostile, Image: hostile, Last: end, RestartCount: 1, State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: hostile, Message: hostile + "!"}}},
			{Name: "b", Image: hostile, State: api.ContainerState{Running: &api.ContainerStateRunning{Message: hostile}}},
			{Name: "c", Image: hostile, State: api.ContainerState{Terminated: end}},
		},
	}}}
	k.addEvent(api.Event{Time: time.Now(), Pod: hostile, Container: hostile, Reason: hostile, Message: hostile})
	return k
}

func TestWordsOfOthersAreOnlyWords(t *testing.T) {
	doc := pageOf(t, serve(t, hostileKubelet(), func(o *Options) {
		o.Hostnames = []string{hostile}
		o.Version = hostile
		o.Sources = func() []api.SourceStatus {
			return []api.SourceStatus{{Source: hostile, Place: hostile, LastError: hostile, FailingSince: time.Now()}}
		}
	}))
	if n := strings.Count(doc.text(), "<img src=x onerror=alert(1)>"); n < 15 {
		t.Errorf("the words are shown %d times only", n)
	}
	harmless(t, doc)
}

func TestThePageRefersToNoOtherHost(t *testing.T) {
	now := time.Now()
	harmless(t, pageOf(t, serve(t, everyKind(now), func(o *Options) { o.Sources = sourcesOfEveryKind(now) })))
	for _, file := range []string{"page.css", "page.js", "favicon.svg"} {
		data, err := pageFiles.ReadFile("page/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), `xmlns="http://www.w3.org/2000/svg"`, "")
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "// ")
			for _, word := range []string{"//", "url(", "@import", "innerHTML", "eval("} {
				if strings.Contains(line, word) {
					t.Errorf("%s has %q: %s", file, word, line)
				}
			}
		}
	}
}

// harmless sees that a page runs nothing but its own script and shows nothing of others.
func harmless(t *testing.T, doc element) {
	t.Helper()
	for _, e := range doc.all() {
		for _, a := range e.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on") || a.Key == "style":
				t.Errorf("<%s> has %s=%q", e.Data, a.Key, a.Val)
			case slices.Contains([]string{"src", "href", "action", "srcset", "data", "poster"}, a.Key):
				if own := strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//") || strings.HasPrefix(a.Val, "#"); !own {
					t.Errorf("<%s> refers to %q", e.Data, a.Val)
				}
			}
		}
		switch e.Data {
		case "script":
			if e.attr("src") != "/static/page.js" || e.text() != "" {
				t.Errorf("there is a script %q: %s", e.attr("src"), e.text())
			}
		case "style", "img", "iframe", "object", "embed", "base", "form":
			t.Errorf("there is a <%s>", e.Data)
		}
	}
}

// What somebody needs who does not see the page, or uses it by the keyboard.
func TestThePageByKeyboardAndByEar(t *testing.T) {
	now := time.Now()
	doc := pageOf(t, serve(t, everyKind(now), func(o *Options) { o.Sources = sourcesOfEveryKind(now) }))

	for _, kind := range []string{"h1", "main", "title"} {
		if n := len(doc.all(kind)); n != 1 {
			t.Errorf("there are %d <%s>, want one", n, kind)
		}
	}
	if got := doc.all("html")[0].attr("lang"); got != "en" {
		t.Errorf("the language is %q", got)
	}
	level := 0
	for _, h := range doc.all("h1", "h2", "h3", "h4") {
		next := int(h.Data[1] - '0')
		if next > level+1 || h.text() == "" {
			t.Errorf("heading %q of level %d comes after level %d", h.text(), next, level)
		}
		level = next
	}

	ids := map[string]int{}
	for _, e := range doc.all() {
		if id := e.attr("id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%d elements have the id %q", n, id)
		}
	}
	spoken := 0
	for _, e := range doc.all() {
		name := e.text()
		if e.has("aria-label") {
			name = e.attr("aria-label")
		}
		if by := e.attr("aria-labelledby"); by != "" {
			name = doc.byID(by).text()
		}
		if control := e.Data == "a" || e.Data == "button" || e.has("tabindex"); (control || e.Data == "section" || e.Data == "article") && name == "" {
			t.Errorf("<%s id=%q> has no name", e.Data, e.attr("id"))
		}
		if target, inside := strings.CutPrefix(e.attr("href"), "#"); inside && ids[target] == 0 {
			t.Errorf("the link %q leads to #%s, which is nowhere", e.text(), target)
		}
		if e.has("aria-live") {
			spoken++
		}
	}
	if spoken != 1 || doc.byID("status").attr("aria-live") != "polite" {
		t.Errorf("%d elements are read out by themselves, want the status line alone", spoken)
	}
	doc.byID("status").hasText("reload to see changes") // for who has no script
}

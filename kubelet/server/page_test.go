package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"

	"kubelet14/api"
)

// element is an element of a page.
type element struct {
	t testing.TB
	*html.Node
}

func (s *testServer) page(t testing.TB) element {
	t.Helper()
	got := s.ask(t, "GET /")
	root, err := html.Parse(strings.NewReader(got.body))
	if err != nil || got.status != http.StatusOK || got.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("the page is %d %s, %v\n%s", got.status, got.header.Get("Content-Type"), err, got.body)
	}
	return element{t, root}
}

// all returns the elements below e, in the order of the page; of these kinds, if any are named.
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

// shows checks the class and the text of the element with an id.
func (e element) shows(id, class string, parts ...string) {
	e.t.Helper()
	found := e.byID(id)
	if got := found.attr("class"); class != "" && got != class {
		e.t.Errorf("the class of %s is %q, want %q", id, got, class)
	}
	for _, part := range parts {
		if text := found.text(); !strings.Contains(text, part) {
			e.t.Errorf("%s: %q is missing in %q", id, part, text)
		}
	}
}

// everyKind is a kubelet in which everything happens that a page may have to show.
func everyKind() *fakeKubelet {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	pod := func(name, source string, phase api.PodPhase, states ...api.ContainerState) api.PodStatus {
		p := api.PodStatus{Name: name, Namespace: "default", Source: source, Origin: "/etc/" + name, Phase: phase, PodIP: "172.17.0.5"}
		for _, state := range append(states, runningState(ago(time.Hour), "")) {
			p.Containers = append(p.Containers, api.ContainerStatus{Name: "main", Image: "hello:1", State: state})
		}
		p.Containers[len(states)].Name = api.NetworkContainerName
		return p
	}
	backOff := waitingState(api.ReasonBackOff, "it ended soon")
	backOff.Waiting.Next = now.Add(8 * time.Second)
	crash := pod("crash", "file", api.PodRunning, backOff)
	crash.Containers[0].RestartCount, crash.Containers[0].Last = 4, terminatedState(3, api.ReasonError, ago(7*time.Second)).Terminated
	taken := pod("taken", "file", api.PodPending, waitingState(api.ReasonPortTaken, "by db"))
	taken.Reason, taken.Message = api.ReasonPortTaken, "by db"
	stale := pod("stale", "file", api.PodRunning, runningState(ago(3*time.Hour), ""))
	stale.SourceError = "/etc/stale:7:5: unknown field"
	gone := pod("gone", "http", api.PodRunning, runningState(ago(50*time.Hour), ""))
	gone.Reason, gone.Message = api.ReasonRemoved, "no source has it"
	k := &fakeKubelet{
		load: api.Load{Workers: 9, Waiting: 1, Pulls: 2, Queued: 1},
		statuses: []api.PodStatus{
			crash, taken, stale, gone,
			pod("sick", "file", api.PodRunning, runningState(ago(time.Minute), "unhealthy")),
			pod("done", "file", api.PodSucceeded, terminatedState(0, api.ReasonCompleted, ago(4*time.Minute))),
			pod("failed", "file", api.PodFailed, terminatedState(2, api.ReasonOOMKilled, ago(4*time.Minute))),
			pod("fresh", "file", api.PodPending, waitingState(api.ReasonPulling, "34 MB of 112 MB")),
		},
		desired: make([]api.Pod, 7),
		sources: []api.SourceStatus{
			{Source: "file", Place: "/etc", Pods: 7, LastSuccess: ago(2 * time.Minute), FailingSince: ago(90 * time.Second), LastError: "/etc/stale:7:5: unknown field"},
			{Source: "http", Place: "http://127.0.0.1:9000", Pods: 1, LastSuccess: ago(3 * time.Second)},
			{Source: "etcd", Place: "http://127.0.0.1:2379"},
		},
	}
	k.addEvent(api.Event{Time: ago(3 * time.Hour), Pod: "stale.default.file", Reason: "SET", Message: "the source has a new pod"})
	k.addEvent(api.Event{Time: ago(20 * time.Minute), Pod: "stale.default.file", Reason: "UPDATE", Message: "its manifest has changed"})
	k.addEvent(api.Event{Time: ago(7 * time.Second), Pod: "crash.default.file", Container: "main", Reason: api.ReasonBackOff, Message: "it ended soon"})
	return k
}

func TestThePageShowsEverything(t *testing.T) {
	doc := serve(t, everyKind()).page(t)
	for _, want := range []struct {
		id, class string
		parts     []string
	}{
		{"health", "health good", []string{"The kubelet is healthy"}},
		{"source-file", "source bad", []string{"failing for 1 min", "/etc", "read whole 2 min ago", "7 pods"}},
		{"failing-file", "", []string{"unknown field", "Its pods stay"}},
		{"source-http", "source good", []string{"read whole 3 s ago", "1 pod"}},
		{"source-etcd", "source busy", []string{"not read yet", "0 pods"}},
		{"flow-mux", "", []string{"SET", "7 desired pods"}},
		{"flow-loop", "", []string{"SET UPDATE", "UPDATE 20 min ago"}},
		{"flow-workers", "", []string{"9 busy, 1 waiting"}},
		{"worker-stale.default.file", "good", []string{"stale file · UPDATE 20 min ago"}},
		{"flow-docker", "", []string{"11 running containers, 3 waiting, 2 ended", "2 pulls, 1 queued"}},
		{"pod-crash.default.file", "pod bad", []string{"crash", "running", "default", "file", "/etc/crash", "172.17.0.5"}},
		{"container-crash.default.file-0", "container bad", []string{"hello:1", "waiting, next try in 7 s", "4 restarts", "BackOff: it ended soon", "Before, 7 s ago: Error (exit code 3)"}},
		{"container-crash.default.file-1", "container good network", []string{"net", "running for 1 h"}},
		{"pod-taken.default.file", "pod bad", []string{"PortTaken: by db"}},
		{"pod-stale.default.file", "pod good", []string{"It may be older than its manifest", "UPDATE20 min ago: its manifest has changed"}},
		{"pod-gone.default.http", "pod busy", []string{"Removed: no source has it", "running for 2 days"}},
		{"pod-sick.default.file", "pod busy", nil},
		{"container-sick.default.file-0", "container busy", []string{"running for 1 min", "unhealthy"}},
		{"pod-done.default.file", "pod done", []string{"succeeded", "ended 4 min ago", "Completed"}},
		{"pod-failed.default.file", "pod bad", []string{"failed", "ended 4 min ago", "OOMKilled (exit code 2)"}},
		{"pod-fresh.default.file", "pod busy", []string{"pending", "waiting", "Pulling: 34 MB of 112 MB"}},
		{"event-3", "", []string{"7 s ago BackOff crash.default.file main it ended soon"}},
		{"event-2", "op", nil},
	} {
		doc.shows(want.id, want.class, want.parts...)
	}
	if n := strings.Count(doc.byID("pod-taken.default.file").text(), "by db"); n != 1 {
		t.Errorf("the problem of a pod is shown %d times", n)
	}
	doc = serve(t, &fakeKubelet{health: errors.New("Docker is away"), err: errors.New("nobody listens")}).page(t)
	doc.shows("health", "health bad", "cannot manage its pods: Docker is away")
	doc.shows("unknown", "", "nobody listens")
}

func TestThePageShowsTheNewestEventsFirst(t *testing.T) {
	k := &fakeKubelet{}
	for i := range pageEvents + 50 {
		k.addEvent(api.Event{Time: time.Now(), Reason: "started", Message: fmt.Sprint("number ", i)})
	}
	items := serve(t, k).page(t).byID("event-list").all("li")
	if len(items) != pageEvents || !strings.Contains(items[0].text(), "number 249") || !strings.Contains(items[pageEvents-1].text(), "number 50") {
		t.Errorf("there are %d events, from %q", len(items), items[0].text())
	}
}

func TestThePageLinksToLogs(t *testing.T) {
	pod := func(source string, containers ...api.ContainerStatus) api.PodStatus {
		return api.PodStatus{Name: "web", Namespace: "team", Source: source, Containers: containers}
	}
	main := api.ContainerStatus{Name: "main", State: runningState(noon, "")}
	net := api.ContainerStatus{Name: api.NetworkContainerName, State: main.State}
	fresh := api.ContainerStatus{Name: "main", State: waitingState(api.ReasonCreating, "")}
	again := api.ContainerStatus{Name: "main", State: fresh.State, RestartCount: 1}
	for name, tt := range map[string]struct {
		pods  []api.PodStatus
		debug bool
		want  []string
	}{
		"running, and not the network container": {[]api.PodStatus{pod("file", main, net)}, true, []string{"web.team.file"}},
		"one name in two sources":                {[]api.PodStatus{pod("file", main), pod("http", main)}, true, []string{"web.team.file", "web.team.http"}},
		"never ran":                              {[]api.PodStatus{pod("file", fresh)}, true, nil},
		"waits to run again":                     {[]api.PodStatus{pod("file", again)}, true, []string{"web.team.file"}},
		"without debugging handlers":             {[]api.PodStatus{pod("file", main)}, false, nil},
	} {
		s := serve(t, &fakeKubelet{statuses: tt.pods}, func(o *Options) { o.Debugging = tt.debug })
		var got []string
		for _, a := range s.page(t).all("a") {
			if rest, ok := strings.CutPrefix(a.attr("href"), "/containerLogs/team/"); ok {
				got = append(got, strings.TrimSuffix(rest, "/main?tail=200"))
				if answer := s.ask(t, "GET "+a.attr("href"), withToken); answer.status != http.StatusOK {
					t.Errorf("%s: %s answers %d %s", name, a.attr("href"), answer.status, answer.body)
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: the links are %q, want %q", name, got, tt.want)
		}
	}
}

func TestThePagesFiles(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for file, want := range map[string]string{
		"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "favicon.svg": "image/svg+xml",
	} {
		got := s.ask(t, "GET /static/"+file)
		if got.status != http.StatusOK || got.header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s, want 200 %s", file, got.status, got.header.Get("Content-Type"), want)
		}
		for line := range strings.Lines(strings.ReplaceAll(got.body, `xmlns="http://www.w3.org/2000/svg"`, "")) {
			line, _, _ := strings.Cut(line, "// ")
			for _, word := range []string{"//", "url(", "@import", "innerHTML", "eval("} {
				if strings.Contains(line, word) {
					t.Errorf("%s has %q: %s", file, word, line)
				}
			}
		}
	}
	for _, path := range []string{"/static/", "/static/page.html", "/static/..%2fpage.go", "/static/%2e%2e%2f%2e%2e%2fdoc.go"} {
		if got := s.ask(t, "GET "+path); got.status == http.StatusOK {
			t.Errorf("%s is there: %s", path, got.body)
		}
	}
}

// hostile is what a manifest, a termination message or a log may hold.
const hostile = `</p></script><script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>"'` + "`" + `<a href="javascript:alert(1)">`

func TestForeignTextIsOnlyText(t *testing.T) {
	end := &api.ContainerStateTerminated{Reason: hostile, Message: hostile}
	k := &fakeKubelet{
		statuses: []api.PodStatus{{
			Name: hostile, Namespace: hostile, Source: hostile, Origin: hostile, Phase: hostile, PodIP: hostile, Reason: hostile, Message: hostile, SourceError: hostile,
			Containers: []api.ContainerStatus{
				{Name: hostile, Image: hostile, Last: end, RestartCount: 1, State: waitingState(hostile, hostile+"!")},
				{Name: "b", Image: hostile, State: runningState(noon, hostile)},
				{Name: "c", Image: hostile, State: api.ContainerState{Terminated: end}},
			},
		}},
		sources: []api.SourceStatus{{Source: hostile, Place: hostile, LastError: hostile, FailingSince: noon}},
	}
	k.addEvent(api.Event{Time: noon, Pod: hostile, Container: hostile, Reason: hostile, Message: hostile})
	doc := serve(t, k, func(o *Options) { o.Hostnames, o.Version = []string{hostile}, hostile }).page(t)
	if n := strings.Count(doc.text(), "<img src=x onerror=alert(1)>"); n < 15 {
		t.Errorf("the text is shown %d times only", n)
	}
	for _, e := range append(doc.all(), serve(t, everyKind()).page(t).all()...) {
		for _, a := range e.Attr {
			isLink := slices.Contains([]string{"src", "href", "action", "srcset", "data", "poster"}, a.Key)
			isOurs := strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//") || strings.HasPrefix(a.Val, "#")
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || isLink && !isOurs {
				t.Errorf("<%s> has %s=%q", e.Data, a.Key, a.Val)
			}
		}
		isOurs := e.Data == "script" && e.attr("src") == "/static/page.js" && e.text() == ""
		if slices.Contains([]string{"script", "style", "img", "iframe", "object", "embed", "base", "form"}, e.Data) && !isOurs {
			t.Errorf("there is a <%s> with %v", e.Data, e.Attr)
		}
	}
}

// What a user needs who does not see the page, or uses it by the keyboard.
func TestThePageByKeyboardAndByEar(t *testing.T) {
	doc := serve(t, everyKind()).page(t)
	level, announced := 0, 0
	ids := map[string]int{}
	for _, e := range doc.all() {
		ids[e.attr("id")]++
		if e.attr("aria-live") != "" {
			announced++
		}
		if len(e.Data) == 2 && e.Data[0] == 'h' && e.Data != "hr" {
			if next := int(e.Data[1] - '0'); next > level+1 || e.text() == "" {
				t.Errorf("heading %q of level %d comes after level %d", e.text(), next, level)
			}
			level = int(e.Data[1] - '0')
		}
	}
	for _, e := range doc.all() {
		name := e.text() + e.attr("aria-label")
		if by := e.attr("aria-labelledby"); by != "" {
			name = doc.byID(by).text()
		}
		if name == "" && (slices.Contains([]string{"a", "button", "section", "article"}, e.Data) || e.attr("tabindex") != "") {
			t.Errorf("<%s id=%q> has no name", e.Data, e.attr("id"))
		}
		if target, inside := strings.CutPrefix(e.attr("href"), "#"); inside && ids[target] == 0 {
			t.Errorf("the link %q leads to #%s, which is nowhere", e.text(), target)
		}
	}
	delete(ids, "")
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%d elements have the id %q", n, id)
		}
	}
	if len(doc.all("h1")) != 1 || len(doc.all("main")) != 1 || len(doc.all("title")) != 1 || doc.all("html")[0].attr("lang") != "en" || announced != 1 {
		t.Errorf("the frame of the page is wrong, or %d elements are announced, want the status line alone", announced)
	}
	doc.shows("status", "", "reload to see changes") // without the script
}

func TestAges(t *testing.T) {
	for age, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", time.Minute - 1: "59 s", time.Minute: "1 min", time.Hour - 1: "59 min",
		time.Hour: "1 h", 48*time.Hour - 1: "47 h", 48 * time.Hour: "2 days", 100 * 24 * time.Hour: "100 days",
	} {
		if got := ageText(age); got != want {
			t.Errorf("%v is %q, want %q", age, got, want)
		}
	}
}

// pushes returns a function that counts the pushes that have come to a page since its last call, and checks their form.
func pushes(t *testing.T, answer *http.Response) func() int {
	t.Helper()
	came := make(chan struct{}, 1000)
	go func() {
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var push struct{ Instance, HTML string }
			if ok && (json.Unmarshal([]byte(data), &push) != nil || push.Instance == "" || !strings.Contains(push.HTML, `id="pod-list"`)) {
				t.Errorf("a push is %q", data)
			}
			if ok {
				came <- struct{}{}
			} else if lines.Text() != "" {
				t.Errorf("a line is %q", lines.Text())
			}
		}
	}()
	return func() (n int) {
		synctest.Wait()
		for ; len(came) > 0; n++ {
			<-came
		}
		return n
	}
}

func TestStreamPushesEachChange(t *testing.T) {
	for name, change := range map[string]struct {
		do     func(*fakeKubelet)
		within time.Duration
	}{
		"a new snapshot": {func(k *fakeKubelet) { k.publish() }, 0},
		"an event":       {func(k *fakeKubelet) { k.addEvent(api.Event{}) }, 0},
		"health":         {func(k *fakeKubelet) { k.set(func() { k.health = errors.New("Docker is away") }) }, pageTick},
		"a pull":         {func(k *fakeKubelet) { k.set(func() { k.load.Pulls = 1 }) }, pageTick},
		"a source":       {func(k *fakeKubelet) { k.set(func() { k.sources = []api.SourceStatus{{Source: "http"}} }) }, pageTick},
		"nothing":        {func(k *fakeKubelet) {}, pageAlive},
	} {
		t.Run(name, func(t *testing.T) {
			k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file"}}}
			inBubble(t, k, func(t *testing.T, s *testServer) {
				answer := s.open(t, context.Background(), "GET /stream")
				count := pushes(t, answer)
				if n := count(); n != 1 || answer.Header.Get("Content-Type") != "text/event-stream" {
					t.Errorf("at the beginning %d come, of type %s", n, answer.Header.Get("Content-Type"))
				}
				time.Sleep(2*pageTick + pagePause)
				if n := count(); n != 0 {
					t.Errorf("%d come before anything has changed", n)
				}
				change.do(k)
				time.Sleep(change.within)
				if n := count(); n != 1 {
					t.Errorf("%d come within %v, want 1", n, change.within)
				}
			})
		})
	}
}

func TestStreamPushesTwiceASecondAtMost(t *testing.T) {
	k := &fakeKubelet{}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		count := pushes(t, s.open(t, context.Background(), "GET /stream"))
		for range 300 {
			k.addEvent(api.Event{})
			k.publish()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(pagePause) // the last change too
		if n := count(); n < 7 || n > 8 {
			t.Errorf("in 3.5 s of changes %d come", n)
		}
		for range 100 { // in 2014 an answer ended after ten seconds
			if time.Sleep(pageAlive); count() == 0 {
				t.Fatal("ten seconds pass without a push")
			}
		}
	})
}

// A page whose connection takes nothing any more is dropped.
func TestStreamEndsWhenNothingIsRead(t *testing.T) {
	k := &fakeKubelet{statuses: []api.PodStatus{{Message: strings.Repeat("x", 1<<20)}}}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		answer := s.open(t, context.Background(), "GET /stream")
		time.Sleep(writeTimeout + time.Second)
		if _, err := io.Copy(io.Discard, answer.Body); err == nil {
			t.Error("the stream has not ended by an error")
		}
	})
}

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
	"kubelet14/api/unittest"
	"kubelet14/kubelet/trace"
)

// element is an element of a page.
type element struct {
	t testing.TB
	*html.Node
}

func (s *testServer) page(t testing.TB) element {
	t.Helper()
	got := s.ask(t, "GET /", withKey(s.key))
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
	at := slices.IndexFunc(e.Attr, func(a html.Attribute) bool { return a.Key == key })
	if at < 0 {
		return ""
	}
	return e.Attr[at].Val
}

func (e element) byID(id string) element {
	e.t.Helper()
	all := e.all()
	at := slices.IndexFunc(all, func(found element) bool { return found.attr("id") == id })
	if at < 0 {
		e.t.Fatalf("the page has no element with id %q", id)
	}
	return all[at]
}

// text returns the text of an element with single spaces.
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

// everyKind is a kubelet with everything that a page may have to show.
func everyKind() *fakeKubelet {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	pod := func(name, source string, phase api.PodPhase, states ...api.ContainerState) api.PodStatus {
		p := api.PodStatus{Name: name, Namespace: "default", Source: source, Origin: "/etc/" + name, Phase: phase, PodIP: "172.17.0.5", Ready: true}
		for _, state := range append(states, runningState(ago(time.Hour), "")) {
			p.Containers = append(p.Containers, api.ContainerStatus{
				Name: "main", Image: "hello:1", ContainerID: "0123456789abcdef", Ready: state.Running != nil, State: state,
			})
		}
		p.Containers[len(states)].Name = api.NetworkContainerName
		return p
	}
	backOff := waitingState(api.ReasonBackOff, "it ended soon")
	backOff.Waiting.Next = now.Add(7 * time.Second)
	crash := pod("crash", "file", api.PodFailing, backOff)
	crash.Containers[0].RestartCount, crash.Containers[0].Last = 4, terminatedState(3, api.ReasonError, ago(7*time.Second)).Terminated
	taken := pod("taken", "file", api.PodFailing, waitingState(api.ReasonPortTaken, "by db"))
	taken.Reason, taken.Message = api.ReasonPortTaken, "by db"
	const typo = "/etc/stale:7:5: unknown field"
	stale := pod("stale", "file", api.PodRunning, runningState(ago(48*time.Hour-time.Minute), ""))
	stale.SourceError = typo
	stale.Ports = []api.Port{
		{HostIP: "127.0.0.1", HostPort: 8080, ContainerPort: 80}, {HostPort: 53, ContainerPort: 53, Protocol: api.ProtocolUDP},
	}
	gone := pod("gone", "http", api.PodRemoving, runningState(ago(48*time.Hour), ""))
	gone.Reason, gone.Message = api.ReasonRemoved, "no source has it"
	k := &fakeKubelet{
		load: api.Load{Workers: 9, Waiting: 1, Pulls: 2, Queued: 1},
		statuses: []api.PodStatus{
			crash, taken, stale, gone,
			pod("sick", "file", api.PodFailing, runningState(ago(time.Minute), "unhealthy")),
			pod("done", "file", api.PodSucceeded, terminatedState(0, api.ReasonCompleted, ago(4*time.Minute))),
			pod("failed", "file", api.PodFailed, terminatedState(2, api.ReasonOOMKilled, ago(4*time.Minute))),
			pod("fresh", "file", api.PodPending, waitingState(api.ReasonPulling, "34 MB of 112 MB"),
				waitingState(api.ReasonNetworkContainer, ""), waitingState(api.ReasonInitContainer, "")), // for another
		},
		desired: make([]api.Pod, 7),
		rows: map[string][]trace.Row{"crash.default.file": {{Container: "main", Desired: "runs", Sign: "≠", Observed: []trace.Attempt{{Attempt: 4, State: "ended"}},
			Plan: []trace.Act{{Step: 1, Do: "create", Attempt: 5, Reason: "it ended"}}}}},
		sources: []api.SourceStatus{
			{Source: "file", Place: "/etc", Pods: 7, LastSuccess: ago(2 * time.Minute), FailingSince: ago(90 * time.Second), LastError: typo},
			{Source: "http", Place: "http://127.0.0.1:9000", Pods: 1, LastSuccess: ago(3 * time.Second)},
			{Source: "etcd", Place: "http://127.0.0.1:2379"},
		},
	}
	for _, e := range []api.Event{
		{Time: ago(3 * time.Hour), Pod: "stale.default.file", Reason: "SET", Message: "the source has a new pod"},
		{Time: ago(time.Hour - time.Minute), Pod: "stale.default.file", Reason: "UPDATE", Message: "its manifest has changed"},
		{Time: ago(7 * time.Second), Pod: "crash.default.file", Container: "main", Reason: api.ReasonBackOff, Message: "it ended soon"},
	} {
		k.addEvent(e)
	}
	return k
}

// In a bubble no time passes between the creation of the kubelet and that of its page.
func TestThePageShowsEverything(t *testing.T) { synctest.Test(t, testPageShowsEverything) }

func testPageShowsEverything(t *testing.T) {
	doc := serveInMemory(t, everyKind()).page(t)
	for _, want := range []struct {
		id, class string
		parts     []string
	}{
		{"summary", "summary bad", []string{`2 of 8 pods are up, 1 done; source "file" has errors; source "etcd" has not been read yet`}},
		{"status", "", []string{"reload to see changes"}}, // until the script says otherwise
		{"source-file", "source bad", []string{"failing for 1 min, last good read 2 min ago, 7 pods", "/etc"}},
		{"failing-file", "", []string{"unknown field", "stay as they were last read"}},
		{"source-http", "source good", []string{"last good read 3 s ago", "1 pod"}},
		{"source-etcd", "source busy", []string{"not read yet", "0 pods"}},
		{"box-mux", "", []string{"3 sources"}},
		{"box-storage", "", []string{"7 desired"}},
		{"box-loop", "", []string{"UPDATE 59 min ago"}},
		{"box-workers", "", []string{"9 busy, 1 pod waiting"}},
		{"worker-stale.default.file", "good", []string{"stale"}},
		{"box-docker", "", []string{"0 running, 1 ended", "2 pulls, 1 queued"}},
		{"trouble-crash.default.file", "bad", []string{"crash BackOff it ended soon; next try in 7 s log of main"}},
		{"trouble-taken.default.file", "bad", []string{"taken PortTaken by db"}},
		{"trouble-stale.default.file", "good stale", []string{"stale OldManifest it is up, but older than its manifest: /etc/stale:7:5: unknown field"}},
		{"trouble-fresh.default.file", "busy", []string{"fresh pending Pulling: 34 MB of 112 MB"}},
		{"pod-crash.default.file", "pod bad", []string{"crash", "failing", "default", "file", "/etc/crash", "172.17.0.5"}},
		{"container-crash.default.file-0", "container bad differs", []string{
			"hello:1", "0123456789ab", "4 restarts", "create attempt 5", "≠", "BackOff: it ended soon", "Before, 7 s ago: Error (exit code 3)",
		}},
		{"pod-taken.default.file", "pod bad", []string{"PortTaken by db"}},
		{"pod-stale.default.file", "pod good stale", []string{"stale running hello:1 127.0.0.1:8080->80 53/udp", "It may be older", "for 47 h", "UPDATE 59 min ago: its manifest has changed"}},
		{"row-gone.default.http", "", []string{"Removed no source has it", "for 2 days"}},
		{"pod-sick.default.file", "pod bad", nil},
		{"container-sick.default.file-0", "container busy", []string{"for 1 min", "unhealthy"}},
		{"pod-done.default.file", "pod done", []string{"succeeded", "4 min ago", "Completed"}},
		{"pod-failed.default.file", "pod bad", []string{"failed", "4 min ago", "OOMKilled (exit code 2)"}},
		{"pod-fresh.default.file", "pod busy", []string{"pending", "Pulling: 34 MB of 112 MB"}},
		{"container-fresh.default.file-1", "container busy", nil},
		{"event-3", "", []string{"7 s ago BackOff crash.default.file main it ended soon"}},
		{"event-2", "op", nil},
	} {
		doc.shows(want.id, want.class, want.parts...)
	}
	away := serveInMemory(t, &fakeKubelet{health: errors.New("Docker is away"), err: errors.New("Docker is away")}).page(t)
	away.shows("summary", "summary bad", "cannot manage its pods: Docker is away")
	away.shows("unknown", "", "Docker is away")
	if pod, docker := doc.byID("pod-taken.default.file"), away.byID("health"); strings.Count(pod.text(), "by db")+strings.Count(docker.text(), "away") != 2 {
		t.Errorf("a problem is shown twice: %s, %s", pod.text(), docker.text())
	}
}

func TestThePageShowsTheNewestEventsFirst(t *testing.T) {
	k := &fakeKubelet{}
	for i := range pageEvents + 50 {
		k.addEvent(api.Event{Container: fmt.Sprint(i), Message: fmt.Sprint("number ", i)})
	}
	items := serve(t, k).page(t).byID("event-list").all("li")
	first, last := items[0].text(), items[len(items)-1].text()
	if len(items) != pageEvents || !strings.Contains(first, "number 149") || !strings.Contains(last, "number 50") {
		t.Errorf("there are %d events, from %q to %q", len(items), first, last)
	}
}

// A container that has never run has no log, and the log of a network container has no link.
func TestThePageLinksToLogs(t *testing.T) {
	for debugging, want := range map[bool]string{
		true: "crash.default.file sick.default.file failed.default.file stale.default.file gone.default.http done.default.file", false: "",
	} {
		s := serve(t, everyKind(), func(o *Options) { o.Debugging = debugging })
		var got []string
		for _, a := range s.page(t).all("a") {
			if rest, ok := strings.CutPrefix(a.attr("href"), "/containerLogs/default/"); ok {
				if pod := strings.TrimSuffix(rest, "/main?tail=200&key="+s.key); !slices.Contains(got, pod) {
					got = append(got, pod)
				}
				if answer := s.ask(t, "GET "+a.attr("href")); answer.status != http.StatusOK {
					t.Errorf("%s answers %d %s", a.attr("href"), answer.status, answer.body)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with debugging handlers %v: the links are %q, want %q", debugging, got, want)
		}
	}
}

func TestThePagesFiles(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for path, want := range map[string]string{
		"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "replay.js": "text/javascript; charset=utf-8", "class.js": "text/javascript; charset=utf-8", "favicon.svg": "image/svg+xml",
		"": "", "..%2fpage.go": "", "%2e%2e%2f%2e%2e%2fdoc.go": "", // no such file
	} {
		got := s.ask(t, "GET /static/"+path)
		if isThere := got.status == http.StatusOK; isThere != (want != "") || isThere && got.header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s, want %s\n%s", path, got.status, got.header.Get("Content-Type"), want, got.body)
		}
	}
}

// hostile is a text that a manifest, a termination message or a log may contain.
const hostile = `</p></script><script src="https://evil.example/x.js"></script>` +
	`<img src=x onerror=alert(1)>"'` + "`" + `<a href="javascript:alert(1)">`

func TestForeignTextIsOnlyText(t *testing.T) {
	end := &api.ContainerStateTerminated{Reason: hostile, Message: hostile}
	k := &fakeKubelet{
		statuses: []api.PodStatus{{
			Name: hostile, Namespace: hostile, Source: hostile, Origin: hostile, Phase: hostile, PodIP: hostile,
			Reason: hostile, Message: hostile, SourceError: hostile,
			Containers: []api.ContainerStatus{
				{Name: hostile, Image: hostile, Last: end, RestartCount: 1, State: waitingState(hostile, hostile+"!")},
				{Name: "b", Image: hostile, State: runningState(noon, hostile)},
				{Name: "c", Image: hostile, State: api.ContainerState{Terminated: end}},
			},
		}},
		sources: []api.SourceStatus{{Source: hostile, Place: hostile, LastError: hostile, FailingSince: noon}},
	}
	k.addEvent(api.Event{Time: noon, Pod: hostile, Container: hostile, Reason: hostile, Message: hostile})
	doc := serve(t, k, func(o *Options) { o.Hostname, o.Version = hostile, hostile }).page(t)
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
		isOurs := e.Data == "script" && strings.HasPrefix(e.attr("src"), "/static/") && e.text() == ""
		if slices.Contains([]string{"script", "style", "img", "iframe", "object", "embed", "base", "form"}, e.Data) && !isOurs {
			t.Errorf("there is a <%s> with %v", e.Data, e.Attr)
		}
	}
}

// A screen reader needs headings in order, and a name for every element at which it stops.
func TestThePageByKeyboardAndByEar(t *testing.T) {
	doc := serve(t, everyKind()).page(t)
	level := 0
	for _, e := range doc.all("h1", "h2", "h3", "h4") {
		if next := int(e.Data[1] - '0'); next > level+1 || e.text() == "" {
			t.Errorf("heading %q of level %d comes after level %d", e.text(), next, level)
		}
		level = int(e.Data[1] - '0')
	}
	ids := map[string]bool{}
	for _, e := range doc.all() {
		if id := e.attr("id"); id != "" && ids[id] {
			t.Errorf("several elements have the id %q", id)
		}
		ids[e.attr("id")] = true
		name := e.text() + e.attr("aria-label")
		if by := e.attr("aria-labelledby"); by != "" {
			name = doc.byID(by).text()
		}
		if name == "" && (slices.Contains([]string{"a", "button", "section", "article"}, e.Data) || e.attr("tabindex") != "") {
			t.Errorf("<%s id=%q> has no name", e.Data, e.attr("id"))
		}
		if target, inside := strings.CutPrefix(e.attr("href"), "#"); inside {
			doc.byID(target)
		}
		if isStatus := e.attr("id") == "status" || e.attr("id") == "caption"; isStatus != (e.attr("aria-live") != "") {
			t.Errorf("changes of <%s id=%q> are announced, or those of the status line are not", e.Data, e.attr("id"))
		}
	}
}

// pushes opens a page, and returns a function that counts the pushes since its last call and checks their form.
func (s *testServer) pushes(t *testing.T) func() int {
	t.Helper()
	answer := s.open(t, context.Background(), "GET /stream", withKey(s.key))
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("the stream is of type %s", kind)
	}
	came := make(chan struct{}, 1000)
	go func() {
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() && lines.Text() != "" {
			var push string
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			err := json.Unmarshal([]byte(data), &push)
			if !ok || err != nil || !strings.Contains(push, `id="pod-list"`) || !lines.Scan() {
				t.Errorf("a push is %q, %v", data, err)
			}
			came <- struct{}{}
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
		"a new snapshot": {func(k *fakeKubelet) { k.publish() }, pageTick},
		"an event":       {func(k *fakeKubelet) { k.addEvent(api.Event{}) }, pageTick},
		"health":         {func(k *fakeKubelet) { k.set(func() { k.health = errors.New("Docker is away") }) }, pageTick},
		"a pull":         {func(k *fakeKubelet) { k.set(func() { k.load.Pulls = 1 }) }, pageTick},
		"a source":       {func(k *fakeKubelet) { k.set(func() { k.sources = []api.SourceStatus{{Source: "http"}} }) }, pageTick},
		"nothing":        {func(k *fakeKubelet) {}, pageAlive},
	} {
		k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file"}}}
		inBubble(t, k, func(t *testing.T, s *testServer) {
			count := s.pushes(t)
			atFirst := count()
			time.Sleep(3 * pageTick)
			if idle := count(); atFirst != 1 || idle != 0 {
				t.Errorf("%s: %d come at the beginning and %d before anything has changed, want 1 and none", name, atFirst, idle)
			}
			change.do(k)
			time.Sleep(change.within)
			if n := count(); n != 1 {
				t.Errorf("%s: %d come within %v, want 1", name, n, change.within)
			}
		})
	}
}

func TestStreamPushesTwiceASecondAtMost(t *testing.T) {
	k := &fakeKubelet{}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		count := s.pushes(t)
		for range 300 {
			k.addEvent(api.Event{})
			k.publish()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(pageTick) // the last change too
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

func TestStreamsShareOneRendering(t *testing.T) {
	k := &fakeKubelet{}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		var counts []func() int
		for range 16 {
			counts = append(counts, s.pushes(t))
		}
		for changes := range 3 {
			for i, count := range counts {
				if n := count(); n != 1 {
					t.Errorf("after %d changes %d pushes come to page %d, want 1", changes, n, i)
				}
			}
			if k.looks != changes+1 {
				t.Errorf("after %d changes %d were rendered", changes, k.looks)
			}
			k.publish()
			time.Sleep(pageTick)
			synctest.Wait()
		}
	})
}

// Even if a user of the host opens as many live pages as there are connections, the server answers other requests.
func TestLivePagesOfAnyUserLeaveTheServerToOthers(t *testing.T) {
	inBubble(t, &fakeKubelet{}, func(t *testing.T, s *testServer) {
		began := time.Now()
		check := func(request, want string) {
			t.Helper()
			conn := s.dial(t)
			t.Cleanup(func() { conn.Close() })
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", request)
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			unittest.Must(t, err)
			if answer.Status != want || time.Since(began) > 0 { // it would wait until an idle connection is cut off
				t.Fatalf("%s answers %s after %v, want %s at once", request, answer.Status, time.Since(began), want)
			}
		}
		for range maxConnections {
			check("/stream", "401 Unauthorized")
		}
		check("/healthz", "200 OK")
	})
}

// A page that no longer reads from its connection is dropped.
func TestStreamEndsWhenNothingIsRead(t *testing.T) {
	k := &fakeKubelet{statuses: []api.PodStatus{{Message: strings.Repeat("x", 1<<20)}}}
	inBubble(t, k, func(t *testing.T, s *testServer) {
		answer := s.open(t, context.Background(), "GET /stream", withKey(s.key))
		time.Sleep(writeTimeout + time.Second)
		if _, err := io.Copy(io.Discard, answer.Body); err == nil {
			t.Error("the stream has not ended by an error")
		}
	})
}

package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

func TestThePageShowsEveryPodAndContainer(t *testing.T) {
	now := time.Now()
	k := everyKind(now)
	doc := pageOf(t, serve(t, k))
	for i := range k.statuses {
		p := &k.statuses[i]
		name := p.FullName()
		pod := doc.byID("pod-" + name)
		pod.hasText(p.Name, p.Namespace, p.Source, p.Origin, string(p.Phase), p.PodIP, p.Reason, p.Message)
		for i, c := range p.Containers {
			container := doc.byID(fmt.Sprintf("container-%s-%d", name, i))
			container.hasText(c.Name, c.Image)
			switch s := c.State; {
			case s.Running != nil:
				container.hasText("running for", s.Running.Message)
			case s.Waiting != nil && s.Waiting.Message == p.Message:
				container.hasText("waiting")
			case s.Waiting != nil:
				container.hasText("waiting", s.Waiting.Reason, s.Waiting.Message)
			case s.Terminated != nil:
				container.hasText("ended", exitText(s.Terminated), s.Terminated.Message)
			}
			if c.Last != nil {
				container.hasText(exitText(c.Last), c.Last.Message)
			}
			if c.RestartCount > 0 {
				container.hasText(fmt.Sprintf("%d restart", c.RestartCount))
			}
		}
	}
	doc.byID("container-crash.default.file-0").hasText("next try in 7 s")
	doc.byID("worker-web.default.file").hasText("UPDATE 20 min ago")
	doc.byID("pod-web.default.file").hasText("It may be older than its manifest")
}

func TestThePageShowsTheFlow(t *testing.T) {
	now := time.Now()
	doc := pageOf(t, serve(t, everyKind(now), func(o *Options) { o.Sources = sourcesOfEveryKind(now) }))
	doc.byID("source-file").hasText("failing for 1 min", "/etc/kubelet14", "read whole 2 min ago", "5 pods")
	doc.byID("failing-file").hasText("unknown field", "Its pods stay")
	doc.byID("source-http").hasText("read whole 3 s ago", "2 pods")
	doc.byID("source-etcd").hasText("not read yet")
	doc.byID("flow-mux").hasText("SET", "6 desired pods")
	doc.byID("flow-loop").hasText("SET UPDATE", "20 min ago")
	doc.byID("flow-workers").hasText("9 busy, 1 waiting")
	doc.byID("flow-docker").hasText("9 running containers, 5 waiting, 2 ended", "2 pulls, 1 queued")
}

func TestThePageIsThereWhenDockerIsNot(t *testing.T) {
	k := &fakeKubelet{health: errors.New("Docker is away"), err: errors.New("nobody listens on its socket")}
	doc := pageOf(t, serve(t, k))
	doc.byID("health").hasText("cannot manage its pods: Docker is away")
	doc.byID("unknown").hasText("nobody listens on its socket")
}

func TestThePageShowsTheNewestEventsFirst(t *testing.T) {
	k := &fakeKubelet{}
	for i := range pageEvents + 50 {
		k.addEvent(api.Event{Time: time.Now(), Pod: "web.default.file", Container: "main", Reason: "started", Message: fmt.Sprint("number ", i)})
	}
	doc := pageOf(t, serve(t, k))
	items := doc.byID("event-list").all("li")
	if len(items) != pageEvents {
		t.Fatalf("there are %d events, want %d", len(items), pageEvents)
	}
	items[0].hasText("started", "web.default.file", "main", "number 249", "0 s ago")
	items[len(items)-1].hasText("number 50")
}

func TestThePageLinksToLogs(t *testing.T) {
	pod := func(source string, containers ...api.ContainerStatus) api.PodStatus {
		return api.PodStatus{Name: "web", Namespace: "team", Source: source, Containers: containers}
	}
	main := api.ContainerStatus{Name: "main", State: api.ContainerState{Running: &api.ContainerStateRunning{}}}
	net := api.ContainerStatus{Name: api.NetworkContainerName, State: main.State}
	fresh := api.ContainerStatus{Name: "main", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonCreating}}}
	again := fresh
	again.RestartCount = 1
	for _, tt := range []struct {
		name  string
		pods  []api.PodStatus
		debug bool
		want  []string
	}{
		{"of what runs, but not of the network container", []api.PodStatus{pod("file", main, net)}, true, []string{"/containerLogs/team/web.team.file/main?tail=200"}},
		{"by the full name when two sources have the name", []api.PodStatus{pod("file", main), pod("http", main)}, true,
			[]string{"/containerLogs/team/web.team.file/main?tail=200", "/containerLogs/team/web.team.http/main?tail=200"}},
		{"not of what has never run", []api.PodStatus{pod("file", fresh)}, true, nil},
		{"of what waits to run again", []api.PodStatus{pod("file", again)}, true, []string{"/containerLogs/team/web.team.file/main?tail=200"}},
		{"not without debugging handlers", []api.PodStatus{pod("file", main)}, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, &fakeKubelet{statuses: tt.pods}, func(o *Options) { o.Debugging = tt.debug })
			var got []string
			for _, a := range pageOf(t, s).byID("live").all("a") {
				if address := a.attr("href"); strings.HasPrefix(address, "/containerLogs") {
					got = append(got, address)
					if answer := s.ask(t, "GET "+address, withToken); answer.status != http.StatusOK {
						t.Errorf("%s answers %d %s", address, answer.status, answer.body)
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("the links are %q, want %q", got, tt.want)
			}
		})
	}
}

func TestThePagesFiles(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for file, want := range map[string]string{
		"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "favicon.svg": "image/svg+xml",
	} {
		if got := s.ask(t, "GET /static/"+file); got.status != http.StatusOK || got.header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s, want 200 %s", file, got.status, got.header.Get("Content-Type"), want)
		}
	}
	for _, path := range []string{"/static/", "/static/page.html", "/static/..%2fpage.go", "/static/%2e%2e%2f%2e%2e%2fdoc.go"} {
		if got := s.ask(t, "GET "+path); got.status == http.StatusOK {
			t.Errorf("%s is there: %s", path, got.body)
		}
	}
}

func TestTheLinkWithTheToken(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	got := s.ask(t, "GET /?token="+testToken)
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || got.header.Get("Set-Cookie") == "" {
		t.Errorf("it answers %d to %q with cookie %q", got.status, got.header.Get("Location"), got.header.Get("Set-Cookie"))
	}
	if got := s.ask(t, "GET /?token=wrong"); got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d %v", got.status, got.header)
	}
}

func TestAges(t *testing.T) {
	for age, want := range map[time.Duration]string{
		0: "0 s", 59*time.Second + 999*time.Millisecond: "59 s", time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 47*time.Hour + 59*time.Minute: "47 h", 48 * time.Hour: "2 days", 100 * 24 * time.Hour: "100 days",
	} {
		if got := ageText(age); got != want {
			t.Errorf("%v is %q, want %q", age, got, want)
		}
	}
}

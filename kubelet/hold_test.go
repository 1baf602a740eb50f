package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	v1 "kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// notReady is a SET of a source that has a bad file.
func notReady(pods ...api.Pod) api.PodUpdate {
	return api.PodUpdate{Op: api.SET, Pods: pods, Unsynced: map[string]error{"file": errors.New("bad.yaml is bad")}}
}

func TestABadFileDoesNotDelayTheRemovalOfPodsThatWereRead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(pod("read", "main"), pod("unread", "main")).end()
		logged := w.logged("0", func() {
			k := w.startWith(notReady(pod("read", "main"), pod("new", "main")))
			w.settle("the file of one pod is bad", "new/main", "new/net", "read/main", "read/net", "unread/main", "unread/net")
			unread, uid := k.statuses(w)[2], pod("unread").UID
			if unread.Phase != api.PodPending || unread.UID != uid || unread.Reason != api.ReasonSourceNotReady || unread.Containers[0].State.Running == nil {
				t.Errorf("the status of a pod that no manifest names is %+v", unread)
			}
			if load := k.load(); load != (api.Load{}) {
				t.Errorf("the load is %+v", load)
			}
			k.updates <- notReady(pod("new", "main"))
			w.settle("a good file is removed", "new/main", "new/net", "unread/main", "unread/net")
			k.set(pod("new", "main"))
			w.settle("the bad file is removed", "new/main", "new/net")
		})
		if n := strings.Count(logged, "1 pod that no manifest names: it stays as it is until all of source file was read"); n != 1 {
			t.Errorf("the log says %d times that removals wait, want once:\n%s", n, logged)
		}
	})
}

// TestANameFromAnotherFileWaitsForTheBadOne gives a new file the name of a pod whose own file may be the bad one. A
// manifest that was only moved need not wait, since it changes nothing.
func TestANameFromAnotherFileWaitsForTheBadOne(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(pod("web", "main:1", "same"), pod("moved", "main:1")).end()
		claim, moved := pod("web", "main:2", "same"), pod("moved", "main:1")
		claim.Origin, moved.Origin = "more.yaml", "more.yaml"
		k := w.startWith(notReady(claim, moved))
		w.kill("moved", "main", 1)
		w.settle("a file is bad", "moved/main:1", "moved/net", "web/main:1", "web/net", "web/same")
		status := k.statuses(w)[1]
		if status.Reason != api.ReasonSourceNotReady || !strings.Contains(status.Message, "web.yaml") || !strings.Contains(status.Message, "more.yaml") {
			t.Errorf("the status is %s: %s, want both places", status.Reason, status.Message)
		}
		k.updates <- notReady(moved)
		w.settle("nothing claims the name", "moved/main:1", "moved/net", "web/main:1", "web/net", "web/same")
		k.updates <- notReady(claim, moved)
		settle()
		k.set(claim, moved)
		w.settle("all is read", "moved/main:1", "moved/net", "web/main:2", "web/net", "web/same")
	})
}

// page is a web server with one page, which answers slowly. An empty body means no answer.
type page struct {
	body   atomic.Value
	period time.Duration // it is polled; 0: pagePeriod
}

func (p *page) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(50 * time.Millisecond)
	body := p.body.Load().(string)
	if body == "" {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: 200, ProtoMajor: 1, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// has sets the page to a list of these pods, each with an EmptyDir.
func (p *page) has(names ...string) {
	body := "[]"
	for _, name := range names {
		body = strings.TrimPrefix(body, "[]") + fmt.Sprintf("- {version: v1beta1, id: %s, uuid: uid-%[1]s, containers: [{name: main, image: 'hello:1'}]}\n", name)
	}
	p.body.Store(body)
}

const pagePeriod = 20 * time.Second

// startFrom starts a kubelet that polls a page, or one without such a source.
func (w *world) startFrom(p *page) *kubelet {
	w.t.Helper()
	before := http.DefaultTransport
	w.t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = p
	source, err := config.NewSourceHTTP("http://localhost/", cmp.Or(p.period, pagePeriod), config.Parser{Hostname: "host", Scheme: v1.NewScheme()})
	w.must(err)
	options := w.options
	w.options = func(o *Options) {
		o.RemovalWait = config.NoPodsWait(cmp.Or(p.period, pagePeriod))
		o.Sources = func() []api.SourceStatus { return []api.SourceStatus{source.Status()} }
		if options != nil {
			options(o)
		}
	}
	defer func() { w.options = options }()
	pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates)
	ctx, cancel := context.WithCancel(w.t.Context())
	pods.Start(ctx, source)
	k := w.startOn(pods.Updates())
	end := k.end
	k.end = func() { end(); cancel(); pods.Wait() }
	w.t.Cleanup(k.end)
	return k
}

// TestAllPodsAreRemovedWhenTheirSourceSaysSoTwice changes the answer of a source after half of the announced time. No
// pod that comes back is restarted.
func TestAllPodsAreRemovedWhenTheirSourceSaysSoTwice(t *testing.T) {
	up := []string{"a/main", "a/net", "b/main", "b/net"}
	for name, test := range map[string]struct {
		restart       bool
		before, after []string
		wait          bool
		want, left    []string // right after the change; in the end
	}{
		"all of several pods":       {before: []string{"a", "b"}, wait: true, want: up},
		"nothing is there at start": {restart: true, before: []string{"a"}, wait: true, want: up[:2]},
		"the only pod":              {before: []string{"a"}},
		"one of two pods":           {before: []string{"a", "b"}, after: []string{"b"}, want: up[2:], left: up[2:]},
		"one of two pods at start":  {restart: true, before: []string{"a", "b"}, after: []string{"b"}, want: up[2:], left: up[2:]},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := &page{}
				p.has(test.before...)
				k := w.startFrom(p)
				wait(pagePeriod / 2)
				created := w.docker.Calls()["CreateContainer"]
				change := func() {
					p.has(test.after...)
					if test.restart {
						k.end()
						k = w.startFrom(p)
						wait(pagePeriod / 2)
					} else {
						wait(pagePeriod)
					}
				}
				logged := w.logged("0", change)
				w.check("after the change", test.want...)
				if warned := strings.Count(logged, "source http wants no pods at all"); (warned == 1) != test.wait || warned > 1 {
					t.Errorf("%d warnings:\n%s", warned, logged)
				}
				if test.wait {
					s := k.statuses(w)[0]
					if s.Phase != api.PodFailing || s.Reason != api.ReasonRemoved || !strings.Contains(s.Message, "unless the manifests come back") {
						t.Errorf("the status is %s, %s: %s", s.Phase, s.Reason, s.Message)
					}
					p.has(test.before...)
					w.settle("the manifests are back", test.want...)
					w.checkCalls("CreateContainer", created)
					change()
					p.body.Store("")
					w.settle("while the source fails", test.want...)
					p.has(test.after...)
					w.after(pagePeriod, "when it is read again", test.want...)
				}
				w.after(pagePeriod+time.Second, "in the end", test.left...)
				w.checkCalls("CreateContainer", created)
			})
		})
	}
}

// TestAShortPeriodMakesNoShortWait polls a page five times a second, and empties it for a second and then for good.
func TestAShortPeriodMakesNoShortWait(t *testing.T) {
	inWorld(t, func(w *world) {
		up := []string{"a/main", "a/net", "b/main", "b/net"}
		p := &page{period: 200 * time.Millisecond}
		p.has("a", "b")
		w.startFrom(p)
		wait(time.Second)
		created := w.docker.Calls()["CreateContainer"]
		p.has()
		w.after(time.Second, "the list is empty", up...)
		p.has("a", "b")
		w.after(10*time.Second, "the pods are back", up...)
		w.checkCalls("CreateContainer", created)
		w.checkVolumes(pod("a"), pod("b"))
		p.has()
		w.after(5*time.Second, "the list is empty again", up...)
		w.after(time.Second, "it is believed")
	})
}

// TestASourceThatIsNotGivenAnyMore keeps the pods of a source that is no longer given for the announced time.
func TestASourceThatIsNotGivenAnyMore(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(pod("a", "main")).end() // of source file
		p := &page{}
		p.has("b")
		w.startFrom(p)
		w.after(pagePeriod-time.Second, "while it waits", "a/main", "a/net", "b/main", "b/net")
		w.after(2*time.Second, "in the end", "b/main", "b/net")
	})
}

// TestVolumesOfAnEmptySourceWaitToo also lets Docker lose the containers.
func TestVolumesOfAnEmptySourceWaitToo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(pod("a", "main")).end()
		w.byHand(dockertools.Interface.RemoveContainer, "")
		p := &page{}
		p.has()
		w.startFrom(p)
		wait(pagePeriod)
		w.checkVolumes(pod("a"))
		wait(time.Second)
		w.checkVolumes()
	})
}

// TestARemovalThatHasBegunGoesOn removes one of three pods from the source, and then the others.
func TestARemovalThatHasBegunGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		p := &page{}
		p.has("a", "b", "c")
		k := w.startFrom(p)
		wait(pagePeriod - 5*time.Second)
		p.has("b", "c")
		w.docker.SetFault(on("RemoveContainer", dockertest.Fault{Delay: pagePeriod}, "_a.", "_main."))
		wait(10 * time.Second)
		p.has()
		wait(pagePeriod)
		for i, want := range []api.PodPhase{api.PodRemoving, api.PodFailing, api.PodFailing} {
			if s := k.statuses(w)[i]; s.Phase != want {
				t.Errorf("pod %s is %s: %s, want %s", s.Name, s.Phase, s.Message, want)
			}
		}
		p.has("b", "c")
		w.settle("the others are back", "b/main", "b/net", "c/main", "c/net")
	})
}

// TestAnUpdate names one pod of two: at first from another file, then with an edit.
func TestAnUpdate(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("other", "main"), pod("web", "main"))
		other, web, events := w.id("other", "main"), w.id("web", "main"), len(k.kl.Events(0))
		renamed, edited := pod("web", "main"), pod("web", "main:2")
		renamed.Origin, edited.Origin = "renamed.yaml", "renamed.yaml"
		logged := w.logged("2", func() {
			k.updates <- api.PodUpdate{Op: api.UPDATE, Pods: []api.Pod{renamed}}
			w.settle("the file is renamed", "other/main", "other/net", "web/main", "web/net")
		})
		w.checkID("web", "main", web, true)
		if strings.Contains(logged, "UPDATE") || !strings.Contains(logged, "comes from renamed.yaml now") || len(k.kl.Events(0)) != events {
			t.Errorf("log:\n%s%d new events", logged, len(k.kl.Events(0))-events)
		}
		if origin := k.statuses(w)[1].Origin; origin != "renamed.yaml" {
			t.Errorf("the status says %s", origin)
		}
		k.updates <- api.PodUpdate{Op: api.UPDATE, Pods: []api.Pod{edited}}
		w.settle("it is edited", "other/main", "other/net", "web/main:2", "web/net")
		w.checkID("other", "main", other, true)
	})
}

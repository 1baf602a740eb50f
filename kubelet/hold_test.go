package kubelet

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
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
			if load := k.kl.Load(); load != (api.Load{}) {
				t.Errorf("the load is %+v", load)
			}
			k.updates <- notReady(pod("new", "main"))
			w.settle("a good file is removed", "new/main", "new/net", "unread/main", "unread/net")
			k.set(pod("new", "main"))
			w.settle("the bad file is removed", "new/main", "new/net")
		})
		if n := strings.Count(logged, "until they are repaired, nothing is done to 1 pod of it that no manifest names so far"); n != 1 {
			t.Errorf("it is logged %d times that removals wait, want once:\n%s", n, logged)
		}
	})
}

// TestANameFromAnotherFileWaitsForTheBadOne claims the name of a pod whose own file may be the
// bad one. A manifest that was moved as it is need not wait, since it changes nothing.
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

// TestARemovalOfAllPodsWaits also covers an update that comes before the pods are back.
func TestARemovalOfAllPodsWaits(t *testing.T) {
	a, b := pod("a", "main"), pod("b", "main")
	up := []string{"a/main", "a/net", "b/main", "b/net"}
	for name, test := range map[string]struct {
		restart    bool
		before     []api.Pod
		after      api.PodUpdate
		wait       bool
		want, left []string // right after the update; in the end
	}{
		"all of several pods":       {before: []api.Pod{a, b}, after: notReady(), wait: true, want: up},
		"nothing is there at start": {restart: true, before: []api.Pod{a}, wait: true, want: up[:2]},
		"the only pod":              {before: []api.Pod{a}},
		"one of two pods":           {before: []api.Pod{a, b}, after: api.PodUpdate{Pods: []api.Pod{b}}, want: up[2:], left: up[2:]},
		"one of two pods at start":  {restart: true, before: []api.Pod{a, b}, after: api.PodUpdate{Pods: []api.Pod{b}}, want: up[2:], left: up[2:]},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var failing atomic.Bool
				w.options = func(o *Options) {
					o.RemovalWait = 20 * time.Second
					o.Sources = func() []api.SourceStatus { return []api.SourceStatus{{Source: "file", Unreadable: failing.Load()}} }
				}
				k := w.run(test.before...)
				test.after.Op = api.SET
				empty := func() {
					if test.restart {
						k.end()
						k = w.startWith(test.after)
					} else {
						k.updates <- test.after
					}
					w.after(15*time.Second, "after the update", test.want...)
				}
				logged := w.logged("0", empty)
				if warned := strings.Count(logged, "source file wants no pods at all"); (warned == 1) != test.wait || warned > 1 {
					t.Errorf("%d warnings:\n%s", warned, logged)
				}
				if test.wait {
					if s := k.statuses(w)[0]; s.Phase != api.PodFailing || s.Reason != api.ReasonRemoved || !strings.Contains(s.Message, "unless the manifests come back") {
						t.Errorf("the status is %s, %s: %s", s.Phase, s.Reason, s.Message)
					}
					before := w.id("a", "main")
					k.set(test.before...)
					w.settle("the manifests are back", test.want...)
					w.checkID("a", "main", before, true)
					empty()
				}
				if test.wait {
					failing.Store(true)
					w.settle("while the source fails", test.want...)
					failing.Store(false)
					w.after(15*time.Second, "when it is read again", test.want...)
				}
				w.after(20*time.Second, "in the end", test.left...)
			})
		})
	}
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

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// Each exhibit shows its bug, the program does not have it, and an exhibit prints the same each time.
func TestExhibits(t *testing.T) {
	const web, db, none = "web runs shop:1 in container 1", "db runs shop:1 in container 1", "nothing runs"
	ends := map[string]struct{ then, today []string }{
		"lost-update":  {[]string{web}, []string{"web runs shop:2 in container 2"}},
		"typo":         {[]string{none}, []string{web}},
		"pointer-hash": {[]string{db, "web runs shop:1 in container 3"}, []string{db, web}},
		"empty-url":    {[]string{none}, []string{db, web}},
		"first-source": {[]string{"db runs shop:1 in container 2", web}, []string{db, web}},
		"empty-uid":    {[]string{"db runs shop:1 in container 2", "web runs shop:2 in container 2"}, []string{"db runs shop:1 in container 2"}},
		"starved-tick": {[]string{db}, []string{"db runs shop:4 in container 4", "web runs shop:1 in container 2"}},
	}
	for _, e := range exhibits {
		t.Run(e.name, func(t *testing.T) {
			var first, second strings.Builder
			then, today := e.run(&first)
			want := ends[e.name]
			if !slices.Equal(then, want.then) || !slices.Equal(today, want.today) {
				t.Errorf("2014 leaves %q, want %q; today leaves %q, want %q\n%s", then, want.then, today, want.today, &first)
			}
			if e.run(&second); first.String() != second.String() {
				t.Errorf("two runs differ:\n%s\n%s", &first, &second)
			}
		})
	}
	if len(exhibits) != len(ends) {
		t.Errorf("%d exhibits are tested, of %d", len(ends), len(exhibits))
	}
}

// Without the cause of the bug, the kubelet of 2014 reaches the desired state.
func TestTheCauseIsTheBug(t *testing.T) {
	db, web, edited := pod("db", "shop:1"), pod("web", "shop:1"), pod("web", "shop:2")
	for name, test := range map[string]struct {
		do   func(kl *kubelet2014)
		want []string
	}{
		"lost-update: the worker is idle": {func(kl *kubelet2014) {
			var workers podWorkers2014
			for _, p := range []api.Pod{web, edited} {
				workers.Run(p.FullName(), func() { kl.syncPod(p) })
				workers.wg.Wait()
			}
		}, []string{"web runs shop:2 in container 2"}},
		"pointer-hash: no probe": {func(kl *kubelet2014) {
			for range 3 {
				web.Manifest = web.Manifest.Clone()
				kl.SyncPods([]api.Pod{web})
			}
		}, []string{"web runs shop:1 in container 1"}},
		"typo, empty-url, first-source: the SET is whole": {func(kl *kubelet2014) {
			kl.SyncPods([]api.Pod{db, web})
			kl.SyncPods([]api.Pod{db, web})
		}, []string{"db runs shop:1 in container 1", "web runs shop:1 in container 1"}},
		"empty-uid: each pod has one": {func(kl *kubelet2014) {
			kl.SyncPods([]api.Pod{db, web})
			kl.SyncPods([]api.Pod{db})
		}, []string{"db runs shop:1 in container 1"}},
		"starved-tick: the updates pause": {func(kl *kubelet2014) {
			pods := kl.turn(nil, 0, api.PodUpdate{Op: api.SET, Pods: []api.Pod{web}})
			kl.kill("web")
			kl.turn(pods, 10*time.Second, api.PodUpdate{Op: api.UPDATE})
		}, []string{"web runs shop:1 in container 2"}},
	} {
		kl := &kubelet2014{host: newHost()}
		test.do(kl)
		if got := kl.running(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestListOfExhibits(t *testing.T) {
	var list strings.Builder
	unknown := run(&list, []string{"lost"})
	if err := run(&list, nil); err != nil || unknown == nil {
		t.Fatalf("no name: %v; an unknown one: %v", err, unknown)
	}
	for _, e := range exhibits {
		if !strings.Contains(list.String(), e.sentence) || !strings.Contains(unknown.Error(), e.name) {
			t.Errorf("%s is missing in\n%s or in the error: %v", e.name, &list, unknown)
		}
	}
}

package trace

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A worker may end between a list and the plan that is made of it: the stages are in the order of time all the same.
func TestStagesAreInTheOrderOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Trace{}
		rows := []Row{{Container: "main", Plan: []Act{{Do: "create"}}}}
		for _, e := range []Event{
			{Kind: Plan, Pod: "a", Rows: rows}, {Kind: Work, Pod: "a"}, {Kind: Begin, Pod: "a", Op: "create"},
			{Kind: List}, {Kind: Listed, N: 7, Pods: []string{"a"}}, {Kind: List}, {Kind: Listed, N: 7, Pods: []string{"a"}},
			{Kind: End, Pod: "a", Op: "create"}, {Kind: Ended, Pod: "a"}, {Kind: Plan, Pod: "b", Rows: rows},
			{Kind: List}, {Kind: Listed}, {Kind: Idle, Pod: "a"}, {Kind: Idle, Pod: "b"},
		} {
			time.Sleep(time.Millisecond)
			tr.Add(e)
		}
		tr.Synced()
		for _, pod := range []string{"", "a", "b"} {
			stages := tr.Changes()[0].Tell(pod)
			if !slices.IsSortedFunc(stages, func(a, b Event) int { return int(a.Ms - b.Ms) }) {
				t.Errorf("the story of %q runs backwards: %+v", pod, stages)
			}
			for _, s := range stages {
				if s.Kind == Skip && s.Name() != "a" {
					t.Errorf("%q: %s are skipped", pod, s.Name())
				}
			}
		}
	})
}

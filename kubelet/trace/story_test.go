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
			{Kind: Plan, Pod: "a.default.file", Rows: rows}, {Kind: Work, Pod: "a.default.file"}, {Kind: Begin, Pod: "a.default.file", Op: "create"},
			{Kind: List}, {Kind: Listed, N: 7, Pods: []string{"a.default.file"}}, {Kind: List}, {Kind: Listed, N: 7, Pods: []string{"a.default.file"}},
			{Kind: End, Pod: "a.default.file", Op: "create"}, {Kind: Ended, Pod: "a.default.file"}, {Kind: Plan, Pod: "b.default.file", Rows: rows},
			{Kind: List}, {Kind: Listed}, {Kind: Idle, Pod: "a.default.file"}, {Kind: Idle, Pod: "b.default.file"},
		} {
			time.Sleep(time.Millisecond)
			tr.Add(e)
		}
		tr.Synced()
		for _, pod := range []string{"", "a.default.file", "b.default.file"} {
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

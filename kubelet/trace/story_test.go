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
			{Kind: List}, {Kind: Listed, N: 7, Pods: []string{"a.default.file", "b.default.file"}}, {Kind: List}, {Kind: Listed, N: 7, Pods: []string{"a.default.file", "b.default.file"}},
			{Kind: End, Pod: "a.default.file", Op: "create"}, {Kind: Ended, Pod: "a.default.file"}, {Kind: Plan, Pod: "b.default.file", Rows: rows},
			{Kind: List}, {Kind: Listed}, {Kind: Idle, Pod: "a.default.file"}, {Kind: Idle, Pod: "b.default.file"},
		} {
			time.Sleep(time.Millisecond)
			tr.Add(e)
		}
		tr.Synced()
		for pod, skipped := range map[string]string{"": "2 pods", "a.default.file": "a", "b.default.file": "b"} {
			stages := tr.Changes()[0].Tell(pod)
			if !slices.IsSortedFunc(stages, func(a, b Event) int { return int(a.Ms - b.Ms) }) {
				t.Errorf("the story of %q runs backwards: %+v", pod, stages)
			}
			for _, s := range stages {
				if s.Kind == Skip && s.Name() != skipped {
					t.Errorf("%q: %s are skipped", pod, s.Name())
				}
			}
		}
	})
}

// A plan that waits for a person and is carried out then is one change, and happened once. A story that was cut says so at its end.
func TestAPlanThatWaitedIsOneChange(t *testing.T) {
	const pod = "a.default.file"
	rows := []Row{{Container: "main", Plan: []Act{{Do: "create", Reason: "it ended"}}}}
	wait := []Event{{Kind: List}, {Kind: Listed}, {Kind: Wait, Pod: pod, Rows: rows}}
	do := []Event{{Kind: List}, {Kind: Listed}, {Kind: Plan, Pod: pod, Rows: rows}, {Kind: Work, Pod: pod}, {Kind: End, Pod: pod, Op: "create"},
		{Kind: Ended, Pod: pod}, {Kind: List}, {Kind: Listed}, {Kind: Idle, Pod: pod}}
	tr := &Trace{}
	for i, events := range [][]Event{wait, do, wait, do, do} {
		for _, e := range events {
			tr.Add(e)
		}
		tr.Synced()
		if all := tr.Changes(); len(all) != 1 || all[0].Title() != "main of a: it ended" || all[0].Times != []int{1, 1, 2, 2, 3}[i] {
			t.Errorf("after %d changes: %+v", i+1, all)
		}
	}
	c := tr.Changes()[0]
	c.Dropped = 7
	if stages := c.Tell(pod); stages[len(stages)-1].Kind != Cut || stages[len(stages)-1].N != 7 {
		t.Errorf("a cut story ends with %+v", stages[len(stages)-1])
	}
}

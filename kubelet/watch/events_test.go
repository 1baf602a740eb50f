package watch

import (
	"fmt"
	"testing"
)

func TestEventsKeepTheLastThousand(t *testing.T) {
	var e Events
	for i := range 1500 {
		e.Add("web", "main", "started", fmt.Sprint(i+1))
	}
	for after, want := range map[uint64]int{0: 1000, 499: 1000, 500: 1000, 501: 999, 1499: 1, 1500: 0, 9999: 0} {
		newer := e.After(after)
		if len(newer) != want {
			t.Errorf("after %d: %d events, want %d", after, len(newer), want)
		}
		for i := range newer {
			if seq := 1501 - len(newer) + i; newer[i].Seq != uint64(seq) || newer[i].Message != fmt.Sprint(seq) {
				t.Fatalf("after %d: event %d of %d is %+v", after, i, len(newer), newer[i])
			}
			newer[i].Message = "changed" // which must not change what is kept
		}
	}
}

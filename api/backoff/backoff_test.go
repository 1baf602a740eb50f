package backoff

import (
	"math"
	"testing"
	"time"
)

func TestWait(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		-1: 0, 0: 0, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 5 * time.Second, 1000: 5 * time.Second, math.MaxInt: 5 * time.Second,
	} {
		if got := Wait(failures, time.Second, 5*time.Second); got != want {
			t.Errorf("after %d failures it waits %v, want %v", failures, got, want)
		}
	}
	if got := Wait(3, time.Minute, time.Second); got != time.Second {
		t.Errorf("it waits %v, longer than the longest wait", got)
	}
}

package kubelet

import (
	"testing"
	"time"
)

func TestRestartDelay(t *testing.T) {
	want := []time.Duration{0, 0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}
	for quickEnds, delay := range want {
		if got := restartDelay(quickEnds, time.Minute); got != delay {
			t.Errorf("after %d quick ends: %v, want %v", quickEnds, got, delay)
		}
	}
	if got := restartDelay(1<<40, time.Minute); got != time.Minute {
		t.Errorf("after very many quick ends: %v, want the longest", got)
	}
	if got := restartDelay(2, time.Millisecond); got != time.Millisecond {
		t.Errorf("the longest is shorter than the first: %v, want the longest", got)
	}
}

package kubelet

import "time"

// quickEnd is the time up below which an end counts as quick. A container that
// ran longer than this is started again at once, whatever came before.
const quickEnd = 10 * time.Minute

// restartDelay is how long to wait before the next attempt, after so many quick
// ends in a row: nothing for the first, then 1 s, 2 s, 4 s, … up to most.
// 2014 started a crashing container again at every sync for ever.
func restartDelay(quickEnds int, most time.Duration) time.Duration {
	if quickEnds < 2 {
		return 0
	}
	delay := time.Second
	for range quickEnds - 2 {
		if delay *= 2; delay >= most {
			break
		}
	}
	return min(delay, most)
}

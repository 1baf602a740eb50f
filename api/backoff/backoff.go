// Package backoff has the waits between attempts that fail one after the other.
package backoff

import "time"

// Wait returns the wait after a number of failures in a row: the first one, twice that, and so on up to the longest.
// Without a failure there is none.
func Wait(failures int, first, longest time.Duration) time.Duration {
	if failures < 1 {
		return 0
	}
	wait := first
	for n := 1; n < failures && wait < longest; n++ {
		wait *= 2
	}
	return min(wait, longest)
}

package main

import (
	"strconv"
	"strings"
	"time"
)

// newestOf returns the newest attempt of a version in a network, or an empty value. One that joined another network
// container is cut off, or will be: it only counts for the number of the last attempt.
func newestOf(base, network string, observed []Observed) (newest Observed, last int) {
	for _, o := range observed {
		if !strings.HasPrefix(o.Name, base) {
			continue
		}
		last = max(last, attempt(o.Name))
		if o.Joined == network && attempt(o.Name) > attempt(newest.Name) {
			newest = o
		}
	}
	return newest, last
}

// next returns the name of the container that should be there, and whether it has to be made; then it also returns the
// crashes before it. A dead one stays until its time has come, and then until its successor is started: it is
// the memory.
func next(now time.Time, base string, newest Observed, last int) (name string, crashes int, isNew bool) {
	switch {
	case newest.Name == "":
		return base + strconv.Itoa(last+1), 0, true
	case newest.dead():
		if newest.Ended.Sub(newest.Started) < 10*time.Minute {
			crashes = newest.Crashes + 1
		}
		if now.Sub(newest.Ended) >= wait(crashes) {
			return base + strconv.Itoa(last+1), crashes, true
		}
	}
	return newest.Name, 0, false
}

package main

import (
	"strconv"
	"strings"
	"time"
)

// attempt returns the number at the end of a name.
func attempt(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndex(name, "_")+1:])
	return n
}

// wait returns how long a container stays down after so many crashes in a row: 0, 1, 2, 4, … seconds.
func wait(crashes int) time.Duration {
	if crashes < 2 {
		return 0
	}
	return min(time.Second<<min(crashes-2, 10), time.Minute)
}

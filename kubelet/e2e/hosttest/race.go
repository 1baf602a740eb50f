//go:build race

package hosttest

// The program under test has the race detector when the tests have it. One that finds
// a race ends with exit code 66, at its end or, with GORACE=halt_on_error=1, at once.
var buildFlags = []string{"-race"}

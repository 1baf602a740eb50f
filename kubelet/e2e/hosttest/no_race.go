//go:build !race

package hosttest

var buildFlags []string

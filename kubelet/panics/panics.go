// Package panics turns a panic into an error.
package panics

import (
	"fmt"
	"runtime/debug"

	"github.com/golang/glog"
)

// Catch calls f, and turns a panic into a log entry and an error: a bug that one pod meets must not end the kubelet.
func Catch(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			glog.Errorf("%s: panic: %v\n%s", what, p, debug.Stack())
			err = fmt.Errorf("%s: panic: %v", what, p)
		}
	}()
	return f()
}

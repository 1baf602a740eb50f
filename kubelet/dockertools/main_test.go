package dockertools

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// glog writes its files from this goroutine for as long as the program runs.
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

package dockertest

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Set("logtostderr", "true") // and no files in the directory for temporary ones
	goleak.VerifyTestMain(m,
		// glog writes its files from this goroutine for as long as the program runs.
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

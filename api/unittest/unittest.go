// Package unittest has what the tests of all packages share: a TestMain, the end of a test at an error, words that a
// text or an error must have, the log, and waits that end by a condition.
package unittest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Main runs the tests of a package. The log goes to standard error, and a goroutine that is left at the end is an error.
func Main(m *testing.M) {
	flag.Parse()
	flag.Set("logtostderr", "true") // and no files in the directory for temporary ones
	// glog writes its files from this goroutine for as long as the program runs.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// Root returns the directory of the project, also to the tests of a module inside it.
func Root() (string, error) {
	pc, _, _, _ := runtime.Caller(0)
	path := strings.TrimSuffix(runtime.FuncForPC(pc).Name(), ".Root") // of this package, in whatever module
	dir, err := exec.Command("go", "list", "-f", "{{.Module.Dir}}", path).Output()
	if err != nil {
		return "", fmt.Errorf("go list %s: %w", path, err)
	}
	return strings.TrimSpace(string(dir)), nil
}

// Must ends the test if there is an error.
func Must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// HasWords returns an error unless a text has all words.
func HasWords(text string, words ...string) error {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return fmt.Errorf("no %q in %q", word, text)
		}
	}
	return nil
}

// Says fails the test unless a text or an error has all words.
func Says(tb testing.TB, got any, words ...string) {
	tb.Helper()
	if err := HasWords(fmt.Sprint(got), words...); err != nil {
		tb.Error(err)
	}
}

// Log returns a function that returns what was logged since, with -v at this level. It is not for parallel tests.
func Log(tb testing.TB, verbosity string) (text func() string) {
	tb.Helper()
	file, err := os.Create(filepath.Join(tb.TempDir(), "log"))
	Must(tb, err)
	stderr, v := os.Stderr, flag.Lookup("v").Value.String()
	os.Stderr = file
	tb.Cleanup(func() {
		os.Stderr = stderr
		Must(tb, flag.Set("v", v), file.Close())
	})
	Must(tb, flag.Set("v", verbosity))
	return func() string {
		data, err := os.ReadFile(file.Name())
		Must(tb, err)
		return string(data)
	}
}

// Logged returns what is logged while do runs.
func Logged(tb testing.TB, verbosity string, do func()) string {
	tb.Helper()
	text := Log(tb, verbosity)
	do()
	return text()
}

// Seeds returns how many of so many seeds a random search tries: 30, and with ALL_SEEDS=1 all of them.
func Seeds(all uint64) uint64 {
	if os.Getenv("ALL_SEEDS") == "1" {
		return all
	}
	return min(all, 30)
}

// gaveUp is set once a test has waited in vain.
var gaveUp atomic.Bool

// Limit returns how long a test waits for what has to come: no machine may be so slow. After a wait in vain the other
// tests of the package begin no wait that is longer than 20 seconds, so that a run ends.
func Limit() time.Duration {
	if gaveUp.Load() {
		return 20 * time.Second
	}
	return 5 * time.Minute
}

// GiveUp ends a test that has waited in vain.
func GiveUp(tb testing.TB, problem any) {
	tb.Helper()
	gaveUp.Store(true)
	tb.Fatal("waited in vain: ", problem)
}

// Await repeats a check until it returns nil.
func Await(tb testing.TB, check func() error) {
	tb.Helper()
	if err := Wait(check); err != nil {
		GiveUp(tb, err)
	}
}

// Wait repeats a check until it returns nil, or for too long; then it returns the last error. The checks of many tests
// are work that the tests wait for: the longer a wait, the rarer they are. It becomes a tenth longer by that.
func Wait(check func() error) error {
	for began, limit := time.Now(), Limit(); ; {
		err, waited := check(), time.Since(began)
		if err == nil {
			return nil
		}
		if waited > limit {
			gaveUp.Store(true)
			return err
		}
		time.Sleep(min(max(10*time.Millisecond, waited/10), 500*time.Millisecond)) // between two checks, never instead of one
	}
}

// Receive returns what comes from a channel, or the zero value if that is closed.
func Receive[T any](tb testing.TB, from <-chan T, problem any) (value T) {
	tb.Helper()
	select {
	case value = <-from:
	case <-time.After(Limit()):
		GiveUp(tb, problem)
	}
	return value
}

package config

import (
	"os"
	"testing"
	"time"
)

func TestFreshFileIsNotRead(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.look()
	f.write("a.yaml", manifest("web", "2"))
	f.write("b.yaml", manifest("db", "1"))
	f.age("a.yaml", settleTime-time.Millisecond)
	f.age("b.yaml", 0)
	if f.look() {
		t.Error("a fresh file was read")
	}
	f.expect("web=1")
	if next := f.nextRead(); next.After(f.now().Add(settleTime)) {
		t.Errorf("the next read is in %v", next.Sub(f.now()))
	}
	f.ahead += settleTime
	f.look()
	f.expect("web=2 db=1")
}

func TestHalfWrittenFileIsReadWhenItIsComplete(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.look()
	whole := manifest("web", "2")
	for i := range len(whole) { // its last character is a quote
		f.write("a.yaml", whole[:i])
		f.look()
		f.expect("web=1", "a.yaml")
	}
	f.write("a.yaml", whole)
	f.look()
	f.expect("web=2")
}

func TestFileFromTheFutureIsRead(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.age("a.yaml", -time.Hour)
	f.look()
	f.expect("web=1")
}

// Many editors replace a file by moving the old one aside first.
func TestFileThatIsBackAtOnceWasNeverGone(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.look()
	f.rename("a.yaml", "a.yaml~")
	if f.look() {
		t.Errorf("news: %q", show(f.last.Pods))
	}
	if next := f.nextRead(); next.After(f.now().Add(settleTime)) {
		t.Errorf("the next read is in %v", next.Sub(f.now()))
	}
	f.write("a.yaml", manifest("web", "2"))
	f.ahead += settleTime
	f.look()
	f.expect("web=2")
}

func TestFileThatStaysAwayIsGone(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("db", "1"))
	f.look()
	f.remove("a.yaml")
	f.look()
	f.expect("web=1 db=1")
	f.ahead += settleTime
	f.look()
	f.expect("db=1")
}

// Removing a directory removes its files first. Nobody meant the pods to go.
func TestFilesThatWentWithTheirDirectoryStay(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.look()
	f.remove("a.yaml")
	f.look() // finds the file gone
	f.remove("")
	f.settle() // finds the directory gone
	f.expect("web=1", f.dir)
	f.ahead += time.Hour
	f.must(os.Mkdir(f.dir, 0o755))
	f.look() // the directory is back, and its files are on their way
	f.expect("web=1")
	f.write("a.yaml", manifest("web", "2"))
	f.look()
	f.expect("web=2")
}

// The first update without an error says that nothing but its pods is wanted.
func TestFirstUpdateWaitsForFreshFiles(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("db", "1"))
	f.age("b.yaml", 0)
	if f.look() {
		t.Errorf("sent %q without the fresh file", show(f.last.Pods))
	}
	f.ahead += settleTime
	f.look()
	f.expect("web=1 db=1")
}

func TestMendedSourceWaitsForFreshFiles(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", "bad: [")
	f.look()
	f.expect("", "a.yaml")
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("db", "1"))
	f.age("b.yaml", 0)
	if f.look() {
		t.Errorf("sent %q without the fresh file", show(f.last.Pods))
	}
	f.ahead += settleTime
	f.look()
	f.expect("web=1 db=1")
}

// A hold that has ended is not counted to the next one.
func TestEachFreshFileIsWaitedForAnew(t *testing.T) {
	f := newFileTest(t)
	f.write("bad.yaml", "bad: [")
	f.write("a.yaml", manifest("web", "1"))
	f.age("a.yaml", 0)
	f.look()
	f.ahead += settleTime
	f.look()
	f.expect("web=1", "bad.yaml") // so the source has not spoken
	f.ahead += 2 * maxHold
	f.write("b.yaml", manifest("db", "1"))
	f.age("b.yaml", 0)
	if f.look() {
		t.Errorf("sent %q, error %v, without the fresh file", show(f.last.Pods), f.last.Err)
	}
	f.ahead += settleTime
	f.look()
	f.expect("web=1 db=1", "bad.yaml")
}

// A file that is never left alone must not keep the others from running for
// ever; but the source does not say that it has read everything.
func TestFileThatNeverSettlesIsAnErrorInTheEnd(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("db", "1"))
	for start := f.now(); f.now().Before(start.Add(maxHold)); f.ahead += settleTime {
		f.age("b.yaml", 0)
		if f.look() {
			t.Fatalf("sent %q after %v", show(f.last.Pods), f.now().Sub(start))
		}
	}
	f.age("b.yaml", 0)
	f.look()
	f.expect("web=1", "b.yaml")
	f.ahead += settleTime
	f.look()
	f.expect("web=1 db=1")
	f.write("c.yaml", manifest("new", "1")) // once it has spoken, nothing waits
	f.age("c.yaml", 0)
	f.write("a.yaml", manifest("web", "2"))
	f.look()
	f.expect("web=2 db=1")
}

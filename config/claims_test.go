package config

import (
	"strings"
	"testing"
)

// Every test here starts with the pod web in a.yaml and the pod db in b.yaml.
func newClaimsTest(t *testing.T) *fileTest {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("db", "1"))
	f.look()
	f.expect("web=1 db=1")
	return f
}

func TestFileThatHasAPodKeepsIt(t *testing.T) {
	f := newClaimsTest(t)
	f.write("a-copy.yaml", manifest("web", "2")) // comes first by name
	f.look()
	f.expect("web=1 db=1", f.path("a.yaml"), f.path("a-copy.yaml"))

	f.write("a.yaml", manifest("web", "3")) // it may be edited all the same
	f.look()
	f.expect("web=3 db=1", "a-copy.yaml")

	f.remove("a-copy.yaml")
	f.settle()
	f.expect("web=3 db=1")
}

func TestLoserTakesOverWhenTheWinnerGoes(t *testing.T) {
	for name, leave := range map[string]func(f *fileTest){
		"it is removed":             func(f *fileTest) { f.remove("a.yaml") },
		"it has another pod now":    func(f *fileTest) { f.write("a.yaml", manifest("other", "1")) },
		"it is renamed to no match": func(f *fileTest) { f.rename("a.yaml", "a.yaml.off") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newClaimsTest(t)
			f.write("b.yaml", manifest("web", "2"))
			f.look()
			f.expect("web=1 db=1", "b.yaml")
			leave(f)
			f.settle()
			if got := show(f.last.Pods); !strings.HasSuffix(got, "web=2") || f.last.Err != nil {
				t.Errorf("got %q, error %v", got, f.last.Err)
			}
		})
	}
}

func TestNobodyGetsAPodThatTwoNewFilesHave(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("web", "2"))
	f.write("c.yaml", manifest("db", "1"))
	f.look()
	f.expect("db=1", `pod "web" in `+f.path("a.yaml")+" is also in "+f.path("b.yaml"), `pod "web" in `+f.path("b.yaml")+" is also in "+f.path("a.yaml"))
	f.remove("b.yaml")
	f.settle()
	f.expect("web=1 db=1")
}

func TestUUIDIsInOneFile(t *testing.T) {
	f := newClaimsTest(t)
	f.write("a.yaml", withUUID("u1", manifest("web", "1")))
	f.look()
	f.write("b.yaml", withUUID("u1", manifest("db", "2")))
	f.look()
	f.expect("web=1 db=1", `uuid "u1" of pod "db" in `+f.path("b.yaml")+` is also that of pod "web" in `+f.path("a.yaml"))
	f.write("a.yaml", withUUID("u2", manifest("web", "1")))
	f.look()
	f.expect("web=1 db=2")
}

func TestFilesMaySwapTheirPods(t *testing.T) {
	f := newClaimsTest(t)
	f.write("a.yaml", manifest("db", "2"))
	f.look()
	f.expect("web=1 db=1", "a.yaml")
	f.write("b.yaml", manifest("web", "2"))
	f.look()
	f.expect("db=2 web=2")
}

// a.yaml cannot have what it wants, so it goes back to web, which c.yaml had
// hoped for.
func TestGoingBackCanTakeFromAThird(t *testing.T) {
	f := newClaimsTest(t)
	f.write("a.yaml", manifest("db", "2"))
	f.write("c.yaml", manifest("web", "3"))
	f.look()
	f.expect("web=1 db=1", "a.yaml", "c.yaml")
}

func TestConflictHoldsBackTheWholeFile(t *testing.T) {
	f := newClaimsTest(t)
	f.write("b.yaml", manifest("db", "2"), manifest("web", "2"))
	f.look()
	f.expect("web=1 db=1", "b.yaml (document 2)")
}

func TestMissingLoserKeepsWhatItHadUntilItIsGone(t *testing.T) {
	f := newClaimsTest(t)
	f.write("b.yaml", manifest("web", "2"))
	f.look()
	f.rename("b.yaml", "aside")
	f.look()
	f.expect("web=1 db=1")
	f.rename("aside", "b.yaml")
	f.settle()
	f.expect("web=1 db=1", "b.yaml")
}

// The pod must be there at every moment, and nobody needs to hear of a conflict.
func TestRenamedFileKeepsItsPod(t *testing.T) {
	f := newClaimsTest(t)
	logged := captureLog(t)
	f.rename("a.yaml", "z.yaml")
	f.look()
	f.expect("db=1 web=1")
	f.settle()
	f.expect("db=1 web=1")
	if text := logged(); text != "" {
		t.Errorf("log:\n%s", text)
	}
}

// copy.yaml would have the pod of the missing file, and cannot have the other one:
// so it has neither, and the missing file must not give way to it.
func TestMissingFileDoesNotGiveWayToALoser(t *testing.T) {
	f := newClaimsTest(t)
	f.write("copy.yaml", manifest("web", "2"), manifest("db", "2"))
	f.look()
	f.expect("web=1 db=1", "copy.yaml")
	f.rename("a.yaml", "aside") // as an editor does for a moment
	f.look()
	f.expect("web=1 db=1", "copy.yaml")
	f.rename("aside", "a.yaml")
	f.settle()
	f.expect("web=1 db=1", "copy.yaml")
}

// Exercises checks the exercises of the chapters that ask for a change.
//
//	go run ./docs/exercises           lists them
//	go run ./docs/exercises 588-1     prints "done", or "not yet, because …"
//
// A check is a run of go test. The tests of this directory, of docs/exercises/source and of
// docs/toyloop/exercise_test.go have the build tag exercise, so nothing else runs them.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// exercise is one of a chapter.
type exercise struct {
	name, task string
	test       string // -run of go test
	packages   []string
	// guards says what holds until the exercise is done. Its tests are those of the program, and
	// it is done when one of them fails. Without it the exercise is done when its test passes.
	guards string
	shows  string // what the broken program teaches, if there is guards
}

var exercises = []exercise{
	{"start-1", "the toy replaces a container whose hash differs", "TestEdit", []string{"./docs/toyloop"}, "", ""},
	{"tour-4", "what is replaced is stopped before its successor is created", "TestMake/change.txt", []string{"./kubelet/plan"},
		"converge still creates the next attempt before it stops the one before",
		"as long as the next container cannot be made, the old one should serve"},
	{"565-2", "a new field of a manifest", "TestNotes|TestRoundTripLosesNothing|TestCloneIsEqualAndSharesNoMemory|TestHashesGolden",
		[]string{"./docs/exercises", "./api", "./kubelet/plan"}, "", ""},
	{"565-3", "a conversion that is not registered", "TestConversionIsMissing", []string{"./docs/exercises"}, "", ""},
	{"565-4", "ten lines that stand for a million values", "TestAliases", []string{"./docs/exercises"}, "", ""},
	{"356-3", "a source that counts as ready at once", "TestSourceIsSyncedAfterAnUpdateWithoutAnError", []string{"./config"},
		"a source whose first update has an error is still not ready",
		"a source that has sent an error may have more pods than we know, so nothing of it may be removed"},
	{"356-4", "a source of your own", "TestSourceBrief", []string{"./docs/exercises/source"}, "", ""},
	{"551-2", "a kubelet that is not made whole", "TestAnEventRepairs", []string{"./kubelet"}, "a new kubelet still has all of its fields",
		"a struct that is made in one place cannot lack a field; nil panics only where the field is used first"},
	{"588-1", "the lost update of 2014", "TestNoWakeupIsLost", []string{"./kubelet"}, "the end of a worker's work still wakes the loop",
		"whoever skips a busy pod must be woken when it is idle, or the last edit waits for the tick"},
	{"588-2", "a decision on an old list", "TestALateListDecidesNothing", []string{"./kubelet"},
		"a pod whose worker ended while the list was made is still skipped",
		"a list is older than everything that happens while it is made: ask who is busy first"},
	{"527-4", "a volume that goes too early", "TestAVolume|TestVolumes", []string{"./kubelet"}, "a volume still stays as long as a container has its UID",
		"a container that stops still uses its files, so the list of Docker decides, and not the manifest"},
	{"sources-1", "an error of the URL removes pods", "TestHTTPBadAnswerKeepsTheLastGoodPods", []string{"./config"},
		"the pods of the URL still outlive an error page",
		"no answer and an empty answer are different things"},
	{"sources-2", "an etcd that has lost data is believed", "TestEtcdRestoredFromABackup", []string{"./config"},
		"an etcd whose revision has gone back is still refused",
		"an answer without an error may still be wrong; a revision that goes back proves it"},
	{"restart-4", "another back-off", "TestMake/collect.txt", []string{"./kubelet/plan"}, "the second wait is still a second",
		"the back-off is one pure function, so a case of a text file is its whole test"},
	{"info-2", "streams with a time limit", "TestHowAStreamEnds|TestStreamsEndWhenTheirClientGoes|TestEachLineIsSeenAsItComes", []string{"./kubelet/server"},
		"a stream may still take longer than other answers",
		"a time limit for each answer is right for pages, and wrong for answers that go on as long as somebody reads"},
	{"rooms-5", "an evicted job that counts as done", "TestCrashInAnEviction", []string{"./kubelet"},
		"an evicted job still starts again, whenever the kubelet is killed",
		"what is to be known after a kill has to be in Docker before the step that it explains"},
}

func main() {
	log.SetFlags(0)
	if err := run(os.Stdout, strings.Join(os.Args[1:], " ")); err != nil {
		log.Fatal(err)
	}
}

// run checks the exercise of a name, or lists all.
func run(w io.Writer, name string) error {
	list := ""
	for _, e := range exercises {
		if e.name == name {
			_, err := fmt.Fprintln(w, e.check())
			return err
		}
		list += fmt.Sprintf("  make check EXERCISE=%-11s%s\n", e.name, e.task)
	}
	if name != "" {
		return fmt.Errorf("there is no exercise %q with a check: give one of\n%s", name, list)
	}
	_, err := fmt.Fprint(w, list)
	return err
}

var (
	failure = regexp.MustCompile(`(?m)--- FAIL: \S+|^panic: .*`)
	reason  = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: (.*)|^(panic: .*)`)
)

// check returns what to tell the student.
func (e exercise) check() string {
	args := append([]string{"test", "-tags=exercise", "-count=1", "-run=" + e.test}, e.packages...)
	printed, err := exec.Command("go", args...).CombinedOutput()
	out := string(printed)
	switch {
	case strings.Contains(out, "[no tests to run]"):
		return "this check has lost its test:\n" + out
	case strings.Contains(out, " failed]"):
		return "not yet, because this does not build:\n" + out
	case strings.Contains(out, "panic: test timed out"):
		return "no answer: the check did not end in ten minutes. Try it again; if it is the same, your change lets something wait for ever\n" + out
	case err == nil && e.guards != "":
		return "not yet, because " + e.guards
	case err == nil:
		return "done"
	}
	reasons := reason.FindAllStringSubmatch(out, 20)
	if e.guards == "" && len(reasons) > 0 {
		return "not yet, because " + reasons[0][1]
	}
	if e.guards == "" {
		return "not yet, because the check ends with\n" + out
	}
	done := "done: these fail now\n"
	for _, line := range failure.FindAllString(out, 20) {
		done += "  " + line + "\n"
	}
	return done + "it shows: " + e.shows + "\ngit diff shows your change, and git checkout with the name of the file takes it back"
}

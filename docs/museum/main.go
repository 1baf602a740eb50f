// Museum shows bugs of the kubelet of 2014. Each exhibit gives the same input to 2014 and to today,
// and prints what runs after each step and at the end.
//
//	go run ./docs/museum                lists the exhibits
//	go run ./docs/museum lost-update    shows one
//
// The left column is the mechanism of 2014, written anew in the file of the exhibit and in
// kubelets.go. The right column is today's packages, put together in kubelets.go.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"
)

// exhibit is one bug. show makes its steps.
type exhibit struct {
	name, sentence string
	show           func(*stage)
}

var exhibits = []exhibit{
	{"lost-update", "An edit that arrives while a worker is busy is lost until the next tick.", lostUpdate},
	{"typo", "A typo in a manifest stops its pod.", typo},
	{"pointer-hash", "A container with a probe is restarted whenever the pods are copied or read again.", pointerHash},
	{"empty-url", "The body {} at the URL removes all pods of that source.", emptyURL},
	{"first-source", "After a restart, the first source that answers removes the pods of the others.", firstSource},
	{"empty-uid", "Pods without a UID are all the same pod.", emptyUID},
	{"starved-tick", "Steady updates postpone the tick for ever.", starvedTick},
}

func main() {
	log.SetFlags(0)
	flag.Set("logtostderr", "true")                        // glog writes to os.Stderr, and to no file
	os.Stderr, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0) // package log has the real one
	must(run(os.Stdout, os.Args[1:]))
}

// run shows the exhibit that the arguments name. Without arguments it lists all.
func run(w io.Writer, args []string) error {
	list := ""
	for _, e := range exhibits {
		if slices.Equal(args, []string{e.name}) {
			e.run(w)
			return nil
		}
		list += fmt.Sprintf("  %-14s%s\n", e.name, e.sentence)
	}
	if len(args) > 0 {
		return fmt.Errorf("there is no exhibit %q: give the name of one\n\n%s", strings.Join(args, " "), list)
	}
	_, err := fmt.Fprint(w, "Bugs of 2014, beside the kubelet of today: give the name of one\n\n", list)
	return err
}

func must(err error) {
	if err != nil {
		log.Fatal("museum: ", err)
	}
}

// stage is where an exhibit is shown.
type stage struct {
	w     io.Writer
	steps int
	then  *kubelet2014
	today *today
}

// run shows an exhibit, and returns what 2014 and today have left running.
func (e *exhibit) run(w io.Writer) (then, now []string) {
	dir, err := os.MkdirTemp("", "museum")
	must(err)
	defer os.RemoveAll(dir)
	s := &stage{w: w, then: &kubelet2014{host: newHost()}, today: &today{host: newHost(), dir: dir}}
	s.today.start()
	defer s.today.end()
	fmt.Fprintf(w, "%s: %s\n\n", e.name, e.sentence)
	s.print([]string{"2014"}, []string{"today"})
	e.show(s)
	fmt.Fprintln(w, "\nLeft running:")
	s.print(s.then.running(), s.today.running())
	return s.then.running(), s.today.running()
}

// step calls do, which gives both kubelets the same input, and prints what runs when they have acted.
func (s *stage) step(input string, do func()) {
	do()
	s.steps++
	fmt.Fprintf(s.w, "\n%d. %s\n", s.steps, input)
	s.print(append(s.then.notes, s.then.running()...), append(s.today.notes, s.today.running()...))
	s.then.notes, s.today.notes = nil, nil
}

// print prints texts in two columns, broken into lines.
func (s *stage) print(then, now []string) {
	line := regexp.MustCompile(`(?m).{1,45}( |$)`)
	left, right := line.FindAllString(strings.Join(then, "\n"), -1), line.FindAllString(strings.Join(now, "\n"), -1)
	for i := range max(len(left), len(right)) {
		left, right = append(left, ""), append(right, "")
		fmt.Fprintln(s.w, strings.TrimRight(fmt.Sprintf("   %-46s| %s", left[i], right[i]), " "))
	}
}

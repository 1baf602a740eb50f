// Labs checks what students build in the six labs of this directory.
//
//	go run ./docs/labs -dir=mine           lists the labs, with what is done
//	go run ./docs/labs -dir=mine -lab=3    checks one: "done", or what it saw and what it wanted
//
// A check builds the student's program once, and runs it on the machine's Docker with manifests and
// names of its own. Between the two is a proxy, which lets the program change nothing but its own
// containers, and which can delay a request or kill the program after one. README.md has what
// a program is told and what it has to do.
//
//   - main.go lists the labs and runs a check.
//   - check.go is one run of a check: its steps, its waits, and what it says when it fails.
//   - program.go runs the student's program.
//   - proxy.go and call.go stand between it and Docker.
//   - engine.go and containers.go ask Docker.
//   - manifests.go writes the manifests.
//   - lab1.go to lab6.go are the checks.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kubelet14/manifests/hello"
)

// lab is one of the six. The check returns when all is as wanted, and panics with a failure otherwise.
type lab struct {
	page, task string
	check      func(*check)
}

var labs = []lab{
	{"1-many.md", "many manifests: what goes takes its container along, and nobody else's", lab1},
	{"2-edits.md", "an edit: the new container is made before the old one stops", lab2},
	{"3-crashes.md", "crashes: a back-off that survives kill -9", lab3},
	{"4-pods.md", "a pod: two containers with one network, ports, and a directory that goes with the pod", lab4},
	{"5-workers.md", "workers: a pod that takes long holds up no other, and no edit is lost", lab5},
	{"6-promise.md", "the promise: killed after any request to Docker, it arrives at the same containers", lab6},
}

func main() {
	if filepath.Base(os.Args[0]) == hello.Name { // in the image kubelet14/hello:1, if a check has made it
		hello.Main()
	}
	log.SetFlags(0)
	lab := flag.String("lab", "", "the `number` of the lab to check; empty: list them")
	dir := flag.String("dir", "mine", "the `directory` of your program")
	command := flag.String("run", "", "the `command` that runs it, in that directory; empty: go build is run there first")
	limit := flag.Duration("limit", 2*time.Minute, "how long to wait for what has to come")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	number, err := strconv.Atoi(*lab)
	switch {
	case *lab == "":
		list(os.Stdout, *dir)
	case err != nil || number < 1 || number > len(labs):
		log.Fatalf("there is no lab %q: give a number from 1 to %d", *lab, len(labs))
	default:
		if _, err := os.Stat(*dir); err != nil {
			log.Fatalf("%v\nbegin with: cp -r docs/labs/start %s", err, *dir)
		}
		if err := run(ctx, os.Stdout, number, *dir, *command, *limit); err != nil {
			log.Fatal(err)
		}
	}
}

// doneFile is in the directory of a student's program. It has a line for each lab whose last check said "done".
const doneFile = "labs.done"

// list prints the labs, and which the program in a directory has done.
func list(w io.Writer, dir string) {
	done := doneIn(dir)
	for i, l := range labs {
		mark := "    "
		if slices.Contains(done, fmt.Sprint(i+1)) {
			mark = "done"
		}
		fmt.Fprintf(w, "  %s  make lab LAB=%d DIR=%s   %s (docs/labs/%s)\n", mark, i+1, dir, l.task, l.page)
	}
}

func doneIn(dir string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, doneFile)) // no file: nothing is done
	return strings.Fields(string(text))
}

// run checks one lab, and notes whether it is done.
func run(ctx context.Context, w io.Writer, number int, dir, command string, limit time.Duration) error {
	problem := checkLab(ctx, w, number, dir, command, limit)
	if ctx.Err() != nil {
		return fmt.Errorf("%w\n\nwhat this check has made is removed", problem)
	}
	done := slices.DeleteFunc(doneIn(dir), func(n string) bool { return n == fmt.Sprint(number) })
	if problem == nil {
		done = append(done, fmt.Sprint(number))
		fmt.Fprintf(w, "done: lab %d\n", number)
	}
	slices.Sort(done)
	err := os.WriteFile(filepath.Join(dir, doneFile), []byte(strings.Join(done, "\n")+"\n"), 0o644)
	if problem == nil {
		problem = err
	}
	return problem
}

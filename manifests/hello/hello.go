// Package hello is the program of the demo's image kubelet14/hello:1. On command it
// does the things that containers do. The demo manifests run it, and so do the tests.
//
// The image has no entrypoint, so a manifest's command begins with "/hello":
//
//	command: ["/hello", "serve", "-port", "80"]
//
// It is the first process of its container, which Linux sends no signal that it
// does not handle. So every command handles SIGTERM and SIGINT: it exits with 0
// at once, unless -exit-on-term or -ignore-term says otherwise.
package hello

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// command is one thing hello can do. An error of run ends the program with 1.
type command struct {
	name, args, about string
	run               func(f *flags) error
}

func commands() []command {
	return []command{
		{"serve", "[-port N] [-show PATH]", "serve HTTP: / (hello, and what PATH holds), /env, /exit?code=N, /healthz, /health?ok=false (and /healthz fails), /close (and no connection is taken), /hang (no answer)", serve},
		{"write", "[-every D] [-ask URL] FILE", "keep a line with a count and the time in FILE; the count goes on where FILE left it", write},
		{"append", "[-for D] [-exit N] FILE LINE", "append LINE to FILE, then do as sleep does", appendLine},
		{"say", "[-exit N] FILE TEXT", "write TEXT to FILE, then exit", say},
		{"cat", "FILE", "print FILE", cat},
		{"fetch", "[-try D] URL", "GET URL and print the body; exit 1 unless the status is 2xx", fetch},
		{"sleep", "[-for D] [-exit N]", "do nothing for a time, or for ever, then exit", sleep},
		{"eat", "[-over D] [-for D] [-exit N] BYTES", "take so much memory, then do as sleep does", eat},
		{"repeat", "[-exit N]", "print each line of the input, and each size of the terminal it comes from, until it ends; then exit", repeat},
		{"exit", "CODE", "exit with CODE", exit},
		{"env", "", "print the environment, host name, directory and arguments", env},
		{"flood", "[-lines N] [-bytes N] [-every D]", "print N lines of N bytes each", flood},
	}
}

// Name is the name of the program.
const Name = "hello"

// Main runs the command of the arguments and exits.
func Main() {
	if len(os.Args) > 1 {
		for _, c := range commands() {
			if c.name == os.Args[1] {
				start(c, os.Args[2:])
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: hello COMMAND [-h] ...")
	for _, c := range commands() {
		fmt.Fprintf(os.Stderr, "  %-7s %-29s %s\n", c.name, c.args, c.about)
	}
	os.Exit(2)
}

// start runs one command and exits.
func start(c command, args []string) {
	f := &flags{FlagSet: flag.NewFlagSet(c.name, flag.ExitOnError), args: args}
	f.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: hello %s %s\n%s\n", c.name, c.args, c.about)
		f.PrintDefaults()
	}
	f.exitOnTerm = f.Int("exit-on-term", 0, "exit with this code when asked to stop by SIGTERM or SIGINT")
	f.ignoreTerm = f.Bool("ignore-term", false, "go on when asked to stop")
	f.diary = f.String("diary", "", "a file to append to: a line when asked to stop, and one for each request")
	if err := c.run(f); err != nil {
		fmt.Fprintf(os.Stderr, "hello %s: %v\n", c.name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// flags are the flags of one command and those that all have.
type flags struct {
	*flag.FlagSet
	args       []string
	exitOnTerm *int
	ignoreTerm *bool
	diary      *string
}

// note adds a line to the diary, when one is kept.
func (f *flags) note(line string) {
	if *f.diary == "" {
		return
	}
	if err := addLine(*f.diary, line); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
	}
}

// parse reads the flags, wants exactly n more arguments and starts to listen for
// signals. Every command calls it first, once its own flags are defined.
func (f *flags) parse(n int) {
	f.Parse(f.args) // exits by itself when they are wrong
	if f.NArg() != n {
		f.Usage()
		os.Exit(2)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if *f.ignoreTerm {
		fmt.Fprintln(os.Stderr, "hello: will go on when asked to stop")
	}
	go func() {
		for s := range stop {
			fmt.Fprintln(os.Stderr, "hello: asked to stop:", s)
			f.note("asked to stop")
			if !*f.ignoreTerm {
				os.Exit(*f.exitOnTerm)
			}
		}
	}()
}

// rest defines the flags of a command that ends in a rest, and returns what to
// do when it has come to that.
func (f *flags) rest() func() {
	duration := f.Duration("for", -1, "how long to sleep; for ever when it is negative")
	code := f.Int("exit", 0, "exit with this code afterwards")
	return func() {
		if *duration < 0 {
			select {} // until a signal
		}
		time.Sleep(*duration)
		os.Exit(*code)
	}
}

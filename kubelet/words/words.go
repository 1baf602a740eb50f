package words

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/config"
	"kubelet14/kubelet/options"
)

// Program is the program that a word is given to.
type Program struct {
	Version  string
	In       io.Reader
	Out, Err io.Writer
	Terminal bool                                               // Out is one
	Proc     string                                             // the file system of processes
	CarryOut func(context.Context, *options.Options) (code int) // does what flags say
	Parser   func(*options.Options) config.Parser               // of manifests
}

// A word is one command.
type word struct {
	name     string
	args     string // what follows the name and is no flag
	does     string // in one line
	examples string
	// declare declares the word's own flags, and returns what carries it out once they are parsed.
	declare func(fs *flag.FlagSet) func(ctx context.Context, c *call) error
}

var words = []word{
	{"ps", "", "print the pods and their containers, and exit with 0 if all is well",
		"kubelet14 ps -w", ps},
	{"logs", "POD", "print the logs of a pod's containers",
		"kubelet14 logs web -f --tail 20\nkubelet14 logs web -c server -p", logs},
	{"describe", "POD", "print all that is known about a pod, and why it is not up",
		"kubelet14 describe web", describe},
	{"exec", "POD -- COMMAND", "run a command in a container, and exit with its exit code",
		"kubelet14 exec -it web -- sh\nkubelet14 exec -i web -c server -- tar -x <data.tar", exec},
	{"stop", "POD", "stop a pod and keep its volumes, until kubelet14 start",
		"kubelet14 stop web", order("stop")},
	{"start", "POD", "start a pod that was stopped",
		"kubelet14 start web", order("start")},
	{"restart", "POD", "stop a pod's containers and start them anew, also those that are done",
		"kubelet14 restart web", order("restart")},
	{"top", "", "print how much CPU and memory the pods use, busiest first",
		"kubelet14 top -w", top},
	{"diff", "", "print what the kubelet would do to each pod, with its own settings or other ones",
		"kubelet14 diff\nkubelet14 diff -config=/path/to/changed", diff},
	{"check", "FILE…", "print what is wrong with manifests; it needs no kubelet, and - is standard input",
		"kubelet14 check web.yaml manifests/\nhelm template shop | kubelet14 check -", check},
}

// call is one use of a word.
type call struct {
	*Program
	args    []string // all that are no flags
	command []string // what follows --
	given   []string // settings of the kubelet
}

// exitCode is an error that ends the program without a message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", e) }

// Run carries out the word that the arguments begin with, and returns the exit code of the program. It returns false if they
// begin with a flag, or are none.
func (p *Program) Run(ctx context.Context, args []string) (code int, isWord bool) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return 0, false
	}
	i := slices.IndexFunc(words, func(w word) bool { return w.name == args[0] })
	switch {
	case args[0] == "help":
		return p.help(args[1:]), true
	case i < 0:
		return p.wrong("help", "unknown word %q: %s", args[0], options.Meant(args[0], names())), true
	}
	return p.run(ctx, &words[i], args[1:]), true
}

// run parses the arguments of a word and carries it out.
func (p *Program) run(ctx context.Context, w *word, args []string) int {
	c := &call{Program: p}
	if i := slices.Index(args, "--"); i >= 0 {
		args, c.command = args[:i], args[i+1:]
	}
	flags := flag.NewFlagSet(w.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	carryOut := w.declare(flags)
	options.Record(flags, "", &c.given)
	var err error
	if c.args, err = options.ParseMixed(flags, args); errors.Is(err, flag.ErrHelp) {
		return p.help([]string{w.name})
	}
	if !strings.Contains(w.args, " -- ") {
		c.args, c.command = append(c.args, c.command...), nil
	}
	most := min(len(strings.Fields(w.args)), 1) // a POD
	if strings.HasSuffix(w.args, "…") {
		most = len(c.args)
	}
	switch {
	case err != nil:
	case len(c.args) > most && w.name == "exec":
		err = fmt.Errorf("unexpected argument %q: write the command after --", c.args[most])
	case len(c.args) > most:
		err = fmt.Errorf("unexpected argument %q", c.args[most])
	case len(c.args) == 0 && w.args != "":
		err = fmt.Errorf("a %s is missing", strings.Fields(w.args)[0])
	}
	if err != nil {
		return p.wrong("help "+w.name, "%s: %v", w.name, err)
	}
	err = carryOut(ctx, c)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: use sudo", err)
	}
	fmt.Fprintf(p.Err, "kubelet14: %s\n", api.Printable(err.Error()))
	return 1
}

// wrong says what is wrong with the arguments, and which help there is.
func (p *Program) wrong(help, format string, args ...any) int {
	fmt.Fprintf(p.Err, "kubelet14: %s\nkubelet14 %s explains it, and kubelet14 -h the flags\n", api.Printable(fmt.Sprintf(format, args...)), help)
	return 2
}

func names() (names []string) {
	for _, w := range words {
		names = append(names, w.name)
	}
	return names
}

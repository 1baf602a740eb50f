package options

import (
	"cmp"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"kubelet14/api"
)

const usage = `kubelet14 runs the pods of this host as their manifests say.

  kubelet14 -config=manifests/            run until a signal stops it; the pods stay
  kubelet14 -config=manifests/ -runonce   start the pods, print a table, exit
  kubelet14 -config=manifests/ -dry_run   print what it would do and why, change nothing
  kubelet14 -config=manifests/ -step      show each plan, and carry it out when you say so
  kubelet14 -config=manifests/ -convert   print them as v1 Pods, for kubectl apply
  kubelet14 ps                            print its pods while it runs; kubelet14 help lists more such words
  kubelet14 -status -etcd_servers=ADDRESS print all hosts of this etcd whose kubelets run with -etcd_status
  kubelet14 -cleanup                      remove all containers and volumes it has made

The kubelet knows its containers by its hostname and its root_dir: give the same two
every time. Names of flags may have dashes instead of underscores. While the kubelet
runs, http://127.0.0.1:10250/ shows its pods.
`

// printHelp prints the usage and all flags, the log's last.
func printHelp(topics []topic, logs *flag.FlagSet) {
	fmt.Print(usage)
	for _, t := range topics {
		fmt.Printf("\n%s:\n", t.title)
		t.SetOutput(os.Stdout)
		t.PrintDefaults()
	}
	fmt.Print("\nThe log:\n")
	logs.SetOutput(os.Stdout)
	logs.PrintDefaults()
}

// completion is a bash script; after "-flag=" bash completes file names.
//
//go:embed completion.bash
var completion string

// printCompletion prints the script with the names of the flags that have no dashes.
func printCompletion(all *flag.FlagSet) {
	var names []string
	all.VisitAll(func(f *flag.Flag) {
		name := f.Name + "="
		if isBool(f) {
			name = f.Name
		}
		if !strings.Contains(name, "-") {
			names = append(names, name)
		}
	})
	fmt.Print(strings.Replace(completion, "NAMES", strings.Join(names, " "), 1))
}

// meantBy returns the command that does what a word means in other programs, or "".
func meantBy(word string) string {
	for command, words := range map[string]string{
		"ps": "status ls list get pods", "logs": "log tail", "describe": "events inspect show", "top": "stats", "diff": "dry_run dry-run plan",
		"check": "validate lint", "exec": "run sh shell attach", "-config=DIRECTORY": "up apply create",
		"-cleanup": "cleanup down rm remove delete clean", "-runonce": "runonce once", "-version": "", "-completion": "",
	} {
		if strings.TrimLeft(command, "-") == word || slices.Contains(strings.Fields(words), word) {
			return "kubelet14 " + command
		}
	}
	return ""
}

// Meant completes "unknown word".
func Meant(word string, known []string) string {
	meant := meantBy(word)
	if nearest := api.Nearest(word, known); meant == "" && nearest != "" {
		meant = "kubelet14 " + nearest
	}
	if meant == "" {
		return "every setting is a flag, such as -config=manifests"
	}
	return "did you mean " + meant + "?"
}

// suggestFlag adds to the error about an unknown flag the one that was probably meant, and
// to that about a value what the flag takes.
func suggestFlag(err error, known *flag.FlagSet) error {
	_, name, unknown := strings.Cut(err.Error(), "provided but not defined: -")
	if !unknown {
		text, isValue := strings.CutSuffix(err.Error(), "parse error")
		if _, name, ofFlag := strings.Cut(strings.TrimSuffix(text, ": "), " for flag -"); isValue && ofFlag {
			return errors.New(text + takes(known.Lookup(name)))
		}
		return err
	}
	var names []string
	known.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	name = strings.TrimLeft(name, "-")
	meant := meantBy(name)
	if nearest := api.Nearest(name, names); meant == "" && nearest != "" {
		meant = "-" + nearest
	}
	if meant == "" {
		return fmt.Errorf("unknown flag -%s", name)
	}
	return fmt.Errorf("unknown flag -%s: did you mean %s?", name, meant)
}

// takes says what the value of a flag is.
func takes(f *flag.Flag) string {
	what, _ := flag.UnquoteUsage(f)
	return "it takes a " + cmp.Or(strings.Replace(what, "duration", "duration, such as 20s or 5m", 1), "word, true or false")
}

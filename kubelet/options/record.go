package options

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
)

// notSettings are flags that make the program do something else than to run on.
var notSettings = strings.Fields("runonce dry_run convert status watch cleanup version completion")

// Record declares the settings of the program in fs, beside the flags that it has. What is parsed of them is added to given, as
// -name=value, with paths made absolute from dir.
func Record(fs *flag.FlagSet, dir string, given *[]string) {
	all := joined((&Options{}).topics())
	flag.VisitAll(func(f *flag.Flag) { all.Var(f.Value, f.Name, f.Usage) }) // those of the log
	all.VisitAll(func(f *flag.Flag) {
		what, _ := flag.UnquoteUsage(f)
		record := func(value string) error {
			if (what == "path" || what == "directory") && value != "" && !filepath.IsAbs(value) {
				value = filepath.Join(dir, value)
			}
			*given = append(*given, "-"+f.Name+"="+value)
			return nil
		}
		for _, name := range slices.Compact([]string{f.Name, strings.ReplaceAll(f.Name, "_", "-")}) {
			if fs.Lookup(name) != nil || slices.Contains(notSettings, f.Name) {
				continue
			}
			if isBool(f) {
				fs.BoolFunc(name, f.Usage, record)
			} else {
				fs.Func(name, f.Usage, record)
			}
		}
	})
}

// IsOfLog reports whether an argument that Record has made is a flag of the log.
func IsOfLog(arg string) bool {
	name, _, _ := strings.Cut(arg[1:], "=")
	return flag.Lookup(name) != nil
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// ParseMixed parses flags that stand before, between or after other arguments, and returns these.
func ParseMixed(fs *flag.FlagSet, args []string) (others []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, suggestFlag(err, fs)
		}
		if fs.NArg() == 0 {
			return others, nil
		}
		others, args = append(others, fs.Arg(0)), fs.Args()[1:]
	}
}

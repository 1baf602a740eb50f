package words

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

const wordsHelp = `
They find the one kubelet that runs on this host. If there are several, give a flag of the one that is meant, such as
-root_dir. POD is a name, NAME.NAMESPACE or a full name. kubelet14 WORD -h explains a word, and kubelet14 -h the flags.
`

// help prints the help of the words that are named, or a list of all.
func (p *Program) help(names []string) int {
	if len(names) == 0 || names[0] == "-h" {
		fmt.Fprintf(p.Out, "Words for every day, about the pods of a kubelet that runs:\n\n")
		table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
		for _, w := range words {
			fmt.Fprintf(table, "  kubelet14 %s\t%s\n", strings.TrimSpace(w.name+" "+w.args), w.does)
		}
		table.Flush()
		fmt.Fprint(p.Out, wordsHelp)
		return 0
	}
	i := slices.IndexFunc(words, func(w word) bool { return w.name == names[0] })
	if i < 0 {
		return p.wrong("help", "there is no help for %q", names[0])
	}
	w := words[i]
	fmt.Fprintf(p.Out, "kubelet14 %s: %s\n\n  %s\n", strings.TrimSpace(w.name+" "+w.args), w.does, strings.ReplaceAll(w.examples, "\n", "\n  "))
	var own strings.Builder
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(&own)
	w.declare(flags)
	if flags.PrintDefaults(); own.Len() > 0 {
		fmt.Fprintf(p.Out, "\n%s", own.String())
	}
	others := "such as -root_dir, say which kubelet is meant"
	if w.name == "check" {
		others = "such as -allow_privileged and -config_file, count as for the kubelet"
	}
	fmt.Fprintf(p.Out, "\nFlags may stand anywhere. Those of kubelet14 -h, %s.\n", others)
	return 0
}

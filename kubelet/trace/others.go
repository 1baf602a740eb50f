package trace

import (
	"path"
	"regexp"
	"slices"
)

// output is what a message quotes of a container: the last line that it has printed, or what could not be run.
var output = regexp.MustCompile(`: "(\\.|[^"\\])*"`)

// ForOthers returns a copy of a change that can be given away: it quotes no container, which may have printed a password, and has
// no directory of this host.
func (c *Change) ForOthers() Change {
	hidden := *c
	hidden.Events = slices.Clone(c.Events)
	hide := func(text *string) { *text = output.ReplaceAllString(*text, "") }
	for i := range hidden.Events {
		e := &hidden.Events[i]
		if e.Place != "" {
			e.Place = path.Base(e.Place)
		}
		hide(&e.Reason)
		hide(&e.Error)
		e.Rows = each(e.Rows, func(a *Attempt) { hide(&a.Message) })
		for _, row := range e.Rows {
			for j := range row.Plan {
				hide(&row.Plan[j].Reason)
			}
		}
	}
	return hidden
}

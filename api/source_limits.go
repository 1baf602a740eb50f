package api

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// The YAML library takes time or memory that grows with the square of these, or a
// stack that grows with them, so an input has to stay below them. No manifest that
// a person could work with comes near.
const (
	maxMarks  = 1 << 20 // characters that can mean something in YAML
	maxTokens = 100_000 // pieces of YAML
	maxFields = 2000    // of one mapping
	maxName   = 100     // bytes of the name of a field
	maxDepth  = 50      // lists and mappings within each other
	maxRepeat = 100     // blank lines in a row, '<' in a row, tabs in a line
)

// checkLines finds what the library would split into tokens too slowly.
func (src *source) checkLines(text string) error {
	marks := 0
	for _, mark := range "\n\t-?:,[]{}#&*!|>'\"%@`<" {
		marks += strings.Count(text, string(mark))
	}
	if marks > maxMarks {
		return src.errorf("this is too much to be read at once: more than %d line ends, brackets, quotes and other marks of YAML; split it", maxMarks)
	}
	// Each one costs as much as the text before it.
	maxBlank := maxRepeat * MaxManifestBytes / max(len(text), MaxManifestBytes)
	arrows := strings.Repeat("<", maxRepeat+1)
	blank := 0
	for line := range strings.SplitSeq(text, "\n") {
		src.lines = append(src.lines, []rune(line))
		if blank++; strings.TrimSpace(line) != "" {
			blank = 0
		}
		problem := ""
		switch {
		case blank > maxBlank:
			problem = fmt.Sprintf("more than %d blank lines in a row", maxBlank)
		case strings.Count(line, "\t") > maxRepeat:
			problem = fmt.Sprintf("more than %d tabs in a line", maxRepeat)
		case strings.Contains(line, arrows):
			problem = fmt.Sprintf("more than %d '<' in a row", maxRepeat)
		}
		if problem != "" {
			return src.at(place{len(src.lines), 1}, "", problem)
		}
	}
	return nil
}

// level is a list or a mapping that is open. Its items or fields begin at a column,
// or are in brackets and begin anywhere: 0.
type level struct{ column, fields int }

// openAt closes the levels deeper than a column, and opens one there if there is
// none.
func openAt(open []level, column int) []level {
	for len(open) > 0 && open[len(open)-1].column > column {
		open = open[:len(open)-1]
	}
	if len(open) == 0 || open[len(open)-1].column < column {
		open = append(open, level{column: column})
	}
	return open
}

// checkShape finds what the library would parse too slowly, or with too much
// memory: it is recursive, and gives every node the names of all that is around it.
func (src *source) checkShape(tokens token.Tokens) error {
	var open []level
	tags, anchors := 0, 0
	for i, t := range tokens {
		name, fields := "", 0
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, level{})
		case token.SequenceEndType, token.MappingEndType:
			open = openAt(open, 0)
			open = open[:len(open)-1]
		case token.SequenceEntryType:
			open = openAt(open, t.Position.Column)
		case token.MappingKeyType, token.MappingValueType:
			column := t.Position.Column
			if t.Type == token.MappingValueType && i > 0 {
				name, column = tokens[i-1].Value, tokens[i-1].Position.Column
			}
			if len(open) == 0 || open[len(open)-1].column > 0 {
				open = openAt(open, column)
			}
			last := &open[len(open)-1]
			last.fields++
			fields = last.fields
		case token.TagType:
			tags++
		case token.AnchorType:
			anchors++
		}
		problem := ""
		switch {
		case len(open) > maxDepth:
			problem = fmt.Sprintf("more than %d levels within each other", maxDepth)
		case fields > maxFields:
			problem = fmt.Sprintf("more than %d fields in one mapping", maxFields)
		case len(name) > maxName:
			problem = fmt.Sprintf("the name of a field has more than %d bytes", maxName)
		case anchors > maxFields: // each can hide that a field is of the same mapping
			problem = fmt.Sprintf("more than %d anchors", maxFields)
		case tags > maxDepth: // each can be a level
			problem = fmt.Sprintf("tags such as %s are not supported: remove them", t.Value)
		}
		if problem != "" {
			return src.at(placeOfToken(t), "", problem)
		}
	}
	return nil
}

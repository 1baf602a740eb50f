package api

import (
	"fmt"
	"strings"
	"unicode"
)

// SourceError is one thing wrong with a manifest, and where: it is made for the
// person who wrote the manifest.
type SourceError struct {
	File         string
	Line, Column int    // from 1, in characters; 0: the file as a whole
	Field        string // such as containers[0].image; may be empty
	Problem      string
	Excerpt      string // the lines around, with a caret; may be empty
}

// Error gives file:line:column: field: problem, and below it the excerpt.
func (e *SourceError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	text += ": " + e.Problem
	if e.Excerpt != "" {
		text += "\n" + e.Excerpt
	}
	return text
}

// FieldError is what is wrong with one field. Conversion and validation know no
// lines; Document.At adds them.
type FieldError struct {
	Field   string // such as containers[0].image
	Problem string
}

// FieldErrors are all that is wrong with an object; empty is good.
type FieldErrors []FieldError

// Add notes what is wrong with a field; problem may have the verbs of fmt.
func (es *FieldErrors) Add(field, problem string, args ...any) {
	*es = append(*es, FieldError{field, fmt.Sprintf(problem, args...)})
}

// AddIn takes over the errors of what is at a path.
func (es *FieldErrors) AddIn(path string, errs FieldErrors) {
	for _, e := range errs {
		*es = append(*es, FieldError{join(path, e.Field), e.Problem})
	}
}

func (es FieldErrors) Error() string {
	var parts []string
	for _, e := range es {
		parts = append(parts, e.Field+": "+e.Problem)
	}
	return strings.Join(parts, "; ")
}

// excerptWidth is how many characters of a line an excerpt shows.
const excerptWidth = 100

// excerpt shows a line with two before and one after it, and a caret below the
// column.
func excerpt(lines [][]rune, p place) string {
	if p.line > len(lines) {
		return ""
	}
	first, last := max(1, p.line-2), min(len(lines), p.line+1)
	// Cut all lines the same way, so that they stay below each other.
	from := max(0, p.column-excerptWidth*3/4)
	digits := len(fmt.Sprint(last))
	var out []string
	for n := first; n <= last; n++ {
		mark := "  "
		if n == p.line {
			mark = "> "
		}
		text := visible(lines[n-1], from)
		if n != last || n == p.line || text != "" {
			out = append(out, strings.TrimRight(fmt.Sprintf("%s%*d | %s", mark, digits, n, text), " "))
		}
		if n == p.line {
			out = append(out, fmt.Sprintf("  %*s | %*s", digits, "", max(1, p.column-from), "^"))
		}
	}
	return strings.Join(out, "\n")
}

// visible cuts a line to what is shown of it, and makes one printable character
// of each: a manifest is somebody's input, and this goes to a terminal.
func visible(line []rune, from int) string {
	line = line[min(from, len(line)):]
	cut := len(line) > excerptWidth
	text := strings.Map(printable, string(line[:min(excerptWidth, len(line))]))
	if cut {
		return text + "…"
	}
	return text
}

func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r):
		return '?'
	}
	return r
}

// shorten keeps a message readable, and one line, whatever the input that it quotes.
func shorten(s string) string {
	s = strings.Map(printable, s)
	const limit = 400
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit/2]) + " … " + string(runes[len(runes)-limit/2:])
	}
	return s
}

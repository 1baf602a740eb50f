package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// text is the text of a file, a body or a key while it is decoded.
type text struct {
	file  string // a label for people
	lines []string
}

// SourceError is one problem of a manifest and its place. It is written for the author of the manifest.
type SourceError struct {
	File         string
	Line, Column int    // from 1, in characters; 0: the file as a whole
	Field        string // such as containers[0].image; may be empty
	Problem      string

	text *text
}

// Error returns "file:line:column: field: problem". It is one line, and never quotes an environment variable of a
// manifest: many of them are passwords.
func (e *SourceError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Problem
}

// FieldError is a problem of one field. Conversion and validation know no lines: Document.At adds them.
type FieldError struct {
	Field   string // such as containers[0].image
	Problem string
}

// FieldErrors are all problems of an object. None means that it is good.
type FieldErrors []FieldError

// Add appends a problem of a field. The problem may have the verbs of fmt.
func (es *FieldErrors) Add(field, problem string, args ...any) {
	*es = append(*es, FieldError{field, fmt.Sprintf(problem, args...)})
}

func (es FieldErrors) Error() string {
	var problems []string
	for _, e := range es {
		problems = append(problems, e.Field+": "+e.Problem)
	}
	return strings.Join(problems, "; ")
}

// WithExcerpts returns the text of err with lines of the manifest below each SourceError in it. It is for the log only:
// the lines may hold passwords.
func WithExcerpts(err error) string {
	done, rest := "", err.Error()
	var add func(err error)
	add = func(err error) {
		switch err := err.(type) {
		case *SourceError:
			if before, after, found := strings.Cut(rest, err.Error()); found {
				done, rest = strings.TrimSuffix(done+before+err.Error()+"\n"+err.Excerpt(), "\n"), after
			}
		case interface{ Unwrap() []error }:
			for _, e := range err.Unwrap() {
				add(e)
			}
		case interface{ Unwrap() error }:
			add(err.Unwrap())
		}
	}
	add(err)
	return done + rest
}

// errorf returns an error about the file as a whole.
func (t *text) errorf(format string, args ...any) *SourceError {
	return &SourceError{File: t.file, Problem: Printable(fmt.Sprintf(format, args...), 400)}
}

// errorAt returns an error about one place of the file.
func (t *text) errorAt(n *yaml.Node, field, problem string) *SourceError {
	if n.Line >= 1 && n.Line <= len(t.lines) && strings.Contains(cut(t.lines[n.Line-1], max(0, n.Column-50), 100), "{{") {
		const template = "this looks like a template: render it first, as with helm template"
		if problem += "; " + template; strings.HasPrefix(problem, "YAML syntax") {
			problem = template
		}
	}
	return &SourceError{t.file, n.Line, n.Column, Printable(field, 400), Printable(problem, 400), t}
}

// Excerpt returns the line of the error, two lines before and one after it, and a caret below the column. It is empty for
// an error about the file as a whole.
func (e *SourceError) Excerpt() string {
	const width = 100
	if e.text == nil || e.Line < 1 || e.Line > len(e.text.lines) {
		return ""
	}
	from := max(0, e.Column-width*3/4) // all lines are cut at the same column
	digits := len(strconv.Itoa(min(e.Line+1, len(e.text.lines))))
	var out []string
	for n := max(1, e.Line-2); n <= min(e.Line+1, len(e.text.lines)); n++ {
		mark, line := "  ", Printable(cut(e.text.lines[n-1], from, width+1), width)
		if n == e.Line {
			mark = "> "
		}
		if from > 0 && line != "" {
			line = "…" + line[offset(line, 1):]
		}
		if n <= e.Line || line != "" {
			out = append(out, strings.TrimRight(fmt.Sprintf("%s%*d | %s", mark, digits, n, line), " "))
		}
		if n == e.Line {
			out = append(out, fmt.Sprintf("  %*s | %*s", digits, "", max(1, e.Column-from), "^"))
		}
	}
	return strings.Join(out, "\n")
}

// cut returns at most length characters of s, from the character with the index from.
func cut(s string, from, length int) string {
	s = s[offset(s, from):]
	return s[:offset(s, length)]
}

// offset returns where the character with the index n begins in s, or the length of s if it has no such character.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// Printable makes s safe for a log and a terminal: one line of at most so many characters.
func Printable(s string, limit int) string {
	shorter := cut(s, 0, limit)
	if len(shorter) < len(s) {
		shorter += "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, shorter)
}

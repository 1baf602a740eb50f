package api

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxMistakes is the most that is reported of one text.
const MaxMistakes = 50

// Mistake is one thing that is wrong with a manifest. It is written for the author of the manifest, and never quotes an
// environment variable: many of them are passwords.
type Mistake struct {
	Line, Column int    // from 1, in characters; 0: the text as a whole, or not known yet
	Field        string // such as containers[0].image; may be empty
	Text         string
}

func (m Mistake) String() string { return strings.TrimPrefix(m.Field+": "+m.Text, ": ") }

// Mistakes are all that is wrong with an object or a text. None means that it is good. Conversion and validation know no lines:
// Decode adds them.
type Mistakes []Mistake

// Add appends a problem of a field. The text may have the verbs of fmt.
func (ps *Mistakes) Add(field, text string, args ...any) {
	ps.add(Mistake{Field: field, Text: fmt.Sprintf(text, args...)})
}

// add appends a problem as one printable line. In place of those that are too many there is one that says so.
func (ps *Mistakes) add(p Mistake) {
	if len(*ps) == MaxMistakes {
		p = Mistake{Text: "there are more problems; fix these first"}
	}
	if len(*ps) <= MaxMistakes {
		p.Field, p.Text = OneLine(Shorten(p.Field, 400)), OneLine(Shorten(p.Text, 400))
		*ps = append(*ps, p)
	}
}

func (ps Mistakes) Error() string {
	var problems []string
	for _, p := range ps {
		problems = append(problems, p.String())
	}
	return strings.Join(problems, "; ")
}

// SourceError is what is wrong with the text of a file, a body or a key.
type SourceError struct {
	File string // a label for people
	Mistakes

	lines []string // of the text
	needs string   // what an empty text lacks; unless it is a manifest
}

// refuse adds a problem of one place.
func (e *SourceError) refuse(n *yaml.Node, field, problem string) {
	if n.Line >= 1 && n.Line <= len(e.lines) && strings.Contains(cut(e.lines[n.Line-1], max(0, n.Column-50), 100), "{{") {
		const template = "this looks like a template: render it first, as with helm template"
		if problem += "; " + template; strings.HasPrefix(problem, "YAML syntax") {
			problem = template
		}
	}
	e.add(Mistake{n.Line, n.Column, field, problem})
}

// Error returns each problem as a line, "file:line:column: field: problem".
func (e *SourceError) Error() string {
	var lines []string
	for _, p := range e.Mistakes {
		lines = append(lines, e.line(p))
	}
	return strings.Join(lines, "\n")
}

func (e *SourceError) line(p Mistake) string {
	where := e.File
	if p.Line > 0 {
		where += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	return where + ": " + p.String()
}

// WithExcerpts returns the text of an error, or of those that it joins, each on a line, with lines of the manifest below each
// problem. It is for the log only: the lines may hold passwords, other than those in URLs.
func WithExcerpts(err error) string {
	var lines []string
	switch err := err.(type) {
	case *SourceError:
		secret := secretLines(err.lines)
		for _, p := range err.Mistakes {
			lines = append(append(lines, err.line(p)), err.excerpt(p, secret)...)
		}
	case interface{ Unwrap() []error }:
		for _, e := range err.Unwrap() {
			lines = append(lines, WithExcerpts(e))
		}
	default:
		return OneLine(err.Error())
	}
	return strings.Join(lines, "\n")
}

// userInfo is the part of a URL that has the password.
var userInfo = regexp.MustCompile(`://[^/\s]+@`)

// hideUserInfo writes an x for each character of it.
func hideUserInfo(line string) string {
	return userInfo.ReplaceAllStringFunc(line, func(found string) string { return "://" + strings.Repeat("x", utf8.RuneCountInString(found)-4) + "@" })
}

// excerpt returns the line of a problem, two lines before and one after it, and a caret below the column; nothing for a
// problem of the text as a whole. It shows no line that is secret.
func (e *SourceError) excerpt(p Mistake, secret []bool) (out []string) {
	const width = 100
	if p.Line < 1 || p.Line > len(e.lines) {
		return nil
	}
	if secret[p.Line-1] {
		return []string{fmt.Sprintf("> %d | (not shown: it may be of a Secret)", p.Line)}
	}
	from := max(0, p.Column-width*3/4) // all lines are cut at the same column
	digits := len(strconv.Itoa(min(p.Line+1, len(e.lines))))
	for n := max(1, p.Line-2); n <= min(p.Line+1, len(e.lines)); n++ {
		mark, line := "  ", Printable(Shorten(cut(hideUserInfo(e.lines[n-1]), from, width+1), width))
		if n == p.Line {
			mark = "> "
		}
		if secret[n-1] {
			out = append(out, fmt.Sprintf("%s%*d | (not shown: it may be of a Secret)", mark, digits, n))
			continue
		}
		if from > 0 && line != "" {
			line = "…" + line[offset(line, 1):]
		}
		if n <= p.Line || line != "" {
			out = append(out, strings.TrimRight(fmt.Sprintf("%s%*d | %s", mark, digits, n, line), " "))
		}
		if n == p.Line {
			out = append(out, fmt.Sprintf("  %*s | %*s", digits, "", max(1, p.Column-from), "^"))
		}
	}
	return out
}

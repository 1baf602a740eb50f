package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The most that is read as one text.
const (
	MaxManifestBytes = 1 << 20  // by Decode
	MaxListBytes     = 10 << 20 // by DecodeList
)

// place is a line and a column, both from 1.
type place struct{ line, column int }

func placeOfToken(t *token.Token) place {
	return place{t.Position.Line, t.Position.Column}
}

// source is the text of one file while it is being decoded.
type source struct {
	file  string // a label for people
	lines [][]rune
}

// open reads a text of at most so many bytes. It gives the root node of each YAML
// document that holds anything, in order.
func open(file string, data []byte, limit int) (*source, []ast.Node, error) {
	src := &source{file: file}
	if len(data) > limit {
		return nil, nil, src.errorf("%d bytes are too many for a manifest: the limit is %d", len(data), limit)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for i, r := range text {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			line := 1 + strings.Count(text[:i], "\n")
			return nil, nil, src.errorf("this is not text: line %d has the byte 0x%02x; a manifest is YAML or JSON in UTF-8", line, text[i])
		}
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if err := src.checkLines(text); err != nil {
		return nil, nil, err
	}
	roots, err := src.documents(text)
	return src, roots, err
}

// documents parses the text. The library is fed by strangers here, so even a panic
// of it must end as an error.
func (src *source) documents(text string) (nodes []ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			nodes, err = nil, src.errorf("cannot read this as YAML: %v", p)
		}
	}()
	tokens := lexer.Tokenize(text)
	if len(tokens) > maxTokens {
		return nil, src.errorf("this is too much to be read at once: more than %d pieces of YAML; split it", maxTokens)
	}
	for _, doc := range split(tokens) {
		if err := src.checkShape(doc); err != nil {
			return nil, err
		}
		node, err := src.parse(doc)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	if len(nodes) == 0 {
		what := "it is empty"
		if len(tokens) > 0 {
			what = "it holds nothing but comments and separators"
		}
		return nil, src.errorf("%s; a manifest needs at least a version, an id and containers", what)
	}
	return nodes, nil
}

// split cuts the tokens at the lines that separate documents, and leaves out
// comments and documents without content. The library can do this too, but it
// silently drops whatever follows an empty document, and with it pods.
func split(tokens token.Tokens) []token.Tokens {
	docs := []token.Tokens{nil}
	for _, t := range tokens {
		last := len(docs) - 1
		switch t.Type {
		case token.CommentType:
		case token.DocumentHeaderType, token.DocumentEndType:
			docs = append(docs, nil)
		default:
			docs[last] = append(docs[last], t)
		}
	}
	return slices.DeleteFunc(docs, func(doc token.Tokens) bool { return len(doc) == 0 })
}

// parse gives the root node of one document.
func (src *source) parse(tokens token.Tokens) (ast.Node, error) {
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	at := placeOfToken(tokens[0])
	if err == nil {
		if len(f.Docs) == 1 && f.Docs[0].Body != nil {
			return f.Docs[0].Body, nil
		}
		return nil, src.at(at, "", "cannot read this as one YAML document")
	}
	problem := ""
	if syntax := yaml.Error(nil); !errors.As(err, &syntax) {
		problem = err.Error()
	} else {
		problem = syntax.GetMessage()
		if t := syntax.GetToken(); t != nil {
			at = placeOfToken(t)
		}
	}
	problem, _, _ = strings.Cut(problem, `: "`) // a rest of the line, which the excerpt shows
	problem = strings.ReplaceAll(problem, "\t", `\t`)
	return nil, src.at(at, "", "YAML syntax: "+problem+hint(problem))
}

// hint says in a manifest author's words what the parser's usual complaints mean.
func hint(problem string) string {
	switch {
	case strings.Contains(problem, `\t`):
		return "; indent with spaces, not with tabs"
	case strings.Contains(problem, "not allowed in this context"):
		return "; look at the indentation and the colons of this line and the next"
	case strings.Contains(problem, "non-map value"):
		return "; there may be a ':' missing"
	case strings.Contains(problem, "reserved character"), strings.Contains(problem, "header option"):
		return "; put quotes around the value"
	case strings.Contains(problem, "directive"):
		return "; remove this line: the version of YAML needs no telling"
	}
	return ""
}

// errorf is an error about the file as a whole.
func (src *source) errorf(format string, args ...any) error {
	return &SourceError{File: src.file, Problem: fmt.Sprintf(format, args...)}
}

// at is an error about one place of the file.
func (src *source) at(p place, field, problem string) *SourceError {
	return &SourceError{
		File: src.file, Line: p.line, Column: p.column, Field: shorten(field), Problem: shorten(problem),
		Excerpt: excerpt(src.lines, p),
	}
}

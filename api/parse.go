package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxManifestBytes is the most that Decode and DecodeList read.
const MaxManifestBytes = 1 << 20

// notInYAML matches what a string of JSON may hold and YAML reads otherwise or refuses: a
// pair of escapes that stand for one character, and characters that cannot be seen. An
// escaped backslash is matched too, since it does not begin such a pair.
var notInYAML = regexp.MustCompile(`\\\\|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|[\x7f-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}]`)

// escapeForYAML returns a match of notInYAML as an escape of YAML.
func escapeForYAML(match []byte) []byte {
	var s string
	if err := json.Unmarshal([]byte(`"`+string(match)+`"`), &s); err != nil || s == `\` {
		return match
	}
	character, _ := utf8.DecodeRuneInString(s)
	return fmt.Appendf(nil, `\U%08X`, character)
}

// parse returns the root node of each YAML document of a text that has content.
func parse(file string, data []byte) (t *text, roots []*yaml.Node, err error) {
	t = &text{file: file}
	// The parser gets untrusted input: even a panic of it must end as an error.
	defer func() {
		if p := recover(); p != nil {
			err = t.errorf("cannot read this as YAML: %v", p)
		}
	}()
	if len(data) > MaxManifestBytes {
		return nil, nil, t.errorf("%d bytes are too many for a manifest: the limit is %d", len(data), MaxManifestBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if json.Valid(data) {
		data = notInYAML.ReplaceAllFunc(data, escapeForYAML)
	}
	t.lines = strings.Split(string(data), "\n")
	for i, line := range t.lines {
		if !utf8.ValidString(line) || strings.ContainsFunc(line, isNotText) {
			return nil, nil, t.errorf("this is not text: line %d has a byte or a character that YAML does not allow", i+1)
		}
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	for err == nil {
		document := &yaml.Node{}
		if err = loader.Load(document); err == nil {
			if root := resolve(document); root.Tag != "!!null" || root.Value != "" {
				roots = append(roots, root)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, nil, t.syntaxError(err)
	}
	if len(roots) == 0 {
		return nil, nil, t.errorf("there is no manifest in it; a manifest needs at least a version, an id and containers")
	}
	return t, roots, nil
}

func isNotText(r rune) bool { return r < ' ' && r != '\t' || r == '\ufffe' || r == '\uffff' }

// syntaxHints completes the parser's messages. Those that begin with ';' are appended;
// the others replace the message, which may quote the text.
var syntaxHints = []struct{ problem, hint string }{
	{"tab", "; indent with spaces, not with tabs"},
	{"unknown anchor", "the alias (*) has no anchor (&) before it; put quotes around text that begins with '*'"},
	{"YAML tag", "this is not a tag (!); put quotes around text that begins with '!'"},
	{"cannot start any token", "; put quotes around the value"},
	{"comment or line break", "; put quotes around text that begins with '|' or '>'"},
	{"mapping values are not allowed", "; look at the indentation, and put quotes around text with a ':'"},
	{"expected ':'", "; there may be a ':' missing"},
	{"expected key", "; look at the indentation of this line and the one before"},
	{"expected '-'", "; look at the indentation of this line and the one before"},
	{"incompatible YAML", "; remove the line that begins with %YAML"},
	{"node content", "; a value or a closing bracket may be missing"},
	{"end of stream", "; a closing quote is missing"},
	{"expected ','", "; a closing bracket or quotes may be missing"},
	{"escape", "; a backslash has no meaning in single quotes"},
}

// syntaxError returns an error of the parser with its place and a hint.
func (t *text) syntaxError(err error) error {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		return t.errorf("cannot read this as YAML: %v", err)
	}
	at, message := e.Mark, e.Message
	// What is not closed is noticed only later.
	if later := at.Line > e.ContextMark.Line && e.ContextMark.Line > 0; later && (at.Line >= len(t.lines) || strings.Contains(message, "expected ':'")) {
		at = e.ContextMark
	}
	if at.Line <= len(t.lines) && strings.HasPrefix(cut(t.lines[max(0, at.Line-1)], max(0, at.Column-1), 1), "\t") {
		message += " (a tab)"
	}
	for _, h := range syntaxHints {
		if !strings.Contains(message, h.problem) {
			continue
		}
		if h.hint[0] != ';' {
			message = ""
		}
		message += h.hint
		break
	}
	return t.errorAt(&yaml.Node{Line: at.Line, Column: at.Column}, "", "YAML syntax: "+message)
}

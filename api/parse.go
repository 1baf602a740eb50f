package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxManifestBytes is the most that Decode reads, and that etcd stores.
const MaxManifestBytes = 3 << 19

// notInYAML matches what a JSON string may hold and YAML does not read as JSON does: two escapes for one character, and
// invisible characters. An escaped backslash is matched too, because it does not begin such an escape.
var notInYAML = regexp.MustCompile(`\\\\|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|` +
	`[\x7f-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffd}-\x{ffff}]`)

// escapeForYAML returns a match of notInYAML as an escape of YAML.
func escapeForYAML(match []byte) []byte {
	var s string
	if err := json.Unmarshal([]byte(`"`+string(match)+`"`), &s); err != nil || s == `\` {
		return match
	}
	return fmt.Appendf(nil, `\U%08X`, []rune(s)[0])
}

// parse returns the root node of each YAML document of a text that has content, or none and adds a problem.
func (e *SourceError) parse(data []byte) (roots []*yaml.Node) {
	defer func() { // the parser gets untrusted input: even a panic of it must end as an error
		if p := recover(); p != nil {
			e.Add("", "cannot read this as YAML: %v", p)
			roots = nil
		}
	}()
	if len(data) > MaxManifestBytes {
		e.Add("", "too many bytes: the limit is %d", MaxManifestBytes)
		return nil
	}
	if json.Valid(data) {
		data = notInYAML.ReplaceAllFunc(data, escapeForYAML)
	}
	all := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff"))
	e.lines = strings.Split(all, "\n")
	loader, err := yaml.NewLoader(strings.NewReader(all))
	for err == nil {
		document := &yaml.Node{}
		if err = loader.Load(document); err == nil {
			if root := resolve(document); root.Tag != "!!null" || root.Value != "" {
				roots = append(roots, root)
			}
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		e.refuseSyntax(err)
		return nil
	case len(roots) == 0:
		e.Add("", "it is empty or has only comments; %s", cmp.Or(e.needs, "a manifest needs at least a version, an id and containers"))
	}
	return roots
}

// syntaxProblems are the parser's messages, by a part of them, in plain words. No message may quote the text: it could be
// a password.
var syntaxProblems = []struct{ part, plain string }{
	{"tab", "indent with spaces, not with tabs"},
	{"unknown anchor", "this alias (*) has no anchor (&) before it; put quotes around text that begins with '*'"},
	{"tag", "tags (!) are not supported; put quotes around text that begins with '!'"},
	{"cannot start any token", "no value begins with this character; put quotes around the text"},
	{"comment or line break", "put quotes around text that begins with '|' or '>'"},
	{"mapping values are not allowed", "there cannot be a ':' here; look at the indentation, or put quotes around the text"},
	{"expected ':'", "there may be a ':' missing"},
	{"expected key", "a field was expected here; look at the quotes, and at the indentation of this line and the one before"},
	{"expected '-'", "an item that begins with '-' was expected here; look at the indentation"},
	{"document start", "this belongs to nothing; look at the indentation of this line and the one before"},
	{"incompatible YAML", "remove the line that begins with %YAML"},
	{"expected node content", "a value or a closing bracket is missing"},
	{"expected ','", "a ',' or a closing bracket is missing"},
	{"end of stream", "a closing quote is missing"},
	{"escape", "this backslash has no meaning; in single quotes it stands for itself"},
}

// refuseSyntax adds an error of the parser with its place.
func (e *SourceError) refuseSyntax(err error) {
	var syntax *yaml.LoadError
	if !errors.As(err, &syntax) {
		e.Add("", "cannot read this as YAML: %v", err)
		return
	}
	if syntax.Mark.Line < 1 { // the error of a byte has only its index
		line := 1 + strings.Count(strings.Join(e.lines, "\n")[:syntax.Mark.Index], "\n")
		e.Add("", "this is not text: line %d: %s; a manifest is YAML or JSON in UTF-8", line, syntax.Message)
		return
	}
	message, at := syntax.Message, yaml.Node{Line: syntax.Mark.Line, Column: syntax.Mark.Column}
	for at.Line > 1 && (at.Line > len(e.lines) || strings.TrimSpace(e.lines[at.Line-1]) == "") {
		at.Line--
		at.Column = utf8.RuneCountInString(e.lines[at.Line-1])
	}
	if strings.Contains(message, "expected ':'") || strings.Contains(message, "end of stream") {
		at.Line, at.Column = syntax.ContextMark.Line, syntax.ContextMark.Column // where it begins; the end is missing
	}
	if strings.HasPrefix(cut(e.lines[at.Line-1], at.Column-1, 1), "\t") {
		message = "tab"
	}
	for _, p := range syntaxProblems {
		if strings.Contains(message, p.part) {
			message = p.plain
			break
		}
	}
	e.refuse(&at, "", "YAML syntax: "+message)
}

// resolve returns the node that a document or an alias stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode || n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		} else {
			n = n.Content[0]
		}
	}
	return n
}

// field returns the value of a field of a mapping, or nil.
func field(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolve(n.Content[i+1])
		}
	}
	return nil
}

// nearest returns the node at a path such as containers[0].image, whose last name may have dots, or the last node on the way to it.
func nearest(n *yaml.Node, path string) *yaml.Node {
	steps := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	for i, step := range steps {
		next := cmp.Or(field(n, step), field(n, strings.Join(steps[i:], ".")))
		if i, err := strconv.Atoi(step); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			next = resolve(n.Content[i])
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// join returns the path of a field of the value at path.
func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

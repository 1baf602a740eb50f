package api

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxValues is the most of one text, with what its aliases stand for. 32 bytes of a long string count as one more.
const maxValues = 600_000

// decoder fills Go values from YAML nodes by their json names. Unlike the decoder of the YAML library, it reports all
// problems with the paths of their fields, and takes neither a number for a string nor a missing value for an empty one:
// "never:" must not mean always.
type decoder struct {
	scheme  *Scheme
	check   func(Document) Mistakes
	text    *SourceError // collects the problems
	values  int          // decoded so far
	hides   bool         // the object is a Secret: no value of it may be quoted
	nulls   bool         // a field of the object may have no value, and is missing then
	docs    []Document
	ignored []string // paths in the object that is decoded
}

// refuse reports a problem of the field at path.
func (d *decoder) refuse(path string, n *yaml.Node, problem string, args ...any) {
	d.text.refuse(n, path, fmt.Sprintf(problem, args...))
}

// full reports whether a limit is reached, so that the rest is not decoded.
func (d *decoder) full() bool { return len(d.text.Mistakes) > MaxMistakes || d.values > maxValues }

// value decodes the node at path into out. An any takes the node itself.
func (d *decoder) value(path string, n *yaml.Node, out reflect.Value) {
	if d.full() {
		return
	}
	n = resolve(n)
	if d.values += 1 + len(n.Content) + len(n.Value)/32; d.values > maxValues {
		d.refuse(path, n, "more than %d values, with those that aliases stand for", maxValues)
		return
	}
	switch {
	case out.Kind() == reflect.Interface: // an item of a list: see document
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.refuse(path, n, "tags are not supported: remove the word that begins with '!'")
		return
	case n.Tag == "!!null":
		// Encoders write null for what is not there. In a manifest of 2014 a missing value is a mistake: "never:" must not mean
		// always. For kubectl it is null. In a list neither has a meaning.
		if n.Value == "" && !d.nulls || strings.HasSuffix(path, "]") {
			d.refuse(path, n, "there is no value: write %s", cmp.Or(emptyValues[out.Kind()], "one or remove it"))
		}
		return
	case out.Kind() == reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		out = out.Elem()
	}
	if port, ok := out.Addr().Interface().(*IntOrString); ok {
		switch {
		case isText(n):
			out = reflect.ValueOf(&port.Str).Elem()
		case n.Tag == "!!int":
			out = reflect.ValueOf(&port.Int).Elem()
		default:
			d.refuse(path, n, "needs a port number or the name of a port, but this is %s", describe(n))
			return
		}
	}
	switch out.Kind() {
	case reflect.Struct, reflect.Map:
		d.mapping(path, n, out)
	case reflect.Slice:
		d.list(path, n, out)
	case reflect.String:
		d.string(path, n, out)
	case reflect.Bool:
		if n.Tag != "!!bool" {
			d.refuse(path, n, "needs true or false, but this is %s", describe(n))
		}
		out.SetBool(strings.EqualFold(n.Value, "true"))
	default:
		d.integer(path, n, out)
	}
}

func (d *decoder) list(path string, n *yaml.Node, out reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		want := `needs a list, each item on a line that begins with "- "`
		if out.Type().Elem().Kind() == reflect.String {
			want = `needs a list such as ["sleep", "60"]`
		}
		d.refuse(path, n, "%s, but this is %s", want, describe(n))
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(fmt.Sprintf("%s[%d]", path, i), item, out.Index(i))
	}
}

func (d *decoder) string(path string, n *yaml.Node, out reflect.Value) {
	switch {
	case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "\x00"):
		d.refuse(path, n, "a string cannot hold the character NUL")
	case isText(n), n.Kind == yaml.ScalarNode && out.Type() == reflect.TypeFor[Text]():
		out.SetString(n.Value)
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, n, "needs a string, but this is %s", describe(n))
	case d.hides || isSecret(path):
		d.refuse(path, n, "needs a string, but this is %s: put quotes around it", describe(n))
	default:
		d.refuse(path, n, "needs a string, but %s is %s: put quotes around it, \"%[1]s\"", n.Value, describe(n))
	}
}

func (d *decoder) integer(path string, n *yaml.Node, out reflect.Value) {
	base, isMode := 10, out.Type() == reflect.TypeFor[FileMode]()
	if isMode {
		base = 0
	}
	i, err := strconv.ParseInt(n.Value, base, out.Type().Bits())
	switch {
	case n.Tag == "!!int" && err == nil && (isMode || strconv.FormatInt(i, 10) == n.Value):
		out.SetInt(i)
	case errors.Is(err, strconv.ErrRange):
		d.refuse(path, n, "this number is too big")
	case n.Tag == "!!int":
		d.refuse(path, n, "write %s as a plain decimal number", n.Value)
	case err == nil:
		d.refuse(path, n, "needs a number, but this is a string: remove the quotes")
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, n, "needs a whole number, but this is %s", describe(n))
	default:
		hint, units := "", map[string]int64{"memory": 1, "cpu": 1000}[path[strings.LastIndex(path, ".")+1:]]
		if i, err := ParseQuantity(n.Value, units); err == nil && units > 0 {
			hint = fmt.Sprintf(": write %d", i)
		}
		d.refuse(path, n, "needs a whole number, and %s is none%s", n.Value, hint)
	}
}

// isSecret reports whether the field at path is a variable or a header, which may be a password: errors do not quote it.
func isSecret(path string) bool {
	return strings.Contains(path, ".env[") || strings.Contains(path, ".httpHeaders[")
}

// isText reports whether a node is a string. Dates and << need no quotes.
func isText(n *yaml.Node) bool {
	return n.Tag == "!!str" || n.Tag == "!!timestamp" || n.Tag == "!!merge"
}

// describe completes "but this is".
func describe(n *yaml.Node) string {
	return cmp.Or(map[string]string{
		"!!map": "a mapping", "!!seq": "a list", "!!bool": "a bool", "!!null": "nothing", "!!int": "a number", "!!float": "a number",
	}[n.Tag], "a string")
}

// emptyValues complete "there is no value: write".
var emptyValues = map[reflect.Kind]string{
	reflect.String:  `"" or remove it`,
	reflect.Slice:   "[] for none", // some lists, such as the containers, must not be removed
	reflect.Pointer: "{} or remove it",
	reflect.Struct:  "{} or remove it",
}

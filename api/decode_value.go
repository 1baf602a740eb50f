package api

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

const (
	maxErrors = 50      // of one text; more are not reported
	maxValues = 400_000 // of one text, with what its aliases stand for
)

// decoder fills Go values from YAML nodes by their json names. Unlike the decoder of the YAML library, it reports all
// errors with the paths of their fields, and takes neither a number for a string nor a missing value for an empty one: "never:"
// must not mean always.
type decoder struct {
	text   *text
	values int // decoded so far
	errs   []error
}

// refuse reports a problem of the field at path.
func (d *decoder) refuse(path string, n *yaml.Node, problem string, args ...any) {
	switch count := len(d.errs); {
	case count < maxErrors:
		d.errs = append(d.errs, d.text.errorAt(n, path, fmt.Sprintf(problem, args...)))
	case count == maxErrors:
		d.errs = append(d.errs, d.text.errorf("there are more errors; fix these first"))
	}
}

// full reports whether a limit is reached, so that the rest is not decoded.
func (d *decoder) full() bool { return len(d.errs) > maxErrors || d.values > maxValues }

// value decodes the node at path into out. An any takes the node itself.
func (d *decoder) value(path string, n *yaml.Node, out reflect.Value) {
	if d.full() {
		return
	}
	n = resolve(n)
	if d.values += 1 + len(n.Content); d.values > maxValues {
		d.refuse(path, n, "more than %d values, with those that aliases stand for", maxValues)
		return
	}
	switch {
	case out.Kind() == reflect.Interface:
		if n.Tag != "!!null" {
			out.Set(reflect.ValueOf(n))
		}
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.refuse(path, n, "tags are not supported: remove the word that begins with '!'")
		return
	case n.Tag == "!!null":
		// Encoders write null for what is not there; a missing value is a mistake, and in a list neither has a meaning.
		if n.Value == "" || strings.HasSuffix(path, "]") {
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
	case reflect.Struct:
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
	case isText(n) && strings.Contains(n.Value, "\x00"):
		d.refuse(path, n, "a string cannot hold the character NUL")
	case isText(n):
		out.SetString(n.Value)
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, n, "needs a string, but this is %s", describe(n))
	case isSecret(path):
		d.refuse(path, n, "needs a string, but this is %s: put quotes around it", describe(n))
	default:
		d.refuse(path, n, "needs a string, but %s is %s: put quotes around it, \"%[1]s\"", n.Value, describe(n))
	}
}

func (d *decoder) integer(path string, n *yaml.Node, out reflect.Value) {
	i, err := strconv.ParseInt(n.Value, 10, out.Type().Bits())
	switch {
	case n.Tag == "!!int" && err == nil && strconv.FormatInt(i, 10) == n.Value:
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
		d.refuse(path, n, "needs a whole number, and %s is none", n.Value)
	}
}

// isSecret reports whether the field at path is a part of a container's environment: errors do not quote it.
func isSecret(path string) bool { return strings.Contains(path, ".env[") }

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

// mapping decodes a mapping into a struct by the json names of its fields.
func (d *decoder) mapping(path string, n *yaml.Node, out reflect.Value) {
	names := jsonNames(out.Type())
	if n.Kind != yaml.MappingNode {
		d.refuse(path, n, "needs a mapping, but this is %s%s", describe(n), writeAsMapping(n.Value, out.Type(), names))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !d.full(); i += 2 {
		key, name := n.Content[i], n.Content[i].Value
		if key.Kind != yaml.ScalarNode {
			name = "" // no field has this name
		}
		number, field, first := slices.Index(names, name), join(path, name), lines[name]
		if number < 0 && isSecret(path) {
			field = path // {name: PASSWORD, value: open,sesame} has a field "sesame"
		}
		switch {
		case key.Tag == "!!merge":
			d.refuse(path, key, "merge keys (<<) are not supported: write the fields out")
		case first > 0:
			d.refuse(field, key, "this field is here twice: the first is on line %d", first)
		case number < 0:
			d.refuse(field, key, "unknown field%s", didYouMean(name, names))
		default:
			d.value(field, n.Content[i+1], out.Field(number))
		}
		lines[name] = cmp.Or(first, key.Line)
	}
}

// jsonNames returns the json names of a struct's fields, in their order.
func jsonNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// writeAsMapping helps with "restartPolicy: never", where the word is the name of a field that is an empty struct.
func writeAsMapping(word string, t reflect.Type, names []string) string {
	for i, name := range names {
		f := t.Field(i).Type
		if strings.EqualFold(name, word) && f.Kind() == reflect.Pointer && f.Elem().NumField() == 0 {
			return fmt.Sprintf(": write {%s: {}}", name)
		}
	}
	return ""
}

// didYouMean suggests the known name that has most letters in common with a wrong one, at least half of them (today's
// hostPath was hostDir). If there is none it lists all.
func didYouMean(name string, known []string) string {
	best, most := "", 0
	for _, k := range known {
		n := commonLetters(strings.ToLower(name), strings.ToLower(k))
		if n > most && 2*n >= max(len(name), len(k)) {
			best, most = k, n
		}
	}
	switch {
	case len(known) == 0:
		return ": there are no fields here, write {}"
	case best == "":
		return ": the fields here are " + strings.Join(known, ", ")
	case strings.EqualFold(best, name):
		return fmt.Sprintf(": write %q, upper and lower case count", best)
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// commonLetters counts the letters that two words share at their beginning and at their end, around a typing error.
func commonLetters(a, b string) (n int) {
	for a != "" && b != "" && a[0] == b[0] {
		a, b, n = a[1:], b[1:], n+1
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b, n = a[:len(a)-1], b[:len(b)-1], n+1
	}
	return n
}

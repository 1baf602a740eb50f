package api

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

const (
	maxErrors = 50      // of one text; more are not reported
	maxValues = 400_000 // of one text, with what its aliases stand for
)

// decoder fills Go values from YAML nodes by their json names. Other than the decoder of
// the YAML library it reports all errors with the paths of their fields, takes no number
// for a string, and no missing value for an empty one: "never:" must not mean always.
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

// full reports whether a limit is reached, so that the rest is not worth its time.
func (d *decoder) full() bool { return len(d.errs) > maxErrors || d.values > maxValues }

// value decodes the node at path into out. An any takes the node itself, undecoded.
func (d *decoder) value(path string, n *yaml.Node, out reflect.Value) {
	at := n // an alias, or n itself
	n = resolve(n)
	if d.full() {
		return
	}
	if d.values += 1 + len(n.Content); d.values > maxValues {
		d.refuse(path, at, "more than %d values, with those that aliases stand for", maxValues)
		return
	}
	switch {
	case out.Kind() == reflect.Interface:
		if n.Tag != "!!null" {
			out.Set(reflect.ValueOf(n))
		}
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.refuse(path, at, "tags are not supported: remove the word that begins with '!'")
		return
	case n.Tag == "!!null":
		// Encoders write null for what is not there; a value that is missing is a mistake,
		// and in a list neither has a meaning.
		if n.Value == "" || strings.HasSuffix(path, "]") {
			d.refuse(path, at, "there is no value: write %s", emptyValue(out.Type()))
		}
		return
	}
	if out.Kind() == reflect.Pointer {
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
			d.refuse(path, at, "needs a port number or the name of a port, but this is %s", describe(n))
			return
		}
	}
	switch out.Kind() {
	case reflect.Struct:
		d.mapping(path, at, out)
	case reflect.Slice:
		d.list(path, at, out)
	case reflect.String:
		d.string(path, at, out)
	case reflect.Bool:
		if n.Tag != "!!bool" {
			d.refuse(path, at, "needs true or false, but this is %s", describe(n))
		}
		out.SetBool(strings.EqualFold(n.Value, "true"))
	default:
		d.integer(path, at, out)
	}
}

func (d *decoder) list(path string, at *yaml.Node, out reflect.Value) {
	n := resolve(at)
	if n.Kind != yaml.SequenceNode {
		want := `needs a list, each item on a line that begins with "- "`
		if out.Type().Elem().Kind() == reflect.String {
			want = `needs a list such as ["sleep", "60"]`
		}
		d.refuse(path, at, "%s, but this is %s", want, describe(n))
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(fmt.Sprintf("%s[%d]", path, i), item, out.Index(i))
	}
}

func (d *decoder) string(path string, at *yaml.Node, out reflect.Value) {
	n := resolve(at)
	switch {
	case isText(n) && strings.Contains(n.Value, "\x00"):
		d.refuse(path, at, "a string cannot hold the character NUL")
	case isText(n):
		out.SetString(n.Value)
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, at, "needs a string, but this is %s", describe(n))
	case isSecret(path):
		d.refuse(path, at, "needs a string, but this is %s: put quotes around it", describe(n))
	default:
		d.refuse(path, at, "needs a string, but %s is %s: put quotes around it, \"%[1]s\"", n.Value, describe(n))
	}
}

func (d *decoder) integer(path string, at *yaml.Node, out reflect.Value) {
	n := resolve(at)
	i, err := strconv.ParseInt(n.Value, 10, out.Type().Bits())
	switch {
	case n.Tag == "!!int" && err == nil && strconv.FormatInt(i, 10) == n.Value:
		out.SetInt(i)
	case errors.Is(err, strconv.ErrRange):
		d.refuse(path, at, "this number is too big")
	case n.Tag == "!!int":
		d.refuse(path, at, "write %s as a plain decimal number", n.Value)
	case err == nil:
		d.refuse(path, at, "needs a number, but this is a string: remove the quotes")
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, at, "needs a whole number, but this is %s", describe(n))
	default:
		d.refuse(path, at, "needs a whole number, and %s is none", n.Value)
	}
}

// isSecret reports whether the field at path is a part of a container's environment:
// errors do not quote it.
func isSecret(path string) bool { return strings.Contains(path, ".env[") }

// isText reports whether a node is a string. Dates and << need no quotes.
func isText(n *yaml.Node) bool {
	return n.Tag == "!!str" || n.Tag == "!!timestamp" || n.Tag == "!!merge"
}

// describe completes "but this is".
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!bool":
		return "a bool"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "a number"
	}
	return "a string"
}

// emptyValue completes "there is no value: write".
func emptyValue(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return `"" or remove it`
	case reflect.Slice:
		return "[] for none" // some lists, such as the containers, must not be removed
	case reflect.Pointer, reflect.Struct:
		return "{} or remove it"
	}
	return "one or remove it"
}

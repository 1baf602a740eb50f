package api

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

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

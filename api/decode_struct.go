package api

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// The types of fields that say how a name of a wire type is read. A struct has them as fields without a Go name; the tag
// "fields" has the names, with blanks between them.
type (
	// Ignored is read and means nothing here: its path goes to ContainerManifest.Ignored, with the tag "why".
	Ignored struct{}
	// Unsupported is refused, unless it says nothing: null, false, empty, or the tag "default". The tag "instead" says what
	// to do.
	Unsupported struct{}
	// Text is a string that is taken as it is written: 1.10 and true need no quotes.
	Text string
)

// wireFields are the fields of a wire type.
type wireFields struct {
	index map[string]int // by name
	known []string       // the names that are supported, in their order
}

var wireTypes sync.Map // reflect.Type → wireFields

func fieldsOf(t reflect.Type) wireFields {
	if fields, ok := wireTypes.Load(t); ok {
		return fields.(wireFields)
	}
	fields := wireFields{index: map[string]int{}}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		for _, marked := range strings.Fields(t.Field(i).Tag.Get("fields")) {
			fields.index[marked] = i
		}
		if name != "" {
			fields.index[name] = i
			fields.known = append(fields.known, name)
		}
	}
	wireTypes.Store(t, fields)
	return fields
}

// mapping decodes a mapping into a map of strings, or into a struct by the json names of its fields.
func (d *decoder) mapping(path string, n *yaml.Node, out reflect.Value) {
	t, isMap := out.Type(), out.Kind() == reflect.Map
	if n.Kind != yaml.MappingNode {
		d.refuse(path, n, "needs a mapping, but this is %s%s", describe(n), writeAsMapping(n.Value, t))
		return
	}
	var fields wireFields
	if isMap {
		out.Set(reflect.MakeMap(t))
	} else {
		fields = fieldsOf(t)
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !d.full(); i += 2 {
		key, name := n.Content[i], n.Content[i].Value
		if key.Kind != yaml.ScalarNode {
			name = "" // no field has this name
		}
		number, known := fields.index[name]
		field, first := join(path, name), lines[name]
		if !known && isSecret(path) {
			field = path // {name: PASSWORD, value: open,sesame} has a field "sesame"
		}
		switch {
		case key.Tag == "!!merge":
			d.refuse(path, key, "merge keys (<<) are not supported: write the fields out")
		case first > 0:
			d.refuse(field, key, "this field is here twice: the first is on line %d", first)
		case isMap:
			value := reflect.New(t.Elem()).Elem()
			d.value(field, n.Content[i+1], value)
			out.SetMapIndex(reflect.ValueOf(name), value)
		case !known:
			d.refuse(field, key, "unknown field: %s", didYouMean(name, fields.known))
		default:
			d.field(field, key, resolve(n.Content[i+1]), out.Field(number), t.Field(number))
		}
		lines[name] = cmp.Or(first, key.Line)
	}
}

// field decodes the value of one field of a struct.
func (d *decoder) field(path string, key, n *yaml.Node, out reflect.Value, f reflect.StructField) {
	saysNothing := len(n.Content) == 0 && (n.Kind == yaml.SequenceNode || n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "")
	switch f.Type {
	case reflect.TypeFor[Ignored]():
		if !saysNothing && !(n.Kind == yaml.MappingNode && len(n.Content) == 0) && len(d.ignored) < maxErrors {
			if why := f.Tag.Get("why"); why != "" {
				path += " (" + why + ")"
			}
			d.ignored = append(d.ignored, path)
		}
	case reflect.TypeFor[Unsupported]():
		def, value := cmp.Or(f.Tag.Get("default"), "false"), n
		if n.Kind == yaml.MappingNode && len(n.Content) == 2 && def != "false" {
			value = resolve(n.Content[1]) // {type: RuntimeDefault}
		}
		if !saysNothing && !(value.Kind == yaml.ScalarNode && value.Value == def) {
			d.refuse(path, key, "not supported: %s", cmp.Or(f.Tag.Get("instead"), "remove it"))
		}
	default:
		d.value(path, n, out)
	}
}

// writeAsMapping helps with "restartPolicy: never", where the word is the name of a field that is an empty struct.
func writeAsMapping(word string, t reflect.Type) string {
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if f := t.Field(i).Type; strings.EqualFold(name, word) && f.Kind() == reflect.Pointer && f.Elem().NumField() == 0 {
			return fmt.Sprintf(": write {%s: {}}", name)
		}
	}
	return ""
}

// didYouMean completes "unknown field".
func didYouMean(name string, known []string) string {
	switch best := Nearest(name, known); {
	case len(known) == 0:
		return "there are no fields here, write {}"
	case best == "":
		return "the fields here are " + strings.Join(known, ", ")
	case strings.EqualFold(best, name):
		return fmt.Sprintf("write %q, upper and lower case count", best)
	default:
		return fmt.Sprintf("did you mean %q?", best)
	}
}

// Suggest completes "unsupported value": it returns the known word that is similar to a wrong one, or all.
func Suggest[T any](word string, known map[string]T) string {
	words := slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(s string) bool { return s == "" })
	if best := Nearest(word, words); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "use " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Nearest returns the known name that has most letters in common with a wrong one, at least half of them (today's
// hostPath was hostDir), or nothing.
func Nearest(name string, known []string) (best string) {
	most := 0
	for _, k := range known {
		n := commonLetters(strings.ToLower(name), strings.ToLower(k))
		if n > most && 2*n >= max(len(name), len(k)) {
			best, most = k, n
		}
	}
	return best
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

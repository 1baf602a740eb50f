package api

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The types of fields that say how a name of a wire type is read. A struct has them as fields without a Go name; the tag
// "fields" has the names, with blanks between them.
type (
	// Ignored is read and means nothing here: its path goes to ContainerManifest.Ignored, with the tag "why", unless it is
	// null, empty, or the tag "default". A value that is the tag "refused" is refused.
	Ignored struct{}
	// Unsupported is refused, unless it says nothing: null, false, empty, or the tag "default", which is {} if that says nothing.
	// The tag "instead" says what to do.
	Unsupported struct{}
	// Text is a string that is taken as it is written: 1.10 and true need no quotes.
	Text string
)

// fieldNamed returns the field of a struct type that is read from a name of the manifest. A map knows every name.
func fieldNamed(t reflect.Type, name string) (f reflect.StructField, known bool) {
	if t.Kind() == reflect.Map {
		return f, true
	}
	for f := range t.Fields() {
		if name != "" && name == JSONName(f) {
			return f, true
		}
		for marked := range strings.FieldsSeq(f.Tag.Get("fields")) {
			if marked == name {
				return f, true
			}
		}
	}
	return f, false
}

// JSONName returns the name of a field in JSON, or nothing if its tag has none.
func JSONName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// mapping decodes a mapping into a map of strings, or into a struct by the json names of its fields.
func (d *decoder) mapping(path string, n *yaml.Node, out reflect.Value) {
	t := out.Type()
	if n.Kind != yaml.MappingNode {
		d.refuse(path, n, "needs a mapping, but this is %s%s", describe(n), writeAsMapping(n.Value, t))
		return
	}
	if t.Kind() == reflect.Map {
		out.Set(reflect.MakeMap(t))
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !d.full(); i += 2 {
		key, name, child := n.Content[i], n.Content[i].Value, resolve(n.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			name = "" // no field has this name
		}
		f, known := fieldNamed(t, name)
		field, first := join(path, name), lines[name]
		if !known && isSecret(path) || d.hides && (t.Kind() == reflect.Map && child.Tag == "!!null" || !known && !resembles(name, t)) {
			field = path // {name: PASSWORD, value: open,sesame} has a field "sesame"
		}
		switch {
		case key.Tag == "!!merge":
			d.refuse(path, key, "merge keys (<<) are not supported: write the fields out")
		case first > 0:
			d.refuse(field, key, "this field is here twice: the first is on line %d", first)
		case !known:
			d.refuse(field, key, "unknown field: %s", didYouMean(name, t))
		case t.Kind() == reflect.Map && child.Tag == "!!null":
			d.refuse(field, child, `there is no value: write "" or remove it`)
		case t.Kind() == reflect.Map:
			value := reflect.New(t.Elem()).Elem()
			d.value(field, child, value)
			out.SetMapIndex(reflect.ValueOf(name), value)
		default:
			d.field(field, key, child, out.FieldByIndex(f.Index), f)
		}
		lines[name] = cmp.Or(first, key.Line)
	}
}

// field decodes the value of one field of a struct.
func (d *decoder) field(path string, key, n *yaml.Node, out reflect.Value, f reflect.StructField) {
	saysNothing := len(n.Content) == 0 && (n.Kind == yaml.SequenceNode || n.Tag == "!!null" || n.Kind == yaml.ScalarNode && (n.Value == "" || n.Value == "0s"))
	isEmptyMap := n.Kind == yaml.MappingNode && len(n.Content) == 0
	switch f.Type {
	case reflect.TypeFor[Ignored]():
		if refused := f.Tag.Get("refused"); refused != "" && n.Value == refused {
			d.refuse(path, n, "not supported '%s': remove it", refused)
			return
		}
		isDefault := f.Tag.Get("default") != "" && n.Value == f.Tag.Get("default")
		if !saysNothing && !isDefault && !isEmptyMap && len(d.ignored) < MaxMistakes {
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
		isDefault := value.Kind == yaml.ScalarNode && value.Value == def || def == "{}" && isEmptyMap
		if !saysNothing && !isDefault {
			d.refuse(path, key, "not supported: %s", cmp.Or(f.Tag.Get("instead"), "remove it"))
		}
	default:
		d.value(path, n, out)
	}
}

// writeAsMapping helps with "restartPolicy: never", where the word is the name of a field that is an empty struct.
func writeAsMapping(word string, t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	for f := range t.Fields() {
		if strings.EqualFold(JSONName(f), word) && f.Type.Kind() == reflect.Pointer && f.Type.Elem().NumField() == 0 {
			return fmt.Sprintf(": write {%s: {}}", JSONName(f))
		}
	}
	return ""
}

package api

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// structure decodes a mapping into a struct by the json names of its fields.
func (d *decoder) structure(path string, n ast.Node, out reflect.Value) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.refuse(path, n, "needs a mapping, but this is "+describe(n)+writeAsMapping(n, out.Type()))
		return
	}
	fields := fieldsOf(out.Type())
	seen := map[string]place{}
	for _, field := range m.Values {
		key, name := field.Key, keyText(field.Key)
		at := join(path, name)
		if first, twice := seen[name]; twice {
			d.refuse(at, key, fmt.Sprintf("this field is here twice: the first is on line %d", first.line))
			continue
		}
		seen[name] = placeOf(key)
		i := slices.Index(fields, name)
		switch {
		case name == "<<":
			d.refuse(path, key, "merge keys (<<) are not supported: write the fields out")
		case i < 0:
			d.refuse(at, key, "unknown field"+didYouMean(name, fields))
		default:
			d.value(at, field.Value, out.Field(i))
		}
	}
}

// join is the path of a field of what is at path.
func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

// keyText is a key as it was written; keys that are more than a plain word are
// no field of anything.
func keyText(key ast.MapKeyNode) string {
	return key.GetToken().Value
}

// fieldsOf lists the json names of a struct's fields, in their order.
func fieldsOf(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// writeAsMapping helps who wrote "restartPolicy: never": the word is a field of
// the struct, and that field is an empty struct.
func writeAsMapping(n ast.Node, t reflect.Type) string {
	word := n.GetToken().Value
	for i, name := range fieldsOf(t) {
		f := t.Field(i).Type
		if strings.EqualFold(name, word) && f.Kind() == reflect.Pointer && f.Elem().NumField() == 0 {
			return fmt.Sprintf(": write {%s: {}}", name)
		}
	}
	return ""
}

// didYouMean suggests the known name that shares most with a wrong one, and at
// least half of the longer one (today's hostPath was hostDir), else all of them.
func didYouMean(name string, known []string) string {
	best, most := "", 0
	for _, k := range known {
		n := inCommon(strings.ToLower(name), strings.ToLower(k))
		if n > most && 2*n >= max(len(name), len(k)) {
			best, most = k, n
		}
	}
	switch {
	case len(known) == 0:
		return ": nothing can be said here, write {}"
	case best == "":
		return ": the fields here are " + strings.Join(known, ", ")
	case strings.EqualFold(best, name):
		return fmt.Sprintf(": write %q, upper and lower case count", best)
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// inCommon counts the letters that two words share at their beginning and at
// their end: all but the few around a slip of the finger.
func inCommon(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
		n++
	}
	return n
}

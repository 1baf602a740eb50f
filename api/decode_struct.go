package api

import (
	"fmt"
	"reflect"
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
		at := strings.TrimPrefix(path+"."+name, ".")
		if first, twice := seen[name]; twice {
			d.refuse(at, key, fmt.Sprintf("this field is here twice: the first is on line %d", first.line))
			continue
		}
		seen[name] = placeOf(key)
		i, known := index(fields, name)
		switch {
		case name == "<<":
			d.refuse(path, key, "merge keys (<<) are not supported: write the fields out")
		case !known:
			d.refuse(at, key, "unknown field"+didYouMean(name, fields))
		default:
			d.value(at, field.Value, out.Field(i))
		}
	}
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

func index(names []string, name string) (int, bool) {
	for i, n := range names {
		if n == name {
			return i, true
		}
	}
	return 0, false
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

// didYouMean suggests the known name nearest to a wrong one, else one that begins
// like it (today's hostPath was hostDir), else all of them.
func didYouMean(name string, known []string) string {
	best, distance := "", 1+max(1, len(name)/3)
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k), distance); d < distance {
			best, distance = k, d
		}
	}
	for _, k := range known {
		if best == "" && len(name) > 4 && strings.HasPrefix(k, name[:4]) {
			best = k
		}
	}
	switch {
	case best == "" && len(known) == 0:
		return ": nothing can be said here, write {}"
	case best == "":
		return ": the fields here are " + strings.Join(known, ", ")
	case strings.EqualFold(best, name):
		return fmt.Sprintf(": write %q, upper and lower case count", best)
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// editDistance counts the letters to insert, delete, replace or swap with their
// neighbour to turn a into b. It gives up at limit.
func editDistance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	var before []int // the row two above, for swaps
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

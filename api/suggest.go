package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fieldNames returns the names of the fields of a struct.
func fieldNames(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		names = append(names, JSONName(f))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// resembles reports whether a name may be a mistyped field of a struct.
func resembles(name string, t reflect.Type) bool { return Nearest(name, fieldNames(t)) != "" }

// didYouMean completes "unknown field".
func didYouMean(name string, t reflect.Type) string {
	known := fieldNames(t)
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

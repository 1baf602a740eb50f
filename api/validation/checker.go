package validation

import (
	"fmt"
	"reflect"
	"strings"

	"kubelet14/api"
)

// The kinds of problems, in the words of 2014.
const (
	required    = "required value"
	invalid     = "invalid value"
	duplicate   = "duplicate value"
	unsupported = "unsupported value"
	forbidden   = "forbidden"
	notFound    = "not found"
)

// checker collects the problems of the object at a path.
type checker struct {
	path string // empty, or such as "containers[0]."
	errs *api.FieldErrors
}

// in returns a checker of the object in a field, which may have the verbs of fmt.
func (c checker) in(field string, args ...any) checker {
	return checker{c.path + fmt.Sprintf(field, args...) + ".", c.errs}
}

// check adds "field: kind 'value': advice" unless ok. The advice may be empty.
func (c checker) check(ok bool, kind, field string, value any, advice string) {
	if ok {
		return
	}
	if advice != "" {
		advice = ": " + advice
	}
	text := fmt.Sprint(value)
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:100]) + "…"
	}
	c.errs.Add(strings.TrimSuffix(c.path+field, "."), "%s '%s'%s", kind, text, advice)
}

// absolute checks a path, which is required.
func (c checker) absolute(field, path string) {
	c.check(path != "", required, field, path, "")
	c.check(path == "" || path[0] == '/', invalid, field, path, "use an absolute path")
}

// names are the names that are taken.
type names map[string]bool

// name checks the field name: required, a DNS label, and not taken.
func (c checker) name(name string, taken names) {
	switch {
	case name == "":
		c.check(false, required, "name", name, "")
	case !IsDNSLabel(name):
		c.check(false, invalid, "name", name, wantLabel)
	default:
		c.check(!taken[name], duplicate, "name", name, "")
	}
	taken[name] = true
}

// setFields lists the pointers of a struct that are set, by their names in a manifest.
func setFields(object any) (set []string) {
	fields := reflect.ValueOf(object)
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
			set = append(set, name)
		}
	}
	return set
}

// exactlyOne checks that one pointer of a struct is set.
func (c checker) exactlyOne(field string, object any, advice string) {
	set := setFields(object)
	c.check(len(set) == 1, invalid, field, strings.Join(set, ", "), "exactly 1 "+advice)
}

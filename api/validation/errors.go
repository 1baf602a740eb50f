package validation

import (
	"fmt"

	"kubelet14/api"
)

// The kinds of errors, in the words of 2014.
const (
	Required    = "required value"
	Invalid     = "invalid value"
	Duplicate   = "duplicate value"
	Unsupported = "unsupported value"
	Forbidden   = "forbidden"
	NotFound    = "not found"
)

// add notes an error of a field, as "kind 'value': detail". detail is what to do
// about it; it may be empty, and may have the verbs of fmt.
func add(errs *api.FieldErrors, kind, field string, value any, detail string, args ...any) {
	bad := fmt.Sprint(value)
	if runes := []rune(bad); len(runes) > 100 {
		bad = string(runes[:100]) + "…"
	}
	if detail != "" {
		detail = ": " + fmt.Sprintf(detail, args...)
	}
	errs.Add(field, "%s '%s'%s", kind, bad, detail)
}

// addItem takes over the errors of an item of a list.
func addItem(errs *api.FieldErrors, list string, i int, more api.FieldErrors) {
	if len(more) > 0 {
		errs.AddIn(fmt.Sprintf("%s[%d]", list, i), more)
	}
}

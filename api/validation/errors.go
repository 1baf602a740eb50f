package validation

import (
	"fmt"
	"strings"
)

// ErrorType is the kind of an error, in the words of 2014.
type ErrorType string

// The kinds of errors.
const (
	Required    ErrorType = "required value"
	Invalid     ErrorType = "invalid value"
	Duplicate   ErrorType = "duplicate value"
	Unsupported ErrorType = "unsupported value"
	Forbidden   ErrorType = "forbidden"
	NotFound    ErrorType = "not found"
)

// Error is one thing wrong with one field.
type Error struct {
	Type     ErrorType
	Field    string // such as containers[0].image
	BadValue any
	Detail   string // what to do about it; may be empty
}

// Problem gives "kind 'value': detail".
func (e Error) Problem() string {
	value := fmt.Sprint(e.BadValue)
	if runes := []rune(value); len(runes) > 100 {
		value = string(runes[:100]) + "…"
	}
	problem := fmt.Sprintf("%s '%s'", e.Type, value)
	if e.Detail != "" {
		problem += ": " + e.Detail
	}
	return problem
}

// ErrorList is all that is wrong with an object; empty is good.
type ErrorList []Error

func (l ErrorList) Error() string {
	var parts []string
	for _, e := range l {
		parts = append(parts, e.Field+": "+e.Problem())
	}
	return strings.Join(parts, "; ")
}

// add notes an error of a field; detail may have the verbs of fmt.
func (l *ErrorList) add(kind ErrorType, field string, value any, detail string, args ...any) {
	*l = append(*l, Error{kind, field, value, fmt.Sprintf(detail, args...)})
}

// addIn takes over the errors of what is at a path.
func (l *ErrorList) addIn(path string, errs ErrorList) {
	for _, e := range errs {
		e.Field = strings.TrimSuffix(path+"."+e.Field, ".")
		*l = append(*l, e)
	}
}

// addItem takes over the errors of an item of a list.
func (l *ErrorList) addItem(list string, i int, errs ErrorList) {
	if len(errs) > 0 {
		l.addIn(fmt.Sprintf("%s[%d]", list, i), errs)
	}
}

package api

import (
	"fmt"
	"strings"
)

// FieldError is a problem of one field. Conversion and validation know no lines:
// Document.At adds them.
type FieldError struct {
	Field   string // such as containers[0].image
	Problem string
}

// FieldErrors are all problems of an object. None means that it is good.
type FieldErrors []FieldError

// Add appends a problem of a field. The problem may have the verbs of fmt.
func (es *FieldErrors) Add(field, problem string, args ...any) {
	*es = append(*es, FieldError{field, fmt.Sprintf(problem, args...)})
}

func (es FieldErrors) Error() string {
	var problems []string
	for _, e := range es {
		problems = append(problems, e.Field+": "+e.Problem)
	}
	return strings.Join(problems, "; ")
}

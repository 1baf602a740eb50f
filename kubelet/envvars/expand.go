package envvars

import "regexp"

var reference = regexp.MustCompile(`\$\$|\$\([^)]*\)`)

// Expand replaces each $(NAME) in a text by the variable, unless there is none, and $$ by $.
func Expand(text string, vars map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := vars[found[2:len(found)-1]]; ok {
			return value
		}
		return found
	})
}

package validation

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"kubelet14/api"
)

// The kinds of problems, in the words of 2014. With an empty value, each becomes a "required value".
const (
	invalid     = "invalid value"
	duplicate   = "duplicate value"
	unsupported = "unsupported value"
	forbidden   = "forbidden"
	notFound    = "not found"
)

// checker collects the problems of the object at a path.
type checker struct {
	path string // empty, or such as "containers[0]."
	errs *api.Mistakes

	containers names // of the pod
}

// in returns a checker for the object in a field. The field may contain fmt verbs.
func (c checker) in(field string, args ...any) checker {
	c.path += fmt.Sprintf(field, args...) + "."
	return c
}

// check adds the problem "field: kind 'value': advice" unless ok. The advice may be empty.
func (c checker) check(ok bool, kind, field string, value any, advice string) {
	if ok {
		return
	}
	text := api.Shorten(fmt.Sprint(value), 100)
	if text == "" {
		kind = "required value"
	}
	c.errs.Add(strings.TrimSuffix(c.path+field, "."), "%s", strings.TrimSuffix(fmt.Sprintf("%s '%s': %s", kind, text, advice), ": "))
}

// absolute checks that a path is absolute.
func (c checker) absolute(field, path string) {
	c.check(strings.HasPrefix(path, "/"), invalid, field, path, "use an absolute path")
}

// names is a set of names in use.
type names map[string]bool

// name checks that the field name is a DNS label and not in use.
func (c checker) name(name string, taken names) {
	c.check(IsDNSLabel(name), invalid, "name", name, wantLabel)
	c.check(!taken[name] || !IsDNSLabel(name), duplicate, "name", name, "")
	taken[name] = true
}

// oneField checks that exactly one pointer of a struct is set, or at most one if it is optional.
func (c checker) oneField(field string, object any, optional bool, advice string) {
	var set []string
	for f, value := range reflect.ValueOf(object).Fields() {
		if value.Kind() == reflect.Pointer && !value.IsNil() {
			set = append(set, api.JSONName(f))
		}
	}
	c.check(len(set) == 1 || optional && len(set) == 0, invalid, field, strings.Join(set, ", "), advice)
}

// The rules for names, and how to describe them.
var (
	label       = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	subdomain   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`)
	cIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	envName     = regexp.MustCompile(`^[-._A-Za-z][-._A-Za-z0-9]*$`) // of v1, such as discovery.type
	headerName  = regexp.MustCompile(`^[-A-Za-z0-9]+$`)
	uid         = regexp.MustCompile(`^[-A-Za-z0-9]{1,63}$`) // a part of a path and of names
)

const (
	wantLabel     = "use a-z, 0-9, and '-' except at the ends; at most 63 characters"
	wantSubdomain = "use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots"
	wantPort      = "use 1 to 65535"
)

// IsDNSLabel reports whether s is a name such as "web-1".
func IsDNSLabel(s string) bool { return label.MatchString(s) }

// IsDNSSubdomain reports whether s is DNS labels with dots between them.
func IsDNSSubdomain(s string) bool { return len(s) <= 253 && subdomain.MatchString(s) }

func isPort(n int) bool { return n >= 1 && n <= 65535 }

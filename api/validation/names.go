package validation

import "regexp"

// The rules of names, and their words.
var (
	label       = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	subdomain   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`)
	cIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	uid         = regexp.MustCompile(`^[-A-Za-z0-9]{1,63}$`) // a part of a path and of names
)

const (
	wantLabel     = "use a-z, 0-9, and '-' except at the ends; at most 63 characters"
	wantSubdomain = "use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots"
	wantUID       = "use A-Z, a-z, 0-9 and '-', at most 63 characters"
	wantPort      = "use 1 to 65535"
)

// IsDNSLabel reports whether s is a name such as "web-1".
func IsDNSLabel(s string) bool { return label.MatchString(s) }

// IsDNSSubdomain reports whether s is DNS labels with dots between them.
func IsDNSSubdomain(s string) bool { return len(s) <= 253 && subdomain.MatchString(s) }

func isPort(n int) bool { return n >= 1 && n <= 65535 }

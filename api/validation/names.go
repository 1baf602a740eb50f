package validation

import "strings"

// The rules of the checks below.
const (
	wantLabel     = "use a-z, 0-9, and '-' except at the ends; at most 63 characters"
	wantSubdomain = "use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots"
	wantUID       = "use A-Z, a-z, 0-9 and '-', at most 63 characters"
	wantPort      = "use 1 to 65535"
)

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// only reports whether s is not empty and has no other characters than these.
func only(s, characters string) bool { return s != "" && strings.Trim(s, characters) == "" }

// IsDNSLabel reports whether s is a name such as "web-1".
func IsDNSLabel(s string) bool {
	return only(s, lower+digits+"-") && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-'
}

// IsDNSSubdomain reports whether s is DNS labels with dots between them.
func IsDNSSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !IsDNSLabel(label) {
			return false
		}
	}
	return len(s) <= 253
}

func isCIdentifier(s string) bool { return only(s, letters+digits+"_") && !only(s[:1], digits) }

// isUID reports whether s can be a pod's UID, which is a part of a path and of names.
func isUID(s string) bool { return only(s, letters+digits+"-") && len(s) <= 63 }

func isPort(n int) bool { return n >= 1 && n <= 65535 }

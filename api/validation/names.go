package validation

import "strings"

// What the checks below ask for, in words.
const (
	wantLabel      = "use a-z, 0-9, and '-' except at the ends; at most 63 characters"
	wantSubdomain  = "use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots"
	wantIdentifier = "use A-Z, a-z, 0-9 and '_', and no digit first"
	wantUID        = "use A-Z, a-z, 0-9 and '-', at most 63 characters"
	wantPort       = "use 1 to 65535"
	wantAbsolute   = "use an absolute path"
)

// The characters that names are made of.
const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

const maxLabelLength = 63

// only says whether s is not empty and has no other characters than these.
func only(s, characters string) bool {
	for i := range len(s) {
		if strings.IndexByte(characters, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// IsDNSLabel says whether s is a name such as "web-1".
func IsDNSLabel(s string) bool {
	return only(s, lower+digits+"-") && len(s) <= maxLabelLength && s[0] != '-' && s[len(s)-1] != '-'
}

// IsDNSSubdomain says whether s is DNS labels with dots between them.
func IsDNSSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !IsDNSLabel(label) {
			return false
		}
	}
	return len(s) <= 253
}

func isCIdentifier(s string) bool {
	return only(s, letters+digits+"_") && !only(s[:1], digits)
}

// isUID says whether s can be a pod's UID: a part of a path, of a container's
// name, and never "..".
func isUID(s string) bool {
	return only(s, letters+digits+"-") && len(s) <= maxLabelLength
}

func isPort(n int) bool { return n >= 1 && n <= 65535 }

package validation

import "strings"

// What the checks below ask for, in words.
const (
	wantLabel       = "use a-z, 0-9, and '-' except at the ends; at most 63 characters"
	wantSubdomain   = "use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots"
	wantIdentifier  = "use A-Z, a-z, 0-9 and '_', and no digit first"
	wantUID         = "use A-Z, a-z, 0-9 and '-', at most 63 characters"
	wantPort        = "use 1 to 65535"
	wantAbsolute    = "use an absolute path"
	maxLabelLength  = 63
	maxDomainLength = 253
)

// IsDNSLabel says whether s is a name such as "web-1".
func IsDNSLabel(s string) bool {
	if s == "" || len(s) > maxLabelLength || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLower(c) && !isDigit(c) && c != '-' {
			return false
		}
	}
	return true
}

// IsDNSSubdomain says whether s is DNS labels with dots between them.
func IsDNSSubdomain(s string) bool {
	if len(s) > maxDomainLength {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !IsDNSLabel(label) {
			return false
		}
	}
	return true
}

func isCIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLower(c) && !isUpper(c) && c != '_' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return s != ""
}

// isUID says whether s can be a pod's UID: a part of a path, of a container's
// name, and never "..".
func isUID(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLower(c) && !isUpper(c) && !isDigit(c) && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxLabelLength
}

func isPort(n int) bool { return n >= 1 && n <= 65535 }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

package api

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// FullName is "name.namespace.source": unique on one kubelet, and kept over
// every edit and restart. A name may hold dots, a namespace and a source may
// not, so SplitFullName reads it from the right.
func (p *Pod) FullName() string {
	return p.Name + "." + p.Namespace + "." + p.Source
}

// SplitFullName undoes FullName. ok is false when s is no full name.
func SplitFullName(s string) (name, namespace, source string, ok bool) {
	rest, source, ok1 := cutLast(s, ".")
	name, namespace, ok2 := cutLast(rest, ".")
	ok = ok1 && ok2 && name != "" && namespace != "" && source != ""
	return name, namespace, source, ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// NewUID derives the UID of a pod whose manifest has no uuid. It depends on
// nothing but the pod's place, so it survives edits and restarts. 2014 left it
// empty, and every rule that went by UID then took all such pods for one.
func NewUID(hostname, source, namespace, name string) string {
	// None of the parts may hold a NUL, so no two places give the same bytes.
	sum := sha256.Sum256([]byte(strings.Join([]string{hostname, source, namespace, name}, "\x00")))
	return fmt.Sprintf("%x", sum[:16])
}

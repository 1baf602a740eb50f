package api

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// The kinds of a ConfigObject.
const (
	KindConfigMap = "ConfigMap"
	KindSecret    = "Secret"
)

// ConfigObject is a ConfigMap or a Secret: values that the pods of its namespace refer to by their keys. Values are in no hash, so
// an edit of one restarts nothing.
//
// It never changes, and is shared by pointer.
type ConfigObject struct {
	Kind      string
	Name      string // DNS subdomain
	Namespace string // empty when just decoded: NamespaceDefault
	Source    string // as a Pod has it
	Origin    string // place in the source, as a Pod has it
	Data      Values
}

// The most that an object and a source may have: the bytes of keys and values, and the number of objects.
const (
	MaxObjectBytes   = 1 << 20
	MaxSourceBytes   = 64 << 20
	MaxSourceObjects = 1000
)

// String names the object for logs and errors.
func (o *ConfigObject) String() string {
	return fmt.Sprintf("%s %q of namespace %q (%s)", o.Kind, o.Name, o.Namespace, o.Origin)
}

// Values are those of a ConfigObject by key. Nothing prints them: a value may be secret.
type Values map[string][]byte

// Size returns the bytes of the keys and the values.
func (v Values) Size() (size int) {
	for key, value := range v {
		size += len(key) + len(value)
	}
	return size
}

// Format prints how many values there are, with any verb.
func (v Values) Format(f fmt.State, _ rune) { fmt.Fprint(f, Count(len(v), "value")) }

// MarshalJSON refuses to write values.
func (v Values) MarshalJSON() ([]byte, error) { return nil, fmt.Errorf("%v: they are not written", v) }

// IsText reports whether a value can be a string of a manifest and a variable: it is UTF-8 without NUL.
func IsText(value []byte) bool { return utf8.Valid(value) && !slices.Contains(value, 0) }

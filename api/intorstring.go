package api

import (
	"encoding/json"
	"strconv"
)

// IntOrString is a port as a probe or a hook names it: a number, or the name of
// a port of the container.
type IntOrString struct {
	Int int    // used when Str is empty
	Str string // a port name, or a number in quotes
}

// String gives what the user wrote.
func (v IntOrString) String() string {
	if v.Str != "" {
		return v.Str
	}
	return strconv.Itoa(v.Int)
}

// MarshalJSON gives a number or a string, as the user wrote it.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.Str != "" {
		return json.Marshal(v.Str)
	}
	return json.Marshal(v.Int)
}

// UnmarshalJSON reads a number or a string.
func (v *IntOrString) UnmarshalJSON(data []byte) error {
	*v = IntOrString{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &v.Str)
	}
	return json.Unmarshal(data, &v.Int)
}

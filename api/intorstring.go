package api

import (
	"encoding/json"
	"strconv"
)

// IntOrString is a port in a probe or a hook: a number, or the name of a port of the container.
type IntOrString struct {
	Int int    // if Str is empty
	Str string // a port name, or a number in quotes
}

// String returns the number or the name.
func (v IntOrString) String() string {
	if v.Str != "" {
		return v.Str
	}
	return strconv.Itoa(v.Int)
}

// MarshalJSON implements json.Marshaler.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.Str != "" {
		return json.Marshal(v.Str)
	}
	return json.Marshal(v.Int)
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *IntOrString) UnmarshalJSON(data []byte) error {
	if *v = (IntOrString{}); data[0] == '"' {
		return json.Unmarshal(data, &v.Str)
	}
	return json.Unmarshal(data, &v.Int)
}

package api

import (
	"encoding/json"
	"fmt"
)

// Encode writes what obj points to, which is of an internal type, as JSON of a wire
// version.
func (s *Scheme) Encode(version string, obj any) ([]byte, error) {
	wire, err := s.Externalize(version, obj)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(wire)
	if err != nil {
		return nil, fmt.Errorf("encode %T in version %q: %w", obj, version, err)
	}
	return text, nil
}

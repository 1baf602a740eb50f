package api

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// EncodeYAML writes the object of an internal type that obj points to as a YAML document of a wire version. Older readers of
// YAML, for which 010 is 8 and yes is true, get the same strings.
func (s *Scheme) EncodeYAML(version string, obj any) ([]byte, error) {
	text, err := s.Encode(version, obj)
	if err != nil {
		return nil, err
	}
	_, roots, err := parse("", text) // JSON is YAML
	if err != nil {
		return nil, err
	}
	restyle(roots[0])
	return yaml.Dump(roots[0], yaml.WithLineWidth(-1))
}

// restyle takes the brackets of JSON from a node, and the quotes that are not needed.
func restyle(n *yaml.Node) {
	switch {
	case strings.ContainsAny(n.Value, "\u0085\u2028\u2029"): // they end a line in YAML 1.1, and need escapes
	case n.Tag == "!!str":
		_ = n.Encode(n.Value) // has no error for a string
	default:
		n.Style = 0
	}
	for _, child := range n.Content {
		restyle(child)
	}
}

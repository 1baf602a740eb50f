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
	if err == nil {
		err = restyle(roots[0])
	}
	if err != nil {
		return nil, err
	}
	return yaml.Dump(roots[0], yaml.WithLineWidth(-1))
}

// restyle takes the brackets of JSON from a node, and the quotes that are not needed.
func restyle(n *yaml.Node) error {
	switch {
	case strings.ContainsAny(n.Value, "\u0085\u2028\u2029"): // they end a line in YAML 1.1, and need escapes
		return nil
	case n.Tag == "!!str":
		return n.Encode(n.Value)
	}
	n.Style = 0
	for _, child := range n.Content {
		if err := restyle(child); err != nil {
			return err
		}
	}
	return nil
}

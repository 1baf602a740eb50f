package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Field returns the value of a field of the pod's metadata, such as metadata.name or metadata.labels['app']; nothing if it is not set.
func (p *Pod) Field(path string) string {
	switch field, key := SplitField(path); field {
	case FieldName:
		return p.Name
	case FieldNamespace:
		return p.Namespace
	case FieldUID:
		return p.UID
	case FieldLabels:
		return fieldOf(p.Manifest.Labels, key)
	case FieldAnnotations:
		return fieldOf(p.Manifest.Annotations, key)
	}
	return ""
}

// SplitField splits metadata.labels['app'] into the field and the key. Another path has no key.
func SplitField(path string) (field, key string) {
	field, rest, _ := strings.Cut(path, "['")
	key, whole := strings.CutSuffix(rest, "']")
	if !whole || field != FieldLabels && field != FieldAnnotations {
		return path, ""
	}
	return field, key
}

// fieldOf returns the value of a key. Without a key it returns a line KEY="VALUE" for each, sorted, as upstream: without a line break
// at the end.
func fieldOf(values map[string]string, key string) string {
	if key != "" {
		return values[key]
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, fmt.Sprintf("%s=%q", key, values[key]))
	}
	return strings.Join(lines, "\n")
}

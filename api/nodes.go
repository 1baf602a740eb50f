package api

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// resolve returns the node that a document or an alias stands for.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode || n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		} else {
			n = n.Content[0]
		}
	}
	return n
}

// field returns the value of a field of a mapping, or nil.
func field(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return resolve(n.Content[i+1])
		}
	}
	return nil
}

// nearest returns the node at a path such as containers[0].image, or the last node on the way to it.
func nearest(n *yaml.Node, path string) *yaml.Node {
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := field(n, step)
		if i, err := strconv.Atoi(step); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			next = resolve(n.Content[i])
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// join returns the path of a field of the value at path.
func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

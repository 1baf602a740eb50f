package api

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// manifestList is a ContainerManifestList. Its items are decoded later, each by the rules
// of its own version.
type manifestList struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Items      []any  `json:"items"`
}

// DecodeList reads what Decode reads, and also a text that is one list of manifests or
// one ContainerManifestList. Only if such a list is empty are there no documents and no
// error.
func (s *Scheme) DecodeList(file string, data []byte) ([]Document, error) {
	t, roots, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	d := &decoder{text: t}
	for _, root := range roots {
		kind := field(root, "kind")
		switch {
		case root.Kind != yaml.SequenceNode && field(root, "items") == nil && (kind == nil || kind.Value != "ContainerManifestList"):
			continue
		case len(roots) > 1:
			return nil, t.errorAt(root, "", "a list must be the only document of its text: put every manifest into it, or none")
		case root.Kind == yaml.SequenceNode:
			return s.decodeAll(d, root.Content, "[%d]")
		}
		items := s.items(d, root)
		if len(d.errs) > 0 {
			return nil, errors.Join(d.errs...)
		}
		return s.decodeAll(d, items, "items[%d]")
	}
	return s.decodeAll(d, roots, "")
}

// items returns the items of a ContainerManifestList, or reports why not.
func (s *Scheme) items(d *decoder, root *yaml.Node) []*yaml.Node {
	var list manifestList
	d.value("", root, reflect.ValueOf(&list).Elem())
	// Half of a list must not pass for an empty one.
	if list.Kind != "ContainerManifestList" {
		d.refuse("kind", nearest(root, "kind"), `unsupported value '%s': write "kind: ContainerManifestList"`, list.Kind)
	}
	if !slices.Contains(s.Versions(), strings.ToLower(list.APIVersion)) {
		d.refuse("apiVersion", nearest(root, "apiVersion"), `unsupported value '%s': write "apiVersion:" and %s`,
			list.APIVersion, strings.Join(s.Versions(), " or "))
	}
	if list.Items == nil && len(d.errs) == 0 {
		d.refuse("items", nearest(root, "items"), `required value '': a list without manifests is written "items: []"`)
	}
	return resolve(nearest(root, "items")).Content
}

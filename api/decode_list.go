package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// manifestList is a ContainerManifestList whose items are still to be decoded,
// each by the rules of its own version.
type manifestList struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Items      []ast.Node `json:"items"`
}

// DecodeList reads what Decode reads, and also a text that is one list of
// manifests or one ContainerManifestList. Only an empty one of these two gives no
// documents and no error.
func (s *Scheme) DecodeList(file string, data []byte) ([]Document, error) {
	src, roots, err := open(file, data, MaxListBytes)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		d := newDecoder(src)
		items, item := s.items(d, root)
		switch {
		case item == "":
		case len(roots) > 1:
			return nil, src.at(placeOf(root), "", "a list must be the only document of its text: put every manifest into it, or none")
		case len(d.errs) > 0:
			return nil, errors.Join(d.errs...)
		default:
			return s.decodeAll(d, items, item)
		}
	}
	return s.decodeAll(newDecoder(src), roots, "")
}

// items gives the items of a document that is meant to be a list, and the field
// path of one with %d for its index; it is empty for any other document. Errors
// about the list itself are left in d.
func (s *Scheme) items(d *decoder, root ast.Node) (items []ast.Node, item string) {
	node, _ := d.resolve("", root)
	if n, ok := node.(*ast.SequenceNode); ok {
		return n.Values, "[%d]"
	}
	m, ok := node.(*ast.MappingNode)
	if !ok || !slices.ContainsFunc(m.Values, isOfList) {
		return nil, ""
	}
	var list manifestList
	d.value("", m, reflect.ValueOf(&list).Elem())
	// Half of a list must not pass for an empty one.
	if list.Kind != "ContainerManifestList" {
		d.refuseField("kind", fmt.Sprintf("unsupported value '%s': write \"kind: ContainerManifestList\"", list.Kind))
	}
	if known := s.Versions(); !slices.Contains(known, strings.ToLower(list.APIVersion)) {
		d.refuseField("apiVersion", fmt.Sprintf("unsupported value '%s': write \"apiVersion:\" and %s", list.APIVersion, strings.Join(known, " or ")))
	}
	if list.Items == nil && len(d.errs) == 0 {
		d.refuseField("items", "required value '': a list without manifests is written \"items: []\"")
	}
	return list.Items, "items[%d]"
}

// isOfList says that a field makes an object a list, be it a good one or not.
func isOfList(field *ast.MappingValueNode) bool {
	name := keyText(field.Key)
	return name == "items" || name == "kind" && field.Value.GetToken().Value == "ContainerManifestList"
}

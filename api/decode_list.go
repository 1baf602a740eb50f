package api

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// manifestNode is the node of a manifest and its path in the YAML document.
type manifestNode struct {
	path string
	node ast.Node
}

// listObject is a ContainerManifestList whose items are still to be read, each by
// the rules of its own version.
type listObject struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Items      []ast.Node `json:"items"`
}

const listKind = "ContainerManifestList"

// isList says that a document is meant for a list, or for an object that has one.
func (s *Scheme) isList(root ast.Node) bool {
	switch root := root.(type) {
	case *ast.SequenceNode:
		return true
	case *ast.MappingNode:
		return slices.ContainsFunc(root.Values, func(field *ast.MappingValueNode) bool {
			return keyText(field.Key) == "items" || keyText(field.Key) == "kind" && field.Value.GetToken().Value == listKind
		})
	}
	return false
}

// items finds the manifests of a list. It leaves its errors in d.
func (s *Scheme) items(d *decoder, root ast.Node, alone bool) []manifestNode {
	var list listObject
	path := ""
	if root.Type() == ast.SequenceType {
		d.value("", root, reflect.ValueOf(&list.Items).Elem())
	} else {
		path = "items"
		d.value("", root, reflect.ValueOf(&list).Elem())
		s.checkList(d, root, &list)
	}
	if !alone {
		d.refuse("", root, "a list must be all there is in its text: put every manifest into the list, or none")
	}
	items := make([]manifestNode, 0, len(list.Items))
	for i, node := range list.Items {
		if node != nil { // it was refused
			items = append(items, manifestNode{fmt.Sprintf("%s[%d]", path, i), node})
		}
	}
	return items
}

// checkList refuses an object that is no whole ContainerManifestList. Half of one
// must not pass for an empty one.
func (s *Scheme) checkList(d *decoder, root ast.Node, list *listObject) {
	if len(d.errs) > 0 {
		return
	}
	versions := s.Versions()
	switch {
	case list.Kind != listKind:
		d.refuse("kind", root, fmt.Sprintf("unsupported value '%s': the kind of a list of manifests is %s", list.Kind, listKind))
	case !slices.Contains(versions, strings.ToLower(list.APIVersion)):
		d.refuse("apiVersion", root, fmt.Sprintf("unsupported value '%s': this program reads %s", list.APIVersion, strings.Join(versions, " or ")))
	case list.Items == nil:
		d.refuse("items", root, "required value '': a list without manifests is items: []")
	}
}

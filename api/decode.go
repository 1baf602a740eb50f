package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Document is one manifest and its place in the text.
type Document struct {
	Manifest ContainerManifest
	Number   int    // from 1, counting the manifests of the text
	Where    string // "document 2", or "item 3" of a list; empty if it is the only one

	path string     // of the manifest in its YAML document: empty, or such as items[2]
	root *yaml.Node // of the manifest
	text *text
}

// At returns an error about a field of the manifest, such as "containers[0].env[1].name". If the text has no such field,
// because it is missing or has its old name, the error points at what should hold it.
func (doc *Document) At(field, problem string) *SourceError {
	return doc.text.errorAt(nearest(doc.root, field), join(doc.path, field), problem)
}

// Decode reads every manifest of the text: one in each YAML document, or one JSON object. file is a label for people.
// Good documents are returned beside an error about others; the error joins a *SourceError for each problem. The fields
// version and containers are required; the containers may be empty.
//
// The text may come from anybody: Decode never panics, and its time and memory are bounded.
func (s *Scheme) Decode(file string, data []byte) ([]Document, error) {
	t, roots, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	return s.decodeAll(&decoder{text: t}, roots, "")
}

// DecodeList reads what Decode reads, and also a text that is one list of manifests or one ContainerManifestList. Only if
// such a list is empty are there no documents and no error.
func (s *Scheme) DecodeList(file string, data []byte) ([]Document, error) {
	t, roots, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	d := &decoder{text: t}
	i := slices.IndexFunc(roots, isList)
	switch {
	case i < 0:
		return s.decodeAll(d, roots, "")
	case len(roots) > 1:
		return nil, t.errorAt(roots[i], "", "a list must be the only document of its text: put every manifest into it, or none")
	case roots[i].Kind == yaml.SequenceNode:
		return s.decodeAll(d, roots[i].Content, "[%d]")
	}
	return s.decodeManifestList(d, roots[i])
}

// isList reports whether a document is a list of manifests or a ContainerManifestList.
func isList(root *yaml.Node) bool {
	kind := field(root, "kind")
	return root.Kind == yaml.SequenceNode || field(root, "items") != nil || kind != nil && kind.Value == "ContainerManifestList"
}

// decodeManifestList decodes the items of a ContainerManifestList, each by the rules of its own version.
func (s *Scheme) decodeManifestList(d *decoder, root *yaml.Node) ([]Document, error) {
	var list struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Items      []any  `json:"items"`
	}
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
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	return s.decodeAll(d, field(root, "items").Content, "items[%d]")
}

// decodeAll decodes a manifest from each node: the documents of a text, or the items of a list. item is the path of an
// item with %d for its index, and empty for documents.
func (s *Scheme) decodeAll(d *decoder, nodes []*yaml.Node, item string) ([]Document, error) {
	docs := []Document{}
	for i, node := range nodes {
		doc := Document{Number: i + 1, root: resolve(node), text: d.text}
		if item != "" {
			doc.Where, doc.path = fmt.Sprintf("item %d", i+1), fmt.Sprintf(item, i)
		} else if len(nodes) > 1 {
			doc.Where = fmt.Sprintf("document %d", i+1)
		}
		if s.decodeManifest(d, &doc) {
			docs = append(docs, doc)
		}
		if d.full() {
			break
		}
	}
	return docs, errors.Join(d.errs...)
}

// decodeManifest fills doc.Manifest. It returns false if it has reported a problem.
func (s *Scheme) decodeManifest(d *decoder, doc *Document) bool {
	before := len(d.errs)
	version, wire := s.newWireType(d, doc)
	if wire == nil {
		return false
	}
	d.value(doc.path, doc.root, reflect.ValueOf(wire).Elem())
	// Half of a manifest must not pass for a whole one. After another error the field may be there with a misspelt name.
	if field(doc.root, "containers") == nil && len(d.errs) == before {
		d.refuse(join(doc.path, "containers"), doc.root, `required value '': write "containers:" and what is to run; `+
			`a pod of its network container alone is written "containers: []"`)
	}
	if len(d.errs) > before {
		return false
	}
	internal, err := s.Internalize(version, wire)
	var problems FieldErrors
	if err != nil && !errors.As(err, &problems) {
		problems.Add("", "%v", err)
	}
	for _, p := range problems[:min(len(problems), maxErrors+1)] {
		d.refuse(join(doc.path, p.Field), nearest(doc.root, p.Field), "%s", p.Problem)
	}
	if err == nil {
		doc.Manifest = *internal.(*ContainerManifest)
	}
	return err == nil
}

// newWireType returns the version of a manifest and an empty value of its wire type; nil if it has reported a problem.
func (s *Scheme) newWireType(d *decoder, doc *Document) (version string, wire any) {
	path, known := join(doc.path, "version"), strings.Join(s.Versions(), " or ")
	has := func(name string) bool { return field(doc.root, name) != nil }
	switch {
	case doc.root.Kind != yaml.MappingNode:
		hint := ""
		if doc.root.Kind == yaml.SequenceNode && doc.path == "" {
			hint = `; for several manifests put lines of "---" between them`
		}
		d.refuse(doc.path, doc.root, `a manifest begins with fields such as "version: v1beta1", but this is %s%s`, describe(doc.root), hint)
	case has("version"):
		before, n := len(d.errs), field(doc.root, "version")
		d.value(path, n, reflect.ValueOf(&version).Elem())
		var err error
		if wire, err = s.New(version, "ContainerManifest"); err != nil && len(d.errs) == before {
			d.refuse(path, n, "unsupported value '%s': this program reads %s", version, known)
		}
	case slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "spec"}, has):
		d.refuse(doc.path, doc.root, "this is an object of today's Kubernetes; this program reads the container manifests of 2014: "+
			`"version" (%s), "id" and "containers" at the top level, and no apiVersion, kind, metadata or spec`, known)
	default:
		d.refuse(path, doc.root, `required value '': write "version:" and %s`, known)
	}
	return version, wire
}

package api

import (
	"cmp"
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
	Where    string // "document 2", "item 3" of a list, or both; empty if it is the only one

	path      string     // of the manifest in its YAML document: empty, or such as items[2]
	root      *yaml.Node // of the manifest
	text      *text
	fieldPath func(internal string) string // see AddFieldPaths; may be nil
}

// At returns an error about an internal field, such as "containers[0].env[1].name", with its path in the manifest. If the
// text has no such field, because it is missing or has its old name, the error points at what should hold it.
func (doc *Document) At(field, problem string) *SourceError {
	if doc.fieldPath != nil {
		field = doc.fieldPath(field)
	}
	return doc.text.errorAt(nearest(doc.root, field), join(doc.path, field), problem)
}

// Decode reads every manifest of the text: a manifest of 2014, a Pod, or a list of them, in each YAML document. file is a
// label for people. Good documents are returned beside an error about others; the error joins a *SourceError for each
// problem. Only if a list is empty are there no documents and no error.
//
// The text may come from anybody: Decode never panics, and its time and memory are bounded.
func (s *Scheme) Decode(file string, data []byte) ([]Document, error) {
	return s.decode(file, data, false)
}

// DecodeList reads what Decode reads, and also a text that is one YAML or JSON list of manifests.
func (s *Scheme) DecodeList(file string, data []byte) ([]Document, error) {
	return s.decode(file, data, true)
}

func (s *Scheme) decode(file string, data []byte, bareList bool) ([]Document, error) {
	t, roots, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	d := &decoder{text: t, docs: []Document{}}
	i := slices.IndexFunc(roots, func(root *yaml.Node) bool { return root.Kind == yaml.SequenceNode })
	switch {
	case !bareList || i < 0:
		for i, root := range roots {
			doc := Document{root: root, text: t}
			if len(roots) > 1 {
				doc.Where = fmt.Sprintf("document %d", i+1)
			}
			s.decodeDocument(d, doc, false)
		}
	case len(roots) > 1:
		return nil, t.errorAt(roots[i], "", "a list must be the only document of its text: put every manifest into it, or none")
	default:
		s.decodeItems(d, roots[0], Document{text: t})
	}
	return d.docs, errors.Join(d.errs...)
}

// decodeItems decodes the manifests of a list.
func (s *Scheme) decodeItems(d *decoder, items *yaml.Node, list Document) {
	for i, item := range items.Content {
		if d.full() {
			return
		}
		where := strings.TrimPrefix(fmt.Sprintf("%s, item %d", list.Where, i+1), ", ")
		s.decodeDocument(d, Document{root: resolve(item), text: d.text, Where: where, path: fmt.Sprintf("%s[%d]", list.path, i)}, true)
	}
}

// decodeDocument appends the manifest of doc, or those of a list, to d.docs, unless it reports a problem.
func (s *Scheme) decodeDocument(d *decoder, doc Document, isItem bool) {
	if d.full() {
		return
	}
	before := len(d.errs)
	d.numbers++
	doc.Number, d.ignored = d.numbers, nil
	version, wire := s.newWireType(d, &doc)
	if wire == nil {
		return
	}
	out := reflect.ValueOf(wire).Elem()
	d.value(doc.path, doc.root, out)
	if len(d.errs) > before {
		return
	}
	if items, isList := out.Type().FieldByName("Items"); isList {
		n := field(doc.root, "items")
		switch {
		case isItem:
			d.refuse(doc.path, doc.root, "this is a list in a list: put its items into the outer one")
		case n != nil && n.Kind == yaml.SequenceNode:
			d.numbers--
			doc.path = "items"
			s.decodeItems(d, n, doc)
		case !strings.HasSuffix(items.Tag.Get("json"), ",omitempty"): // half of a list must not pass for an empty one
			d.refuse("items", cmp.Or(n, doc.root), `required value '': a list without manifests is written "items: []"`)
		}
		return
	}
	// Half of a manifest must not pass for a whole one. A Pod is validated.
	if field(doc.root, "version") != nil && field(doc.root, "containers") == nil {
		d.refuse(join(doc.path, "containers"), doc.root, `required value '': write "containers:" and what is to run; `+
			`a pod of its network container alone is written "containers: []"`)
		return
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
		doc.Manifest.Ignored, doc.fieldPath = d.ignored, s.fieldPaths[strings.ToLower(version)]
		d.docs = append(d.docs, doc)
	}
}

// newWireType returns the version of a manifest or a list and an empty value of its wire type; nil if it has reported a
// problem.
func (s *Scheme) newWireType(d *decoder, doc *Document) (version string, wire any) {
	name, kind := "version", "ContainerManifest"
	has := func(name string) bool { return field(doc.root, name) != nil }
	switch {
	case doc.root.Kind != yaml.MappingNode:
		hint := ""
		if doc.root.Kind == yaml.SequenceNode && doc.path == "" {
			hint = `; for several manifests put lines of "---" between them`
		}
		d.refuse(doc.path, doc.root, `a manifest begins with fields such as "apiVersion: v1" or "version: v1beta1", but this is %s%s`,
			describe(doc.root), hint)
		return "", nil
	case has("services"):
		d.refuse(doc.path, doc.root, "this is a compose file, and this program runs Pods: write each service as a container of a Pod")
		return "", nil
	case has("desiredState"):
		d.refuse(doc.path, doc.root, "this is an object of the API of 2014: write what is in desiredState.manifest alone")
		return "", nil
	case has("version"):
	case slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "spec", "items"}, has):
		name, kind = "apiVersion", cmp.Or(field(doc.root, "kind"), &yaml.Node{}).Value
		if len(s.Versions(kind)) == 0 {
			d.refuse(join(doc.path, "kind"), nearest(doc.root, "kind"), "%s", otherKind(kind))
			return "", nil
		}
	}
	path, n, known := join(doc.path, name), field(doc.root, name), strings.Join(s.Versions(kind), " or ")
	if n == nil && name == "version" {
		d.refuse(path, doc.root, `required value '': write "apiVersion: v1" and "kind: Pod", or "version:" and %s`, known)
		return "", nil
	} else if n == nil {
		d.refuse(path, doc.root, `required value '': write "apiVersion: %s"`, known)
		return "", nil
	}
	before := len(d.errs)
	d.value(path, n, reflect.ValueOf(&version).Elem())
	wire, err := s.New(version, kind)
	if err != nil && len(d.errs) == before {
		d.refuse(path, n, "unsupported value '%s': this program reads %s", version, known)
	}
	return version, wire
}

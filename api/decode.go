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
	Number   int // from 1, counting the manifests of the text

	where string     // "document 2", "item 3"
	path  string     // of the manifest in its YAML document: empty, or such as items[2]
	root  *yaml.Node // of the manifest
	text  *text
}

// Where returns which manifest of its text this is: "document 2", "item 3" of a list, or
// nothing when the text is this manifest alone.
func (doc *Document) Where() string { return doc.where }

// At returns an error about a field of the manifest, such as "containers[0].env[1].name".
// When the text has no such field, because it is missing or has its old name, the error
// points at what should hold it.
func (doc *Document) At(field, problem string) *SourceError {
	return doc.text.errorAt(nearest(doc.root, field), join(doc.path, field), problem)
}

// Decode reads every manifest of the text: one in each YAML document, or one JSON object.
// file is a label for people. Good documents are returned beside an error about others;
// the error joins a *SourceError for each problem. The fields version and containers are
// required; the containers may be empty.
//
// The text may come from anybody: Decode never panics, and its time and memory are bounded.
func (s *Scheme) Decode(file string, data []byte) ([]Document, error) {
	t, roots, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	return s.decodeAll(&decoder{text: t}, roots, "")
}

// decodeAll decodes a manifest from each node: the documents of a text, or the items of a
// list. item is the path of an item with %d for its index, and empty for documents.
func (s *Scheme) decodeAll(d *decoder, nodes []*yaml.Node, item string) ([]Document, error) {
	docs := []Document{}
	for i, node := range nodes {
		doc := Document{Number: i + 1, root: resolve(node), text: d.text}
		switch {
		case item != "":
			doc.where, doc.path = fmt.Sprintf("item %d", i+1), fmt.Sprintf(item, i)
		case len(nodes) > 1:
			doc.where = fmt.Sprintf("document %d", i+1)
		}
		before := len(d.errs)
		s.decodeManifest(d, &doc)
		if len(d.errs) == before {
			docs = append(docs, doc)
		}
		if d.full() {
			break
		}
	}
	return docs, errors.Join(d.errs...)
}

// decodeManifest fills doc.Manifest, or reports why not.
func (s *Scheme) decodeManifest(d *decoder, doc *Document) {
	before := len(d.errs)
	if doc.root.Kind != yaml.MappingNode {
		hint := ""
		if doc.root.Kind == yaml.SequenceNode && doc.path == "" {
			hint = `; for several manifests put lines of "---" between them`
		}
		d.refuse(doc.path, doc.root, `a manifest begins with fields such as "version: v1beta1", but this is %s%s`, describe(doc.root), hint)
		return
	}
	version := s.version(d, doc)
	if len(d.errs) > before {
		return
	}
	wire, err := s.New(version, "ContainerManifest")
	if err != nil {
		d.refuse(join(doc.path, "version"), doc.root, "%v", err)
		return
	}
	d.value(doc.path, doc.root, reflect.ValueOf(wire).Elem())
	// The first half of a manifest must not pass for a whole one. If there is another error
	// it may be why this field is not there, such as that its name is misspelt.
	if field(doc.root, "containers") == nil && len(d.errs) == before {
		d.refuse(join(doc.path, "containers"), doc.root, `required value '': write "containers:" and what is to run; `+
			`a pod of its network container alone is written "containers: []"`)
	}
	if len(d.errs) > before {
		return
	}
	internal, err := s.Internalize(version, wire)
	var problems FieldErrors
	switch {
	case errors.As(err, &problems):
		for _, p := range problems[:min(len(problems), maxErrors+1)] {
			d.refuse(join(doc.path, p.Field), nearest(doc.root, p.Field), "%s", p.Problem)
		}
	case err != nil:
		d.refuse(doc.path, doc.root, "%v", err)
	default:
		doc.Manifest = *internal.(*ContainerManifest)
	}
}

// version reads the version of a manifest ahead of the rest of it, which is read by the
// rules of that version.
func (s *Scheme) version(d *decoder, doc *Document) (version string) {
	path, known := join(doc.path, "version"), strings.Join(s.Versions(), " or ")
	if n := field(doc.root, "version"); n != nil {
		before := len(d.errs)
		d.value(path, n, reflect.ValueOf(&version).Elem())
		if len(d.errs) == before && !slices.Contains(s.Versions(), strings.ToLower(version)) {
			d.refuse(path, n, "unsupported value '%s': this program reads %s", version, known)
		}
		return version
	}
	for _, name := range []string{"apiVersion", "kind", "metadata", "spec"} {
		if field(doc.root, name) != nil {
			d.refuse(doc.path, doc.root, "this is an object of today's Kubernetes; this program reads the container manifests of 2014: "+
				`"version" (%s), "id" and "containers" at the top level, and no apiVersion, kind, metadata or spec`, known)
			return ""
		}
	}
	d.refuse(path, doc.root, `required value '': write "version:" and %s`, known)
	return ""
}

package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Document is one manifest and the place it was read from.
type Document struct {
	Manifest ContainerManifest
	Number   int // from 1, counting the manifests of the text

	where  string
	path   string // of the manifest in its YAML document: empty, or such as items[2]
	src    *source
	places map[string]place // of every field path of the manifest
}

// Where says which manifest of its text this is: "document 2", "item 3" of a
// list, or nothing when the text is this manifest alone.
func (doc *Document) Where() string { return doc.where }

// Decode reads every manifest in the text: one in each YAML document, or one
// JSON object. file is a label for people. Documents that are good are returned
// also when others are not; the error joins a *SourceError for each thing wrong.
// The fields version and containers must be there; the containers may be empty.
//
// It takes input from strangers: it never panics, and its time and memory are
// bounded, aliases included.
func (s *Scheme) Decode(file string, data []byte) ([]Document, error) {
	src, roots, err := open(file, data, MaxManifestBytes)
	if err != nil {
		return nil, err
	}
	return s.decodeAll(newDecoder(src), roots, "")
}

// decodeAll decodes a manifest from each node: the YAML documents of a text, or
// the items of a list. item is the field path of an item with %d for its index,
// and empty for documents.
func (s *Scheme) decodeAll(d *decoder, nodes []ast.Node, item string) ([]Document, error) {
	docs := []Document{}
	var errs []error
	for i, node := range nodes {
		doc := Document{Number: i + 1, src: d.src, places: map[string]place{"": {1, 1}}}
		switch {
		case item != "":
			doc.where, doc.path = fmt.Sprintf("item %d", i+1), fmt.Sprintf(item, i)
		case len(nodes) > 1:
			doc.where = fmt.Sprintf("document %d", i+1)
			d.anchors = map[string]ast.Node{}
		}
		d.places, d.errs = doc.places, nil
		s.decodeManifest(d, node, &doc)
		if len(d.errs) == 0 {
			docs = append(docs, doc)
		}
		if errs = append(errs, d.errs...); len(errs) > maxErrors || d.values >= maxValues {
			break
		}
	}
	return docs, errors.Join(errs...)
}

// At gives an error about a field of the manifest, such as
// "containers[0].env[1].name". When the text has no such field, because it is
// missing or was written by an old name, the error points at what should hold it.
func (doc *Document) At(field, problem string) *SourceError {
	field = join(doc.path, field)
	return doc.src.at(nearest(doc.places, field), field, problem)
}

// nearest gives the place of a field, or of what should hold it.
func nearest(places map[string]place, field string) place {
	p, ok := places[field]
	for !ok {
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
		p, ok = places[field]
	}
	return p
}

// decodeManifest leaves its errors in d.
func (s *Scheme) decodeManifest(d *decoder, root ast.Node, doc *Document) {
	node, ok := d.resolve(doc.path, root)
	if !ok {
		return
	}
	m, ok := node.(*ast.MappingNode)
	if !ok {
		problem := "a manifest begins with fields such as \"version: v1beta1\", but this is " + describe(node)
		if node.Type() == ast.SequenceType && doc.path == "" {
			problem += "; for several manifests put lines of \"---\" between them"
		}
		d.refuse(doc.path, node, problem)
		return
	}
	version := s.version(d, doc.path, m)
	if len(d.errs) > 0 {
		return
	}
	wire, err := s.New(version, "ContainerManifest")
	if err != nil {
		d.refuse(join(doc.path, "version"), node, err.Error())
		return
	}
	d.value(doc.path, root, reflect.ValueOf(wire).Elem())
	// The first half of a manifest must not pass for a whole one. Other errors may be
	// the reason that this field was not seen, such as that its name is misspelt.
	containers := join(doc.path, "containers")
	if _, given := d.places[containers]; !given && len(d.errs) == 0 {
		d.refuseField(containers, "required value '': write \"containers:\" and what is to run; a pod of its network container alone is written \"containers: []\"")
	}
	if len(d.errs) > 0 {
		return
	}
	internal, err := s.Internalize(version, wire)
	var fields FieldErrors
	switch {
	case errors.As(err, &fields):
		for _, f := range fields {
			d.refuseField(join(doc.path, f.Field), f.Problem)
		}
	case err != nil:
		d.refuse(doc.path, node, err.Error())
	default:
		doc.Manifest = *internal.(*ContainerManifest)
	}
}

// version reads the version of a manifest ahead of the rest of it, which is read
// by the rules of that version. It leaves its errors in d.
func (s *Scheme) version(d *decoder, path string, root *ast.MappingNode) (version string) {
	at := join(path, "version")
	var node ast.Node
	modern := false
	for _, field := range root.Values {
		switch keyText(field.Key) {
		case "version":
			node = field.Value
		case "apiVersion", "kind", "metadata", "spec":
			modern = true
		}
	}
	known := s.Versions()
	words := strings.Join(known, " or ")
	switch {
	case node != nil:
		d.value(at, node, reflect.ValueOf(&version).Elem())
		if len(d.errs) == 0 && !slices.Contains(known, strings.ToLower(version)) {
			d.refuse(at, node, fmt.Sprintf("unsupported value '%s': this program reads %s", version, words))
		}
	case modern:
		d.refuse(path, root, "this is an object of today's Kubernetes; this program reads the container manifests of 2014: "+
			"\"version\" ("+words+"), \"id\" and \"containers\" at the top level, and no apiVersion, kind, metadata or spec")
	default:
		d.refuse(at, root, "required value '': write \"version:\" and "+words)
	}
	return version
}

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
	Number   int // from 1, counting the documents of the file that hold anything

	src    *source
	places map[string]place // of every field path of the document; "" is the root
}

// Decode reads every manifest in the text: one in each YAML document, or one
// JSON object. file is a label for people. Documents that are good are returned
// also when others are not; the error joins a *SourceError for each thing wrong.
//
// It takes input from strangers: it never panics, and its time and memory are
// bounded, aliases included.
func (s *Scheme) Decode(file string, data []byte) ([]Document, error) {
	src, err := open(file, data)
	if err != nil {
		return nil, err
	}
	roots, err := src.documents()
	if err != nil {
		return nil, err
	}
	var docs []Document
	var errs []error
	d := decoder{src: src}
	for i, root := range roots {
		d.anchors, d.places, d.errs = map[string]ast.Node{}, map[string]place{"": {1, 1}}, nil
		doc := Document{Number: i + 1, src: src, places: d.places}
		s.decodeManifest(&d, root, &doc)
		if len(d.errs) == 0 {
			docs = append(docs, doc)
		}
		if errs = append(errs, d.errs...); len(errs) > maxErrors || d.values >= maxValues {
			break
		}
	}
	return docs, errors.Join(errs...)
}

// At gives an error about a field of the document, such as
// "containers[0].env[1].name". When the text has no such field, because it is
// missing or was written by an old name, the error points at what should hold it.
func (doc *Document) At(field, problem string) *SourceError {
	p, ok := doc.places[field]
	for at := field; !ok; p, ok = doc.places[at] {
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	return doc.src.at(p, field, problem)
}

// decodeManifest leaves its errors in d.
func (s *Scheme) decodeManifest(d *decoder, root ast.Node, doc *Document) {
	node, ok := d.resolve("", root)
	if !ok {
		return
	}
	m, ok := node.(*ast.MappingNode)
	if !ok {
		problem := "a manifest begins with fields such as \"version: v1beta1\", but this is " + describe(node)
		if node.Type() == ast.SequenceType {
			problem += "; for several manifests put lines of \"---\" between them"
		}
		d.refuse("", node, problem)
		return
	}
	version := s.version(d, m)
	if len(d.errs) > 0 {
		return
	}
	wire, err := s.New(version, "ContainerManifest")
	if err != nil {
		d.refuse("version", node, err.Error())
		return
	}
	d.value("", root, reflect.ValueOf(wire).Elem())
	if len(d.errs) > 0 {
		return
	}
	internal, err := s.Internalize(version, wire)
	var fields FieldErrors
	switch {
	case errors.As(err, &fields):
		for _, f := range fields {
			d.errs = append(d.errs, doc.At(f.Field, f.Problem))
		}
	case err != nil:
		d.refuse("", node, err.Error())
	default:
		doc.Manifest = *internal.(*ContainerManifest)
	}
}

// version reads the version of a manifest ahead of the rest of it, which is read
// by the rules of that version. It leaves its errors in d.
func (s *Scheme) version(d *decoder, root *ast.MappingNode) (version string) {
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
		d.value("version", node, reflect.ValueOf(&version).Elem())
		if len(d.errs) == 0 && !slices.Contains(known, strings.ToLower(version)) {
			d.refuse("version", node, fmt.Sprintf("unsupported value '%s': this program reads %s", version, words))
		}
	case modern:
		d.refuse("", root, "this is an object of today's Kubernetes; this program reads the container manifests of 2014: "+
			"\"version\" ("+words+"), \"id\" and \"containers\" at the top level, and no apiVersion, kind, metadata or spec")
	default:
		d.refuse("version", root, "required value '': write \"version:\" and "+words)
	}
	return version
}

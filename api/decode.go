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

	kind   string // "item" of a list, "document", or empty when the text is this manifest alone
	src    *source
	places map[string]place // of every field path of the YAML document; "" is its root
	path   string           // of the manifest in it, such as items[3]; "" is the root
}

// Where says which one of its text the manifest is, such as "document 2". It is
// empty when the text has no other.
func (doc *Document) Where() string {
	if doc.kind == "" {
		return ""
	}
	return fmt.Sprintf("%s %d", doc.kind, doc.Number)
}

// Decode reads every manifest in the text: one in each YAML document, or one
// JSON object. file is a label for people. Documents that are good are returned
// also when others are not; the error joins a *SourceError for each thing wrong.
//
// It takes input from strangers: it never panics, and its time and memory are
// bounded, aliases included.
func (s *Scheme) Decode(file string, data []byte) ([]Document, error) {
	return s.decode(file, data, manifestLimits)
}

// DecodeList is Decode, and reads a list of manifests or a ContainerManifestList
// too, when it is all there is in the text. An empty list gives no documents and
// no error; nothing else does.
func (s *Scheme) DecodeList(file string, data []byte) ([]Document, error) {
	return s.decode(file, data, listLimits)
}

func (s *Scheme) decode(file string, data []byte, l limits) ([]Document, error) {
	src, err := open(file, data, l)
	if err != nil {
		return nil, err
	}
	roots, err := src.documents()
	if err != nil {
		return nil, err
	}
	docs := []Document{}
	var errs []error
	d := decoder{src: src}
	number := 0
	for _, root := range roots {
		d.anchors, d.places, d.errs = map[string]ast.Node{}, map[string]place{"": {1, 1}}, nil
		kind := ""
		if len(roots) > 1 {
			kind = "document"
		}
		manifests := []manifestNode{{"", root}}
		if l.lists && s.isList(root) {
			kind, manifests = "item", s.items(&d, root, len(roots) == 1)
			errs = append(errs, d.errs...)
		}
		for _, m := range manifests {
			number++
			d.errs = nil
			doc := Document{Number: number, kind: kind, src: src, places: d.places, path: m.path}
			s.decodeManifest(&d, m.node, &doc)
			if len(d.errs) == 0 {
				docs = append(docs, doc)
			}
			if errs = append(errs, d.errs...); len(errs) > maxErrors || d.values >= l.values() {
				return docs, errors.Join(errs...)
			}
		}
	}
	return docs, errors.Join(errs...)
}

// At gives an error about a field of the manifest, such as
// "containers[0].env[1].name". When the text has no such field, because it is
// missing or was written by an old name, the error points at what should hold it.
func (doc *Document) At(field, problem string) *SourceError {
	field = join(doc.path, field)
	p, ok := doc.places[field]
	for at := field; !ok; p, ok = doc.places[at] {
		at = at[:max(0, strings.LastIndexAny(at, ".["))]
	}
	return doc.src.at(p, field, problem)
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

package api

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Document is one object and its place in the text. Of the objects exactly one is set.
type Document struct {
	Manifest *ContainerManifest // of a pod
	Service  *Service
	Config   *ConfigObject
	LeftOut  string // an object that means nothing on one host, such as "Namespace shop", and why
	Where    string // "document 2", "item 3" of a list, "Deployment web" for its pods, or several of these; may be empty
}

// document is a Document before it is decoded.
type document struct {
	root        *yaml.Node
	list        *yaml.Node // the apiVersion of the PodList it is in, whose items need neither that nor a kind; or nil
	where, path string     // path is that in the YAML document: empty, or such as items[2]
}

// FieldPather is implemented by a wire type whose fields have other paths than the internal ones.
type FieldPather interface{ FieldPath(internal string) string }

// Decode reads every object of the text, and checks it unless check is nil: each YAML document is a manifest of 2014, an object of
// v1 such as a Pod, or a list of them. file is a label for people. The error is a *SourceError with all problems; then there are no documents.
// There are none without an error only if every list is empty, and every workload has no replicas.
//
// The text may come from anybody: Decode never panics, and its time and memory are bounded.
func (s *Scheme) Decode(file string, data []byte, check func(Document) Mistakes) ([]Document, error) {
	d := &decoder{scheme: s, check: check, text: &SourceError{File: file}}
	roots := d.text.parse(data)
	for i, root := range roots {
		doc := document{root: root}
		if len(roots) > 1 {
			doc.where = fmt.Sprintf("document %d", i+1)
		}
		d.document(doc)
	}
	if len(d.text.Mistakes) > 0 {
		return nil, d.text
	}
	return d.docs, nil
}

// document appends the object of doc, or those of a list, to d.docs, unless it reports a problem.
func (d *decoder) document(doc document) {
	if d.full() {
		return
	}
	if doc.root.Kind == yaml.SequenceNode {
		d.items(doc, "", doc.root)
		return
	}
	before := len(d.text.Mistakes)
	version, wire := d.newWireType(&doc)
	if wire == nil {
		return
	}
	ahead := d.values
	d.ignored = nil
	out := reflect.ValueOf(wire).Elem()
	d.nulls = field(doc.root, "version") == nil && field(doc.root, "items") == nil
	d.hides = out.Type().Name() == KindSecret
	if d.value(doc.path, doc.root, out); len(d.text.Mistakes) > before {
		return
	}
	if items, isList := out.Type().FieldByName("Items"); isList {
		n := cmp.Or(field(doc.root, "items"), &yaml.Node{})
		if n.Kind != yaml.SequenceNode && !strings.HasSuffix(items.Tag.Get("json"), ",omitempty") {
			// Half of a list must not pass for an empty one.
			d.refuse(join(doc.path, "items"), nearest(doc.root, "items"), `required value '': a list without manifests is written "items: []"`)
			return
		}
		if kind := field(doc.root, "kind"); kind != nil && kind.Value == "PodList" {
			doc.list = field(doc.root, "apiVersion")
		}
		d.items(doc, "items", n)
		return
	}
	// Half of a manifest must not pass for a whole one. A Pod is checked for it by validation.
	if field(doc.root, "version") != nil && field(doc.root, "containers") == nil {
		d.refuse(join(doc.path, "containers"), doc.root, `required value '': write "containers:" and what is to run; `+
			`a pod of its network container alone is written "containers: []"`)
		return
	}
	for _, p := range d.internalize(version, wire, doc.where, d.values-ahead) {
		d.refuse(join(doc.path, p.Field), nearest(doc.root, p.Field), "%s", p.Text)
	}
}

// internalize converts and checks an object of so many values, and appends it to d.docs unless it returns problems. These have the
// paths of the wire type.
func (d *decoder) internalize(version string, wire any, where string, values int) (problems Mistakes) {
	internal, err := d.scheme.Internalize(version, wire)
	if err != nil {
		return err.(Mistakes)
	}
	doc := Document{Where: where}
	switch obj := internal.(type) {
	case *ContainerManifest:
		doc.Manifest, obj.Ignored = obj, d.ignored
	case *Service:
		doc.Service, obj.Ignored = obj, append(d.ignored, obj.Ignored...)
	case *ConfigObject:
		doc.Config = obj
	case *Workload:
		problems = d.pods(obj, where, values)
	}
	if doc.Manifest != nil || doc.Service != nil || doc.Config != nil {
		if d.check != nil {
			problems = d.check(doc)
		}
		if len(problems) == 0 {
			d.docs = append(d.docs, doc)
		}
	}
	if wire, ok := wire.(FieldPather); ok {
		for i, p := range problems {
			problems[i].Field = wire.FieldPath(p.Field)
		}
	}
	return problems
}

// items decodes the manifests of a list, which is at a path in a document.
func (d *decoder) items(list document, path string, n *yaml.Node) {
	if list.path != "" {
		d.refuse(list.path, list.root, "this is a list in a list: put its items into the outer one")
		return
	}
	for i, item := range n.Content {
		doc := document{root: resolve(item), list: list.list, path: fmt.Sprintf("%s[%d]", path, i)}
		doc.where = strings.TrimPrefix(fmt.Sprintf("%s, item %d", list.where, i+1), ", ")
		d.document(doc)
	}
}

// newWireType returns the version of an object and an empty value of its wire type; nil if it has reported a problem, or if the
// object is left out.
func (d *decoder) newWireType(doc *document) (version string, wire any) {
	versionField, kind, at, problem := "version", "ContainerManifest", "", ""
	has := func(name string) bool { return field(doc.root, name) != nil }
	switch {
	case has("version"): // of 2014
	case doc.list != nil && !has("kind"):
		versionField, kind = "apiVersion", "Pod"
	case slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "spec", "items"}, has):
		versionField, kind = "apiVersion", cmp.Or(field(doc.root, "kind"), &yaml.Node{}).Value
	}
	n := cmp.Or(field(doc.root, versionField), doc.list)
	known := strings.Join(d.scheme.Versions(kind), " or ")
	switch {
	case doc.root.Kind != yaml.MappingNode:
		problem = `a manifest begins with fields such as "apiVersion: v1" or "version: v1beta1", but this is ` + describe(doc.root)
	case has("services"):
		problem = "this is a compose file, and this program runs Pods: write each service as a container of a Pod"
	case has("desiredState"):
		problem = "this is an object of the API of 2014: write what is in desiredState.manifest alone"
	case known == "" && leftOut[kind] != "":
		d.docs = append(d.docs, Document{LeftOut: describeLeftOut(kind, doc.root), Where: doc.where})
		return "", nil
	case known == "":
		at, problem = "kind", d.scheme.otherKind(kind)
	case n != nil: // the version is there
	case versionField == "version":
		at, problem = versionField, `required value '': write "apiVersion: v1" and "kind: Pod", or "version:" and `+known
	default:
		at, problem = versionField, fmt.Sprintf(`required value '': write "apiVersion: %s"`, d.scheme.Versions(kind)[0])
	}
	if problem != "" {
		d.refuse(join(doc.path, at), nearest(doc.root, at), "%s", problem)
		return "", nil
	}
	path, before := join(doc.path, versionField), len(d.text.Mistakes)
	d.value(path, n, reflect.ValueOf(&version).Elem())
	wire, err := d.scheme.New(version, kind)
	if err != nil && len(d.text.Mistakes) == before {
		d.refuse(path, n, "unsupported value '%s': this program reads %s", version, known)
	}
	return version, wire
}

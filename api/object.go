package api

import (
	"fmt"
	"reflect"
	"slices"
)

// DecodeObject reads a text that is one object, such as a file of settings, as strictly as Decode reads manifests. The kind is
// the name of the type that obj points to; check is called when the text was read into it. The error is a *SourceError with all
// problems; without one the paths of the fields that mean nothing here are returned.
func DecodeObject(file string, data []byte, version string, obj any, check func() Mistakes) (ignored []string, err error) {
	out := reflect.ValueOf(obj).Elem()
	kind := out.Type().Name()
	d := &decoder{text: &SourceError{File: file, needs: fmt.Sprintf(`write "apiVersion: %s" and "kind: %s"`, version, kind)}}
	for i, root := range d.text.parse(data) {
		switch kindField, versionField := field(root, "kind"), field(root, "apiVersion"); {
		case i > 0:
			d.refuse("", root, "this is another document: write one %s", kind)
		case kindField == nil || kindField.Value != kind:
			d.refuse("kind", nearest(root, "kind"), `write "kind: %s"`, kind)
		case versionField == nil || versionField.Value != version:
			d.refuse("apiVersion", nearest(root, "apiVersion"), `write "apiVersion: %s"`, version)
		default:
			if d.value("", root, out); len(d.text.Mistakes) > 0 {
				break
			}
			for _, p := range check() {
				d.refuse(p.Field, nearest(root, p.Field), "%s", p.Text)
			}
		}
	}
	if len(d.text.Mistakes) > 0 {
		slices.SortStableFunc(d.text.Mistakes, func(a, b Mistake) int { return a.Line - b.Line })
		return nil, d.text
	}
	return d.ignored, nil
}

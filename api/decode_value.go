package api

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// maxValues bounds how far the aliases of a text may expand. Without aliases a
// text of maxTokens cannot have as many values.
const maxValues = 2 * maxTokens

// maxErrors of a text are told; nobody reads more.
const maxErrors = 50

// decoder fills Go values from YAML nodes, strictly, and keeps going after an
// error so that all of them can be told. The YAML library's own decoder stops at
// the first, knows no field paths, and takes a number for a string.
type decoder struct {
	src    *source
	values int // seen in the whole text

	anchors map[string]ast.Node // of the current document

	// Of the current manifest:
	places map[string]place
	errs   []error
}

func newDecoder(src *source) *decoder {
	return &decoder{src: src, anchors: map[string]ast.Node{}, places: map[string]place{"": {1, 1}}}
}

func (d *decoder) refuse(path string, n ast.Node, problem string) {
	d.refuseAt(placeOf(n), path, problem)
}

// refuseField is refuse for a field that need not be in the text; see Document.At.
func (d *decoder) refuseField(path, problem string) {
	d.refuseAt(nearest(d.places, path), path, problem)
}

func (d *decoder) refuseAt(p place, path, problem string) {
	switch n := len(d.errs); {
	case n < maxErrors:
		d.errs = append(d.errs, d.src.at(p, path, problem))
	case n == maxErrors:
		d.errs = append(d.errs, d.src.errorf("there are more errors; mend these first"))
	}
}

// placeOf gives where a person would say that the node begins: a mapping without
// brackets at its first key.
func placeOf(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	return placeOfToken(n.GetToken())
}

// resolve gives the node behind anchors and aliases.
func (d *decoder) resolve(path string, n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.AnchorNode:
		v, ok := d.resolve(path, n.Value)
		if ok {
			d.anchors[n.Name.GetToken().Value] = v
		}
		return v, ok
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		v, ok := d.anchors[name]
		if !ok {
			d.refuse(path, n, fmt.Sprintf("the alias *%s needs an anchor &%s before it, in a field that is known", name, name))
		}
		return v, ok
	case *ast.TagNode:
		d.refuse(path, n, fmt.Sprintf("tags such as %s are not supported: remove it", n.GetToken().Value))
		return nil, false
	}
	return n, n != nil
}

// value decodes n, which is at path, into out. An ast.Node takes n as it is.
func (d *decoder) value(path string, n ast.Node, out reflect.Value) {
	if later, ok := out.Addr().Interface().(*ast.Node); ok {
		*later = n
		return
	}
	n, ok := d.resolve(path, n)
	if !ok {
		return
	}
	d.places[path] = placeOf(n)
	if d.values++; d.values == maxValues {
		d.refuse(path, n, fmt.Sprintf("the aliases of this file expand to more than %d values", maxValues))
	}
	if d.values >= maxValues {
		return
	}
	if n.Type() == ast.NullType {
		// The word null is what Go's encoder writes for what is not there. A value
		// that is merely missing is a slip: "never:" must not mean always. In a list
		// neither means anything.
		if n.GetToken().Type == token.ImplicitNullType || strings.HasSuffix(path, "]") {
			d.refuse(path, n, "there is no value: write "+insteadOfNothing(out.Type()))
		}
		return
	}
	if out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		out = out.Elem()
	}
	if port, ok := out.Addr().Interface().(*IntOrString); ok {
		d.intOrString(path, n, port)
		return
	}
	switch out.Kind() {
	case reflect.Struct:
		d.structure(path, n, out)
	case reflect.Slice:
		d.list(path, n, out)
	case reflect.String:
		d.text(path, n, out)
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			out.SetBool(b.Value)
		} else {
			d.refuse(path, n, "needs true or false, but this is "+describe(n))
		}
	case reflect.Int, reflect.Int64:
		d.integer(path, n, out)
	default:
		d.refuse(path, n, "the program cannot decode a "+out.Type().String())
	}
}

func (d *decoder) list(path string, n ast.Node, out reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		want := `needs a list, each item on a line that begins with "- "`
		if out.Type().Elem().Kind() == reflect.String {
			want = `needs a list such as ["sleep", "60"]`
		}
		d.refuse(path, n, want+", but this is "+describe(n))
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(seq.Values), len(seq.Values)))
	for i, item := range seq.Values {
		d.value(fmt.Sprintf("%s[%d]", path, i), item, out.Index(i))
	}
}

func (d *decoder) text(path string, n ast.Node, out reflect.Value) {
	var text string
	switch n := n.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode: // a block below "|" or ">"
		text = n.Value.Value
	case *ast.MappingNode, *ast.SequenceNode:
		d.refuse(path, n, "needs a string, but this is "+describe(n))
		return
	default:
		word := n.GetToken().Value
		d.refuse(path, n, fmt.Sprintf("needs a string, but %s is %s: put quotes around it, \"%s\"", word, describe(n), word))
		return
	}
	// Quoted text can spell a NUL, and no path, argument or environment of a
	// process can hold one.
	if strings.Contains(text, "\x00") {
		d.refuse(path, n, "a string cannot hold the character NUL")
		return
	}
	out.SetString(text)
}

func (d *decoder) integer(path string, n ast.Node, out reflect.Value) {
	text := n.GetToken().Value
	i, err := strconv.ParseInt(text, 10, out.Type().Bits())
	_, number := n.(*ast.IntegerNode)
	switch {
	case number && strconv.FormatInt(i, 10) == text && err == nil:
		out.SetInt(i)
	case errors.Is(err, strconv.ErrRange):
		d.refuse(path, n, "this number is too big")
	case number:
		d.refuse(path, n, fmt.Sprintf("write %s as a plain decimal number", text))
	case err == nil:
		d.refuse(path, n, "needs a number, but this is a string: remove the quotes")
	case n.Type() == ast.FloatType, n.Type() == ast.StringType:
		d.refuse(path, n, fmt.Sprintf("needs a whole number, and %s is none", text))
	default:
		d.refuse(path, n, "needs a whole number, but this is "+describe(n))
	}
}

func (d *decoder) intOrString(path string, n ast.Node, out *IntOrString) {
	switch n.(type) {
	case *ast.StringNode:
		d.text(path, n, reflect.ValueOf(&out.Str).Elem())
	case *ast.IntegerNode:
		d.integer(path, n, reflect.ValueOf(&out.Int).Elem())
	default:
		d.refuse(path, n, "needs a port number or the name of a port, but this is "+describe(n))
	}
}

// describe says what a node is, for "but this is …".
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a string"
	case *ast.BoolNode:
		return "a bool"
	case *ast.NullNode:
		return "nothing"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	}
	return "something else"
}

// insteadOfNothing is what to write where a value of a type is missing.
func insteadOfNothing(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return `"" or remove it`
	case reflect.Slice:
		return "[] for none" // some lists, such as the containers, must not be removed
	case reflect.Pointer, reflect.Struct:
		return "{} or remove it"
	}
	return "one or remove it"
}

package api_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"kubelet14/api"
)

// filler sets every field that reflection can find, so that a field added
// tomorrow is tested without a change here.
type filler struct {
	rand *rand.Rand
	full bool // leave nothing empty
}

// awkward are strings that a YAML or JSON decoder could take for something else.
var awkward = []string{
	"a", "1.10", "true", "null", "~", " b ", "- c", "é😀", "d: e # f", "{}", "[", "*g", "&h", "!i", "'j'", `"k"`,
	"l\nm", "\tn", "%o", "@p", "<<", "0755", "---", "...", "\\", "\u2028", "\u0085", "\u007f", "a\r\nb", "1e3", "=", "|",
}

func (f filler) fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if !f.full && f.rand.IntN(3) == 0 {
		return
	}
	if v.CanSet() && v.Type() == reflect.TypeFor[api.IntOrString]() {
		f.fillPort(v.Addr().Interface().(*api.IntOrString))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(t, v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem())
	case reflect.Slice:
		n := 1 + f.rand.IntN(2)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(awkward[f.rand.IntN(len(awkward))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + f.rand.Int64N(1<<40))
	default:
		t.Fatalf("fill a %s: teach the filler this kind", v.Type())
	}
}

func (f filler) fillPort(p *api.IntOrString) {
	if f.rand.IntN(2) == 0 {
		p.Int = 1 + f.rand.IntN(65535)
	} else {
		p.Str = fmt.Sprint(f.rand.IntN(100))
	}
}

// fullManifest has something in every field.
func fullManifest(t *testing.T) api.ContainerManifest {
	t.Helper()
	var m api.ContainerManifest
	filler{rand.New(rand.NewPCG(1, 2)), true}.fill(t, reflect.ValueOf(&m).Elem())
	return m
}

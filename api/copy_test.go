package api_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

func TestCloneIsEqualAndSharesNoMemory(t *testing.T) {
	m := fullManifest(t)
	clone := m.Clone()
	if diff := cmp.Diff(m, clone); diff != "" {
		t.Errorf("the clone differs (-manifest +clone):\n%s", diff)
	}
	checkApart(t, "manifest", reflect.ValueOf(m), reflect.ValueOf(clone))
}

func TestCloneOfNothingIsNothing(t *testing.T) {
	var m api.ContainerManifest
	if clone := m.Clone(); !reflect.DeepEqual(m, clone) {
		t.Errorf("got %#v", clone)
	}
}

func checkApart(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			checkApart(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() {
			t.Errorf("%s is empty: the test needs it filled", path)
			return
		}
		// All pointers to empty structs are the same, and nothing can be written there.
		if a.Pointer() == b.Pointer() && a.Type().Elem().Size() > 0 {
			t.Errorf("%s is shared", path)
		}
		switch a.Kind() {
		case reflect.Pointer:
			checkApart(t, path, a.Elem(), b.Elem())
		case reflect.Slice:
			checkApart(t, path+"[0]", a.Index(0), b.Index(0))
		}
	}
}

package api_test

import (
	"errors"
	"reflect"
	"testing"

	"kubelet14/api"
)

type (
	inside  struct{ Name string }
	outside struct{ Title string }
)

func newTestScheme() *api.Scheme {
	s := api.NewScheme()
	s.AddKnownTypes("v9", outside{})
	api.AddInternalConversion(s, "v9", func(in *outside, out *inside) error {
		if in.Title == "" {
			return errors.New("no title")
		}
		out.Name = in.Title
		return nil
	})
	api.AddExternalConversion(s, "v9", func(in *inside, out *outside) error {
		out.Title = in.Name
		return nil
	})
	return s
}

func TestSchemeConvertsByRegisteredFunctions(t *testing.T) {
	s := newTestScheme()
	for _, version := range []string{"v9", "V9"} {
		in, err := s.Internalize(version, &outside{"x"})
		out, err2 := s.Externalize(version, &inside{"x"})
		obj, err3 := s.New(version, "outside")
		text, err4 := s.Encode(version, &inside{"x"})
		got, want := []any{in, out, obj, string(text)}, []any{&inside{"x"}, &outside{"x"}, &outside{}, `{"Title":"x"}`}
		if err := errors.Join(err, err2, err3, err4); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", version, got, err)
		}
	}
	if got := s.Versions(); !reflect.DeepEqual(got, []string{"v9"}) {
		t.Errorf("versions: %v", got)
	}
}

// 2014's switch panicked for a type it did not know.
func TestSchemeReturnsAnErrorForWhatItDoesNotKnow(t *testing.T) {
	s := newTestScheme()
	for what, call := range map[string]func() (any, error){
		"new version":         func() (any, error) { return s.New("v8", "outside") },
		"new kind":            func() (any, error) { return s.New("v9", "inside") },
		"internalize version": func() (any, error) { return s.Internalize("v8", &outside{"x"}) },
		"internalize type":    func() (any, error) { return s.Internalize("v9", &inside{}) },
		"internalize a value": func() (any, error) { return s.Internalize("v9", outside{"x"}) },
		"internalize nothing": func() (any, error) { return s.Internalize("v9", nil) },
		"externalize version": func() (any, error) { return s.Externalize("v8", &inside{}) },
		"externalize type":    func() (any, error) { return s.Externalize("v9", &outside{}) },
		"encode version":      func() (any, error) { _, err := s.Encode("v8", &inside{}); return nil, err },
		"encode type":         func() (any, error) { _, err := s.Encode("v9", &outside{}); return nil, err },
		"error of conversion": func() (any, error) { return s.Internalize("v9", &outside{}) },
	} {
		if obj, err := call(); err == nil || obj != nil {
			t.Errorf("%s: got %v, %v", what, obj, err)
		}
	}
}

package api_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func TestEncodedIsReadBack(t *testing.T) {
	scheme := v1beta1.NewScheme()
	m := fullManifest(t)
	m.Version = "v1beta2"
	text, err := scheme.Encode("V1Beta2", &m)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := scheme.Decode("text", text)
	if err != nil || len(docs) != 1 || !reflect.DeepEqual(docs[0].Manifest, m) {
		t.Errorf("%s\nis read as %+v, %v", text, docs, err)
	}
}

func TestEncodeGivesAnErrorForWhatItCannotWrite(t *testing.T) {
	s := newTestScheme()
	api.AddExternalConversion(s, "v7", func(*inside, *map[string]any) error { return nil })
	api.AddExternalConversion(s, "v6", func(_ *inside, out *map[string]any) error {
		*out = map[string]any{"c": make(chan int)}
		return nil
	})
	if text, err := s.Encode("v7", &inside{}); err != nil || !json.Valid(text) {
		t.Errorf("got %s, %v", text, err)
	}
	for what, call := range map[string]func() ([]byte, error){
		"version it does not know": func() ([]byte, error) { return s.Encode("v8", &inside{}) },
		"type it does not know":    func() ([]byte, error) { return s.Encode("v9", &outside{}) },
		"type without JSON":        func() ([]byte, error) { return s.Encode("v6", &inside{}) },
	} {
		if text, err := call(); err == nil || text != nil {
			t.Errorf("%s: got %s, %v", what, text, err)
		}
	}
}

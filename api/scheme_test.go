package api_test

import (
	"testing"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/api/v1beta1"
)

// 2014's switch panicked for a type it did not know.
func TestSchemeReturnsAnErrorForWhatItDoesNotKnow(t *testing.T) {
	s, internal, wire := v1.NewScheme(), &api.ContainerManifest{}, &v1beta1.ContainerManifest{}
	oldName := &v1beta1.ContainerManifest{Containers: []v1beta1.Container{{Env: []v1beta1.EnvVar{{Key: "A"}}}}}
	for what, call := range map[string]func() (any, error){
		"new version":         func() (any, error) { return s.New("v9", "ContainerManifest") },
		"new kind":            func() (any, error) { return s.New("v1beta1", "Deployment") },
		"internalize version": func() (any, error) { return s.Internalize("v9", wire) },
		"internalize type":    func() (any, error) { return s.Internalize("v1beta1", internal) },
		"internalize a value": func() (any, error) { return s.Internalize("v1beta1", *wire) },
		"internalize nothing": func() (any, error) { return s.Internalize("v1beta1", nil) },
		"externalize version": func() (any, error) { return s.Externalize("v9", internal) },
		"externalize type":    func() (any, error) { return s.Externalize("v1beta1", wire) },
		"encode version":      func() (any, error) { _, err := s.Encode("v9", internal); return nil, err },
		"encode type":         func() (any, error) { _, err := s.Encode("v1beta1", wire); return nil, err },
		"error of conversion": func() (any, error) { return s.Internalize("v1beta2", oldName) },
	} {
		if obj, err := call(); err == nil || obj != nil {
			t.Errorf("%s: got %v, %v", what, obj, err)
		}
	}
}

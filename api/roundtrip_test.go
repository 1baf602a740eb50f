package api_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// TestRoundTripLosesNothing takes random manifests from internal to wire types
// to text and back. A field that a conversion forgets, or that has no json name,
// fails here.
func TestRoundTripLosesNothing(t *testing.T) {
	scheme := v1beta1.NewScheme()
	random := rand.New(rand.NewPCG(14, 14))
	for i := range 500 {
		f := filler{random, i == 0}
		for _, version := range scheme.Versions() {
			var m api.ContainerManifest
			f.fill(t, reflect.ValueOf(&m).Elem())
			m.Version = version

			wire := externalize(t, scheme, version, &m)
			if back, err := scheme.Internalize(version, wire); err != nil {
				t.Fatal(err)
			} else if diff := cmp.Diff(&m, back); diff != "" {
				t.Fatalf("through the wire type of %s (-before +after):\n%s", version, diff)
			}

			text, err := json.Marshal(wire)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := scheme.Decode("text", text)
			if err != nil {
				t.Fatalf("%s\nis not read: %v", text, err)
			}
			if diff := cmp.Diff(m, docs[0].Manifest); diff != "" {
				t.Fatalf("through the text %s\n(-before +after):\n%s", text, diff)
			}
		}
	}
}

func externalize(t *testing.T, scheme *api.Scheme, version string, obj any) any {
	t.Helper()
	wire, err := scheme.Externalize(version, obj)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

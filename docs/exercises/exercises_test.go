//go:build exercise

package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
)

// decode returns the manifest of a text with one.
func decode(text string) (*api.ContainerManifest, error) {
	docs, err := v1.NewScheme().Decode("a manifest", []byte(text), validation.Rules{}.Validate)
	if err != nil {
		return nil, err
	}
	return docs[0].Manifest, nil
}

func TestNotes(t *testing.T) {
	for _, of := range []reflect.Type{reflect.TypeFor[api.ContainerManifest](), reflect.TypeFor[v1beta1.ContainerManifest]()} {
		if f, ok := of.FieldByName("Notes"); !ok || f.Type != reflect.TypeFor[[]string]() {
			t.Fatalf("%v has no field Notes that is a list of strings", of)
		}
	}
	manifest, err := decode("version: v1beta1\nid: web\nnotes: [one, two]\ncontainers: []\n")
	if err != nil {
		t.Fatalf("a manifest with notes is refused: %v", err)
	}
	if notes := reflect.ValueOf(*manifest).FieldByName("Notes").Interface(); !reflect.DeepEqual(notes, []string{"one", "two"}) {
		t.Errorf("the notes [one, two] of a manifest become %q", notes)
	}
}

func TestConversionIsMissing(t *testing.T) {
	_, err := decode("version: v1beta1\nid: web\ncontainers: []\n")
	if err == nil {
		t.Error("a manifest of v1beta1 still becomes an internal one")
	} else if !strings.Contains(err.Error(), "no conversion of ") {
		t.Errorf("the error is another one: %v", err)
	}
}

func TestAliases(t *testing.T) {
	text, err := os.ReadFile("aliases.yaml")
	if err != nil {
		t.Fatal("there is no docs/exercises/aliases.yaml")
	}
	if n := strings.Count(strings.TrimSpace(string(text)), "\n") + 1; n > 10 {
		t.Fatalf("the manifest has %d lines", n)
	}
	if _, err = decode(string(text)); err == nil {
		t.Error("the manifest is accepted")
	} else if !strings.Contains(err.Error(), "aliases stand for") {
		t.Errorf("it is refused for another reason: %v", err)
	}
}

package main

import (
	"slices"
	"testing"
)

// The loop as a whole is tested by running docs/start-here.md.
func TestDecide(t *testing.T) {
	manifest, err := read("toy.json")
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string][]string{
		"":        {"run", "--detach", "--name", "c", "kubelet14/hello:1", "/hello", "sleep"},
		"created": {"start", "c"},
		"exited":  {"start", "c"},
		"running": nil,
	} {
		if got := decide("c", manifest, state); !slices.Equal(got, want) {
			t.Errorf("a container that is %q: %q, want %q", state, got, want)
		}
	}
}

package features_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"kubelet14/kubelet/features"
)

func TestGates(t *testing.T) {
	for _, test := range []struct {
		flags, on string // as flags that are given one after the other; the gates that are on
		set       string
	}{
		{"", "NodeLogQuery Services", ""},
		{"Eviction=true,", "Eviction NodeLogQuery Services", "Eviction=true"},
		{"AllAlpha=true", "AllAlpha Eviction ImageGarbageCollection NodeLogQuery Services", "AllAlpha=true"},
		{"AllAlpha=true, Services=false", "AllAlpha Eviction ImageGarbageCollection NodeLogQuery", "AllAlpha=true,Services=false"},
		{"Services=false AllAlpha=1", "AllAlpha Eviction ImageGarbageCollection NodeLogQuery", "AllAlpha=true,Services=false"},
		{"AllAlpha=false,Eviction=true", "Eviction NodeLogQuery Services", "AllAlpha=false,Eviction=true"},
		{"Eviction=true Services=true Eviction=false", "NodeLogQuery Services", "Eviction=false,Services=true"},
		{"NodeLogQuery=true", "NodeLogQuery Services", "NodeLogQuery=true"},
	} {
		var gates features.Gates
		for text := range strings.SplitSeq(strings.ReplaceAll(test.flags, ", ", ","), " ") {
			if err := gates.Set(text); err != nil {
				t.Errorf("%q: %v", test.flags, err)
			}
		}
		var on []string
		for _, gate := range slices.Sorted(maps.Keys(features.Stages)) {
			if gates.Enabled(gate) {
				on = append(on, gate)
			}
		}
		if got := strings.Join(on, " "); got != test.on || gates.String() != test.set {
			t.Errorf("%q turns on %q and is written %q, want %q and %q", test.flags, got, gates.String(), test.on, test.set)
		}
	}
}

func TestGatesThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"Evicton=true":             `unknown gate "Evicton": did you mean "Eviction"?`,
		"eviction=true":            `unknown gate "eviction": did you mean "Eviction"?`,
		"AllBeta=true":             `unknown gate "AllBeta": did you mean "AllAlpha"?`,
		"Eviction=true,Rooms=true": `unknown gate "Rooms": use AllAlpha, Eviction, ImageGarbageCollection, NodeLogQuery or Services`,
		"Eviction":                 "write Eviction=true or Eviction=false",
		"Eviction=on":              "write Eviction=true or Eviction=false",
		"NodeLogQuery=false":       "NodeLogQuery is locked and cannot be turned off: remove it",
	} {
		if err := new(features.Gates).Set(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

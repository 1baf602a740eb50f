package api_test

import (
	"testing"

	"kubelet14/api"
)

func TestFullNameIsReadFromTheRight(t *testing.T) {
	pod := api.Pod{Name: "web.example.com", Namespace: "default", Source: "file"}
	if full := pod.FullName(); full != "web.example.com.default.file" {
		t.Errorf("full name: %q", full)
	}
	name, namespace, source := api.SplitFullName(pod.FullName())
	if name != pod.Name || namespace != pod.Namespace || source != pod.Source {
		t.Errorf("split: %q %q %q", name, namespace, source)
	}
	for _, bad := range []string{"", "web", "web.file"} {
		if name, namespace, source := api.SplitFullName(bad); name+namespace+source != "" {
			t.Errorf("%q is taken for a full name", bad)
		}
	}
}

// A UID that moves makes every kubelet that is upgraded start all its pods anew.
func TestNewUIDNeverMoves(t *testing.T) {
	const want = "17da653a5de638e17b04b1232d2ea299"
	if got := api.NewUID("host", "file", "default", "web"); got != want {
		t.Errorf("got %q", got)
	}
	if api.NewUID("a", "bc", "d", "e") == api.NewUID("ab", "c", "d", "e") {
		t.Error("two places share a UID")
	}
}

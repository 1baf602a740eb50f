package api_test

import (
	"testing"
	"time"

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

func TestSourceStatusSaysHowTheSourceDoes(t *testing.T) {
	noon := time.Date(2014, 10, 21, 12, 0, 0, 0, time.Local)
	for want, status := range map[string]api.SourceStatus{
		"source http (http://x): not read yet": {},
		"source http (http://x): 2 pods":       {Pods: 2, LastSuccess: noon, LastError: "refused", LastErrorAt: noon.Add(-time.Minute)},
		"source http (http://x): 0 pods, failing since 12:00:00, not read whole since the start:\nrefused":    {FailingSince: noon, LastError: "refused"},
		"source http (http://x): 2 pods, failing since 12:00:01, last read whole at 12:00:00:\nrefused twice": {Pods: 2, LastSuccess: noon, FailingSince: noon.Add(time.Second), LastError: "refused twice"},
	} {
		status.Source, status.Place = "http", "http://x"
		if got := status.String(); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

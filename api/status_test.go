package api_test

import (
	"testing"
	"time"

	"kubelet14/api"
)

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

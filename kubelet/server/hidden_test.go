package server

import (
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// Whatever is asked, and by whomever, a value is only told to who asks for it by name.
func TestNoAnswerTellsAnEnvironmentValue(t *testing.T) {
	_, err := v1beta1.NewScheme().Decode("/etc/foo.yaml", []byte("version: v1beta1\ncontainers:\n- env: [{name: PASSWORD, value: s3cret}]\n  x: y\n"))
	k, _, options := fullKubelet(t)
	k.pods = withSecret().pods
	k.statuses[0].SourceError = err.Error()
	s := serve(t, k, options, func(o *Options) {
		o.Sources = func() []api.SourceStatus {
			return []api.SourceStatus{{Source: "file", FailingSince: noon, LastError: err.Error()}}
		}
	})
	if !strings.Contains(api.WithExcerpts(err), "s3cret") {
		t.Fatalf("the error does not hold the value: %v", err)
	}
	for _, route := range everyRoute {
		if route.request == "GET /boundPods?env=1" || route.request == "GET /status" && !strings.Contains(ask(t, s, "GET /status").body, "s3cret") {
			continue
		}
		if got := ask(t, s, route.request, withToken); got.status != 200 || strings.Contains(got.body, "s3cret") {
			t.Errorf("%s: it answers %d %s", route.request, got.status, got.body)
		}
	}
}

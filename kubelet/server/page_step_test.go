package server

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
)

// The page shows a waiting plan with its ticket, which allows it once.
func TestStepOnThePage(t *testing.T) {
	woken := 0
	stepper := &step.Stepper{Out: io.Discard, Wake: func() { woken++ }, Compare: func(*status.Pod) ([]trace.Row, []string) { return nil, nil }}
	pod := step.Plan{Pod: &status.Pod{Name: "web.default.file", Plan: plan.Plan{Steps: [][]plan.Action{{{Reason: "why"}}, {{}}}}}, ID: "1"}
	stepper.Ask(pod)
	k := &fakeKubelet{rows: map[string][]trace.Row{pod.Name: {{Container: "main", Sign: "≠", Plan: []trace.Act{{Step: 1, Do: "create", Attempt: 1, Reason: "why"}}}}}}
	s := serve(t, k, func(o *Options) { o.Step = stepper })
	doc := s.page(t)
	doc.shows("waiting-web.default.file", "", "The plan for web waits for you", "create attempt 1", "why", "Only step 1")
	button := doc.byID("first-web.default.file")
	ask := func(body string, set func(*http.Request)) int {
		return s.ask(t, "POST /step", withKey(s.key), set, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(body)) }).status
	}
	body := `{"id": "` + button.attr("data-id") + `", "pod": "web.default.file", "steps": "` + button.attr("data-steps") + `"}`
	for _, tt := range []struct {
		body string
		set  func(*http.Request)
		want int
	}{
		{strings.Replace(body, `"id": "`, `"id": "X`, 1), with(), http.StatusConflict},
		{strings.Replace(body, "first", "none", 1), with(), http.StatusBadRequest},
		{body, with("Origin", "http://127.0.0.1:8014"), http.StatusForbidden}, // a pod's own page
		{body, with("Sec-Fetch-Site", "same-site"), http.StatusForbidden},
		{body, with(), http.StatusNoContent},
		{body, with(), http.StatusConflict},
	} {
		if got := ask(tt.body, tt.set); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.body, got, tt.want)
		}
	}
	if steps := stepper.Allowed(pod); len(steps) != 1 || woken != 1 {
		t.Errorf("%d steps are allowed, and the loop is woken %d times", len(steps), woken)
	}
	if got := serve(t, k).ask(t, "POST /step", withToken); got.status != http.StatusNotFound {
		t.Errorf("without -step it answers %d", got.status)
	}
}

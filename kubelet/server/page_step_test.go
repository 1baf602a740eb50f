package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api"
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

// A button of the page breaks what it names by the command that it shows. Nothing else runs a command, and no other page does.
func TestBreakOnThePage(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "web's.yaml")
	writeFile(t, manifest, "containers: [{image: a, env: [{name: A, value: secret}, {name: B}]}]\n", 0o644)
	k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file", Place: dir}}}
	s := serve(t, k, func(o *Options) { o.Step = &step.Stepper{} })
	press := func(title string, set func(*http.Request), want int) {
		t.Helper()
		command := title
		for _, button := range s.page(t).byID("break").all("button") {
			if button.text() == title {
				command = button.attr("data-command")
			}
		}
		body, _ := json.Marshal(map[string]string{"command": command})
		got := s.ask(t, "POST /break", withKey(s.key), set, func(r *http.Request) { r.Body = io.NopCloser(bytes.NewReader(body)) })
		if got.status != want {
			t.Errorf("%s: %d %s, want %d", command, got.status, got.body, want)
		}
	}
	shows := func(name, want string) {
		t.Helper()
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, want %q: %v", name, text, want, err)
		}
	}
	press("Take away web's.yaml", with("Origin", "http://127.0.0.1:8014"), http.StatusForbidden) // a pod's own page
	press("Take away web's.yaml", with("Sec-Fetch-Site", "cross-site"), http.StatusForbidden)
	press("touch "+dir+"/made", with(), http.StatusConflict)
	press("Edit web's.yaml", with(), http.StatusNoContent)
	shows("web's.yaml", "value: hello from the class}, {name: B}]")
	press("Edit web's.yaml", with(), http.StatusNoContent)
	shows("web's.yaml", "value: hello from a student}")
	press("A typo in web's.yaml", with(), http.StatusNoContent)
	shows("web's.yaml", "imgae: a")
	press("Repair web's.yaml", with(), http.StatusNoContent)
	shows("web's.yaml", "image: a")
	writeFile(t, filepath.Join(dir, ".web's.yaml"), "of somebody", 0o644)
	press("Take away web's.yaml", with(), http.StatusConflict) // a file would be lost
	press("Bring back web's.yaml", with(), http.StatusConflict)
	if err := os.Remove(filepath.Join(dir, ".web's.yaml")); err != nil {
		t.Fatal(err)
	}
	press("Take away web's.yaml", with(), http.StatusNoContent)
	shows(".web's.yaml", "image: a")
	press("Bring back web's.yaml", with(), http.StatusNoContent)
	shows("web's.yaml", "image: a")

	// What a button shows can be typed.
	k.statuses = []api.PodStatus{{Name: "web", Containers: []api.ContainerStatus{{Name: "main", ContainerID: "0123456789abcdef", State: runningState(noon, "")}, {Name: "gone"}}}}
	doc := s.page(t)
	doc.shows("break", "", "Kill main of web docker kill 0123456789ab", "Take away web's.yaml mv '"+dir+`/web'\''s.yaml' '`+dir+`/.web'\''s.yaml'`)
	if strings.Contains(doc.text(), "Kill gone") || strings.Contains(doc.byID("break").text(), "secret") {
		t.Errorf("the page offers %s", doc.byID("break").text())
	}
	press("Kill main of web", with(), http.StatusBadGateway) // there is no such container
	s = serve(t, k)
	if got := s.ask(t, "POST /break", withToken); got.status != http.StatusNotFound || strings.Contains(s.page(t).text(), "docker kill") {
		t.Errorf("without -step it answers %d", got.status)
	}
}

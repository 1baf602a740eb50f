package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// A saved replay is for others: it needs no kubelet, and tells nothing of this host but the change.
func TestSavedReplay(t *testing.T) {
	k := everyKind()
	s := serve(t, k, func(o *Options) {
		o.Hostname, o.Debugging = "our-host", true
		o.Trace = traceOf(`it ended with exit code 3: "its password is \"1234\""; twice`, "web.default.file")
	})
	got := s.ask(t, "GET /changes/1?save=1&key="+s.key)
	if got.status != http.StatusOK || got.header.Get("Content-Disposition") != "attachment; filename=replay-1.html" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	for _, never := range []string{s.key, "1234", "our-host", "/etc", "containerLogs", k.statuses[0].Origin} {
		if at := strings.Index(got.body, never); at >= 0 {
			t.Errorf("it has %q: …%s…", never, got.body[max(0, at-60):at+60])
		}
	}
	root, err := html.Parse(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	doc := element{t, root}
	doc.shows("change-title", "", "Source file has errors")
	doc.shows("stages", "", "web.yaml", "plan for web", "it ended with exit code 3; twice")
	doc.shows("box-workers", "", "web")
	doc.shows("box-sources", "", "file")
	for _, e := range doc.all() {
		for _, a := range e.Attr {
			if e.Data == "link" || slices.Contains([]string{"src", "href"}, a.Key) && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s> has %s=%q", e.Data, a.Key, a.Val)
			}
		}
	}
	if got := s.ask(t, "GET /changes/1?save=1"); got.status != http.StatusUnauthorized {
		t.Errorf("without the key: %d", got.status)
	}
}

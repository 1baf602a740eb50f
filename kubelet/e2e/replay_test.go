package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"kubelet14/api/unittest"
)

var rewrite = flag.Bool("rewrite", false, "write docs/replay.html anew")

// docs/replay.html is the replay of an edit of the demo, as the page saves it.
func TestIntegrationReplayOfAnEdit(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	manifest, err := os.ReadFile("../../manifests/web.yaml")
	h.Must(err)
	text := strings.ReplaceAll(string(manifest), "8014", fmt.Sprint(freePort(t)))
	h.Write("web", text)
	p := h.Start()
	await := func(title string) (path string) {
		h.Await("the page has the change: "+title, func() error {
			page, err := p.Ask("GET", "/")
			found := regexp.MustCompile(`href="(/changes/\d+)[^>]*>` + title).FindStringSubmatch(page.Body)
			if err != nil || found == nil {
				return errors.Join(err, errors.New("it has not"))
			}
			path = found[1]
			return nil
		})
		return path
	}
	await("web.yaml is new")
	h.Write("web", strings.Replace(text, "hello from", "bye from", 1))
	got := p.MustAsk("GET", await("web.yaml was edited")+"?save=1").Body
	for _, never := range []string{"sidecar", h.Hostname, h.Dir} {
		if strings.Contains(got, never) {
			t.Errorf("the replay has %q in it", never)
		}
	}
	path := filepath.Join("..", "..", "docs", "replay.html")
	if *rewrite {
		h.Must(os.WriteFile(path, []byte(got), 0o644))
	}
	kept, err := os.ReadFile(path)
	h.Must(err)
	gotFrame, gotStages := readReplay(t, got)
	wantFrame, wantStages := readReplay(t, string(kept))
	n := 0
	for n < min(len(gotStages), len(wantStages)) && gotStages[n] == wantStages[n] {
		n++
	}
	if rest := [2][]string{gotStages[n:], wantStages[n:]}; gotFrame != wantFrame || len(rest[0])+len(rest[1]) > 0 {
		t.Errorf("%s is no longer what the page saves; make it anew: make picture. Its stages are now, from number %d on:\n%s\nand were:\n%s",
			path, n, strings.Join(rest[0], "\n"), strings.Join(rest[1], "\n"))
	}
}

// readReplay returns what is the same in all replays of one edit: the file without its stages, and the texts of those stages that always
// come. How often the loop looks while the worker is busy differs, and so do times.
func readReplay(t *testing.T, text string) (frame string, stages []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	unittest.Must(t, err)
	for n := range root.Descendants() {
		kind := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "data-kind" })
		if n.Data != "li" || kind < 0 || slices.Contains([]string{"event", "list", "listed", "skip"}, n.Attr[kind].Val) {
			continue
		}
		var words []string
		for part := range n.Descendants() {
			if part.Type == html.TextNode {
				words = append(words, strings.Fields(part.Data)...)
			}
		}
		told := strings.ReplaceAll(strings.Join(words, " "), " not listed yet", "")
		stages = append(stages, regexp.MustCompile(`\d+ ms`).ReplaceAllString(told, "N ms"))
	}
	return regexp.MustCompile(`(?s)<ol id="stages"[^>]*>.*?</ol>`).ReplaceAllString(text, ""), stages
}

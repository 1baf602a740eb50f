package server

import (
	"fmt"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"slices"

	"kubelet14/api"
)

// The styles and the script of a saved replay are in its file.
func pageStyle(name string) (template.CSS, error) {
	text, err := pageFiles.ReadFile(path.Join("page", name))
	return template.CSS(text), err
}

func pageScript(name string) (template.JS, error) {
	text, err := pageFiles.ReadFile(path.Join("page", name))
	return template.JS(text), err
}

// sourceLink is a link to the program, which a saved replay does not have beside it.
var sourceLink = regexp.MustCompile(`<a href="/source/[^"]*">(.*?)</a>`)

// writeReplay answers with a change as a file that plays without a kubelet and without a network. The file is for others too: of this
// host it has the change alone, and nothing that a container has printed.
func writeReplay(w http.ResponseWriter, c change) error {
	told := c.ForOthers()
	c.Change, c.Page = &told, &page{Saved: true}
	var sources []string
	for _, e := range c.Events {
		sources = append(sources, e.Source)
	}
	for _, name := range c.Pods() {
		pod := api.PodStatus{}
		pod.Name, pod.Namespace, pod.Source = api.SplitFullName(name)
		c.Page.Pods = append(c.Page.Pods, pod)
		sources = append(sources, pod.Source)
	}
	slices.Sort(sources)
	for _, source := range slices.Compact(sources) {
		if source != "" {
			c.Page.SourceList = append(c.Page.SourceList, api.SourceStatus{Source: source})
		}
	}
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=replay-%d.html", c.Number))
	text, err := render("replay.html", c)
	if err == nil {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err = w.Write(sourceLink.ReplaceAll(text, []byte("$1")))
	}
	return err
}

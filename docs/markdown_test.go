package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page is one file of Markdown.
type page struct {
	path   string // from this directory
	text   string // without the fenced blocks
	fences []fence
}

// fence is a block between lines of ```.
type fence struct {
	info string // the words after the opening ```, such as "sh run"
	line int    // of the opening ```
	body string
}

// pages reads all of docs/, and the two pages beside it.
func pages(t *testing.T) []page {
	t.Helper()
	paths, err := filepath.Glob("*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("find pages: %d, %v", len(paths), err)
	}
	var all []page
	for _, path := range append(paths, "../README.md", "../CONTRIBUTING.md") {
		all = append(all, readPage(t, path))
	}
	return all
}

func readPage(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := page{path: path}
	var open *fence
	for i, line := range strings.Split(string(data), "\n") {
		trimmed := strings.TrimSpace(line) // a block in a list is indented
		switch {
		case open == nil && strings.HasPrefix(trimmed, "```"):
			open = &fence{info: trimmed[3:], line: i + 1}
		case open == nil:
			p.text += line + "\n"
		case trimmed == "```":
			p.fences = append(p.fences, *open)
			open = nil
		default:
			open.body += line + "\n"
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block is never closed", path, open.line)
	}
	return p
}

// marked gives the blocks of one kind, such as "sh run".
func (p *page) marked(info string) []fence {
	var marked []fence
	for _, f := range p.fences {
		if f.info == info {
			marked = append(marked, f)
		}
	}
	return marked
}

var inBackticks = regexp.MustCompile("`([^`\n]+)`")

// spans gives what stands in backticks in the running text.
func (p *page) spans() []string {
	var spans []string
	for _, m := range inBackticks.FindAllStringSubmatch(p.text, -1) {
		spans = append(spans, m[1])
	}
	return spans
}

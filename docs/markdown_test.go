package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kubelet14/api/unittest"
)

// page is one file of Markdown.
type page struct {
	path   string // from this directory
	text   string // without the fenced blocks
	words  int    // with the fenced blocks, as wc -w counts them
	fences []fence
}

// fence is a block between lines of ```.
type fence struct {
	info string // the words after the opening ```, such as "sh run"
	line int    // of the opening ```
	body string
}

// pages reads all pages of this directory, those of the labs, and the two of the project's root.
func pages(t *testing.T) []page {
	t.Helper()
	paths, _ := filepath.Glob("*.md")
	labs, _ := filepath.Glob("labs/*.md")
	paths = append(paths, labs...)
	var all []page
	for _, path := range append(paths, "../README.md", "../CONTRIBUTING.md") {
		all = append(all, readPage(t, path))
	}
	return all
}

func readPage(t *testing.T, path string) page {
	t.Helper()
	data, err := os.ReadFile(path)
	unittest.Must(t, err)
	p := page{path: path, text: string(data), words: len(strings.Fields(string(data)))}
	block := regexp.MustCompile("(?ms)^ *```([^\n`]*)\n(.*?)^ *```\n") // a block in a list is indented
	for _, m := range block.FindAllStringSubmatchIndex(p.text, -1) {
		p.fences = append(p.fences, fence{p.text[m[2]:m[3]], strings.Count(p.text[:m[0]], "\n") + 1, p.text[m[4]:m[5]]})
	}
	if p.text = block.ReplaceAllString(p.text, ""); strings.Contains(p.text, "```") {
		t.Errorf("%s: a block is never closed", path)
	}
	return p
}

// marked returns the blocks of one kind, such as "sh run".
func (p page) marked(info string) []fence {
	var marked []fence
	for _, f := range p.fences {
		if f.info == info {
			marked = append(marked, f)
		}
	}
	return marked
}

// section returns the text between a heading and the next one of the same level.
func (p page) section(heading string) string {
	_, text, _ := strings.Cut(p.text, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// submatches returns what the first group of a pattern matches in a text.
func submatches(pattern, text string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

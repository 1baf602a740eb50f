package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inChinese are the pages that docs/zh must have.
var inChinese = strings.Fields(`README.md project.md start-here.md tour.md glossary.md teaching.md handout.md from-the-blog-posts.md
	356-podconfig.md 527-volumes-and-root-dir.md 551-private-kubelet.md 565-api-versions.md 588-pod-workers.md what-people-paste.md install.md chaos.md numbers.md
	labs/README.md labs/1-many.md labs/2-edits.md labs/3-crashes.md labs/4-pods.md labs/5-workers.md labs/6-promise.md`)

// chinesePages reads the pages in Chinese of a directory docs.
func chinesePages(t *testing.T, docs string) (all []page) {
	paths, _ := filepath.Glob(docs + "/zh/*.md")
	labs, _ := filepath.Glob(docs + "/zh/labs/*.md")
	for _, path := range append(paths, labs...) {
		all = append(all, readPage(t, path))
	}
	return all
}

func TestChinesePages(t *testing.T) {
	for _, name := range inChinese {
		readPage(t, "zh/"+name)
	}
	compareChinesePages(t, ".")
}

// compareChinesePages compares each page of docs/zh with the same page in English. The directory docs may be a student's.
func compareChinesePages(t *testing.T, docs string) {
	inBackticks := regexp.MustCompile("`([^`]+)`")
	printed := regexp.MustCompile(`^[\pL\d]\*+[^\pL\d*]|[^\pL\d*]\*+[\pL\d]$`) // not taken for emphasis
	for _, zh := range chinesePages(t, docs) {
		name, _ := filepath.Rel(filepath.Join(docs, "zh"), zh.path)
		up := strings.Repeat("../", strings.Count(name, "/")) // from a page to docs, and from its twin to docs/zh
		english, there, back := name, up+"zh/"+name, up+"../"+name
		if name == "project.md" {
			english, there, back = "../README.md", "docs/zh/project.md", "../../README.md"
		}
		en := readPage(t, filepath.Join(docs, english))
		for what, of := range map[string]func(page) []string{
			"blocks": func(p page) (all []string) {
				for _, f := range p.fences {
					all = append(all, f.info+"\n"+f.body)
				}
				return all
			},
			"lines": func(p page) []string { return submatches(`(?m)(^#+ |^\|[ \d]*|^\* |^\d\.|\d+,\d+|:\d{4,5})`, p.text) },
			"names in backticks": func(p page) (all []string) {
				for _, m := range inBackticks.FindAllStringSubmatch(p.text, -1) {
					all = append(all, strings.Join(strings.Fields(m[1]), " "))
				}
				return slices.Compact(slices.Sorted(slices.Values(all)))
			},
		} {
			want, got, i := of(en), of(zh), 0
			for i < min(len(want), len(got)) && want[i] == got[i] {
				i++
			}
			if i < max(len(want), len(got)) {
				t.Errorf("%s and %s have other %s, first:\n%q\n%q", en.path, zh.path, what, want[i:], got[i:])
			}
		}
		const below = `\A# .*\n\n\[\pL+\]\((.*)\)\n`
		if got := append(submatches(below, en.text), submatches(below, zh.text)...); !slices.Equal(got, []string{there, back}) {
			t.Errorf("%s and %s should lead to each other below their titles; the links are %q", en.path, zh.path, got)
		}
		for _, link := range submatches(`\]\(`+regexp.QuoteMeta(up+"../")+`([\w/-]+\.md)`, zh.text) {
			if slices.Contains(inChinese, link) && link != name {
				t.Errorf("%s: %s leads away from its page in Chinese", zh.path, link)
			}
		}
		for _, text := range submatches(`([\pL\d]?\*+[^*\s][^*]*\*+[\pL\d]?)`, inBackticks.ReplaceAllString(zh.text, "`")) {
			if printed.MatchString(text) {
				t.Errorf("%s: a browser shows the asterisks of %s", zh.path, text)
			}
		}
	}
}

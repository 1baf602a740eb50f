package docs

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kubelet14/api/v1"
	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
	"kubelet14/kubelet/options"
)

func TestNamesInBackticksExist(t *testing.T) {
	n := readNames(t)
	for _, p := range append(pages(t), chinesePages(t, ".")...) {
		commands := submatches("`([^`\n]+)`", p.text)
		for _, span := range commands {
			if !n.has(span) {
				t.Errorf("%s: `%s` does not exist", p.path, span)
			}
		}
		for _, f := range append(p.marked("sh"), p.marked("sh run")...) {
			commands = append(commands, strings.Split(f.body, "\n")...)
		}
		for _, command := range commands {
			if edit := regexp.MustCompile(`^sed -i '(s/.*/)' (\S+\.go)$`).FindStringSubmatch(command); edit != nil {
				if out, err := exec.Command("sed", "-n", edit[1]+"p", "../"+edit[2]).Output(); err != nil || len(out) == 0 {
					t.Errorf("%s: %q changes nothing: %v", p.path, command, err)
				}
			}
			for _, word := range submatches(`^\s*(?:sudo )?(?:\./)?kubelet14 ([a-z]+)`, command) {
				if word != "help" && !slices.Contains(n.words, word) {
					t.Errorf("%s: %q: there is no word %s", p.path, command, word)
				}
			}
			named := submatches(`\b((?:Test|Fuzz|Benchmark)[A-Z]\w*)`, command)
			for _, flags := range submatches(`^\s*(?:sudo )?(?:\$KUBELET|\./kubelet14|kubelet14|go run \.)( -[^|;&<>]*)`, command) {
				named = append(named, submatches(`(?:^|\s)(-[a-z][a-z_]*)`, flags)...)
			}
			for _, name := range named {
				if !n.has(name) {
					t.Errorf("%s: %q: there is no %s", p.path, command, name)
				}
			}
		}
	}
}

// notOurs are parts of messages of Docker, registries, etcd and Go.
var notOurs = []string{
	"No command specified", "exec:", "manifest unknown", "name unknown", "repository does not exist", "failed to resolve reference",
	"unauthorized", "no basic auth credentials", "certificate signed by unknown authority", "remote error: tls",
	"etcdserver: permission denied", "etcdserver: user name is empty",
}

func TestOperatorsPageIsComplete(t *testing.T) {
	n, p := readNames(t), readPage(t, "operators.md")

	for _, reason := range n.reasons {
		if !regexp.MustCompile(`(?m)^\| (\w+, )*` + reason + `[, ]`).MatchString(p.text) {
			t.Errorf("its table lacks the reason %s", reason)
		}
	}
	manifests := map[bool]string{} // whether it is a Pod of v1
	for _, f := range p.marked("yaml") {
		manifests[strings.Contains(f.body, "\nkind: Pod\n")] += f.body
	}
	for isPod, wire := range map[bool]reflect.Type{false: reflect.TypeFor[v1beta1.ContainerManifest](), true: reflect.TypeFor[v1.Pod]()} {
		fields := map[string]bool{}
		addFields(fields, wire)
		for name := range fields {
			if !regexp.MustCompile(`\b` + name + `:`).MatchString(manifests[isPod]) {
				t.Errorf("no manifest has the field %s of %s", name, wire)
			}
		}
	}
	settings := map[string]bool{}
	addFields(settings, reflect.TypeFor[options.KubeletConfiguration]())
	for name := range settings {
		if !strings.Contains(p.marked("yaml settings")[0].body, name+":") {
			t.Errorf("its file of settings lacks the field %s", name)
		}
	}
	rows := submatches(`(?m)^\| (.*?) \|`, p.section("Messages"))
	for _, row := range rows[1:] { // without the head of the table
		row = regexp.MustCompile(`^[45]\d\d, `).ReplaceAllString(row, "")
		for _, words := range regexp.MustCompile(`, | … `).Split(row, -1) {
			if !strings.Contains(n.texts, words) && !slices.Contains(notOurs, words) {
				t.Errorf("no message has the words %q", words)
			}
		}
	}
}

// addFields adds the names of the fields of a wire type, and of all that it is made of.
func addFields(fields map[string]bool, wire reflect.Type) {
	for wire.Kind() == reflect.Pointer || wire.Kind() == reflect.Slice {
		wire = wire.Elem()
	}
	for i := 0; wire.Kind() == reflect.Struct && i < wire.NumField(); i++ {
		if name, _, _ := strings.Cut(wire.Field(i).Tag.Get("json"), ","); name != "" {
			fields[name] = true
			addFields(fields, wire.Field(i).Type)
		}
	}
}

func TestBlocksAreWhatTheyAreMarkedAs(t *testing.T) {
	scheme, rules := v1.NewScheme(), validation.Rules{AllowPrivileged: true}
	v1.AddServices(scheme, true)
	for _, p := range pages(t) {
		for _, f := range p.fences {
			switch f.info {
			case "text", "text see", "go", "mermaid":
			case "sh", "sh run":
				cmd := exec.Command("bash", "-n")
				cmd.Stdin = strings.NewReader(f.body)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s:%d: %v\n%s", p.path, f.line, err, out)
				}
			case "yaml", "yaml bad":
				_, err := scheme.Decode(p.path, []byte(f.body), rules.Validate)
				if (err != nil) != (f.info == "yaml bad") {
					t.Errorf("%s:%d: the manifest is marked %q, and loading it gives: %v", p.path, f.line, f.info, err)
				}
			case "yaml settings":
				path := filepath.Join(t.TempDir(), "kubelet.yaml")
				err := os.WriteFile(path, []byte(f.body), 0o644)
				if _, errParse := options.Parse("", []string{"-config_file=" + path}); err != nil || errParse != nil {
					t.Errorf("%s:%d: %v, %v", p.path, f.line, err, errParse)
				}
			default:
				t.Errorf("%s:%d: no block is marked %q", p.path, f.line, f.info)
			}
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range append(pages(t), chinesePages(t, ".")...) {
		for _, link := range submatches(`\]\(([^)\s]+)\)`, p.text) {
			u, err := url.Parse(link)
			if err != nil || u.Scheme != "" { // the tests need no network
				continue
			}
			path := p.path
			if u.Path != "" {
				path = filepath.Join(filepath.Dir(p.path), u.Path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link %q: %v", p.path, link, err)
			}
			isIt := func(heading string) bool {
				heading = regexp.MustCompile(`[^\pL0-9 _-]`).ReplaceAllString(strings.ToLower(heading), "")
				return strings.ReplaceAll(heading, " ", "-") == u.Fragment
			}
			if u.Fragment != "" && !slices.ContainsFunc(submatches(`(?m)^#+ (.*)$`, readPage(t, path).text), isIt) {
				t.Errorf("%s: link %q leads to no heading", p.path, link)
			}
		}
	}
}

func TestDependenciesAreExplained(t *testing.T) {
	gomod, _ := os.ReadFile("../go.mod")
	for _, module := range submatches(`(?m)^\t(\S+) v\S+$`, string(gomod)) { // without those marked indirect
		if !strings.Contains(readPage(t, "dependencies.md").text, module) {
			t.Errorf("dependencies.md lacks %s", module)
		}
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return n
}

// TestSizes adds up the afternoon of README.md, and counts what the project's README states.
func TestSizes(t *testing.T) {
	p, all := readPage(t, "README.md"), 0
	afternoon := p.section("An afternoon")
	minutes, words, lines, files := 0, 0, 0, 0
	for _, row := range submatches(`(?m)^\| (\d+ min \|.*)`, afternoon) {
		stated, _, _ := strings.Cut(row, " ")
		rowWords, rowLines := 0, 0
		for _, path := range submatches(`\]\(([\w./-]+\.md)\)`, row) {
			rowWords += readPage(t, path).words
		}
		for _, path := range submatches("`([\\w/]+\\.go)`", row) {
			data, _ := os.ReadFile(filepath.Join("..", path)) // TestNamesInBackticksExist finds those that are missing
			rowLines += strings.Count(string(data), "\n")
			files++
		}
		if takes := rowWords/200 + rowLines/12; number(stated) < takes-2 {
			t.Errorf("this row takes %d minutes: %s", takes, row)
		}
		minutes, words, lines = minutes+number(stated), words+rowWords, lines+rowLines
	}
	if minutes == 0 || minutes > 6*60 || words > 12_000 || lines > 3_200 || files > 25 {
		t.Errorf("an afternoon is at most 6 hours, 12,000 words, 3,200 lines and 25 files; this is %d minutes, %d words, %d lines and %d files",
			minutes, words, lines, files)
	}
	for _, other := range pages(t) {
		all += other.words
		if !strings.Contains(p.text+readPage(t, "zh/README.md").text, "("+other.path) && other.path != p.path {
			t.Errorf("the reading order lacks %s", other.path)
		}
	}
	n, root := readNames(t), readPage(t, "../README.md")
	stated := submatches(`([\d,]+) (?:lines|words|of them)`, root.section("Size"))
	for i, size := range []int{n.lines[false], lines, n.lines[true], all, words} {
		if n := number(stated[i]); n < size*97/100 || n > size*103/100 {
			t.Errorf("%s states %s, and it is %d", root.path, stated[i], size)
		}
	}
}

package docs

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
)

func TestNamesInBackticksExist(t *testing.T) {
	m := readModule(t)
	for _, p := range pages(t) {
		for _, span := range p.spans() {
			if err := m.problem(span); err != nil {
				t.Errorf("%s: `%s`: %v", p.path, span, err)
			}
		}
		for line := range strings.Lines(p.text) {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s: words in backticks go over the end of a line: %s", p.path, line)
			}
		}
	}
}

// Commands are not names, but tests and flags in them are.
func TestCommandsNameTestsAndFlagsThatExist(t *testing.T) {
	m := readModule(t)
	testName := regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w*`)
	kubelet := regexp.MustCompile(`^(sudo )?(\$KUBELET|\./kubelet14|kubelet14|go run \.)( -[^|;&<>]*)`)
	for _, p := range pages(t) {
		commands := p.spans()
		for _, f := range append(p.marked("sh"), p.marked("sh run")...) {
			commands = append(commands, strings.Split(f.body, "\n")...)
		}
		for _, command := range commands {
			for _, name := range testName.FindAllString(command, -1) {
				if !m.names[name] {
					t.Errorf("%s: %q: there is no %s", p.path, command, name)
				}
			}
			parts := kubelet.FindStringSubmatch(strings.TrimSpace(command))
			if parts == nil {
				continue
			}
			for word := range strings.FieldsSeq(parts[3]) {
				if f := flagSpan.FindStringSubmatch(word); f != nil {
					if err := m.flagProblem(f[1]); err != nil {
						t.Errorf("%s: %q: %v", p.path, command, err)
					}
				}
			}
		}
	}
}

func TestOperatorsPageNamesEveryFlagFieldAndReason(t *testing.T) {
	m, p := readModule(t), readPage(t, "operators.md")
	for name := range m.flags {
		if !strings.Contains(p.text, "| `-"+name+"` |") {
			t.Errorf("%s: its table lacks the flag -%s", p.path, name)
		}
	}
	for reason := range m.reasons {
		if !regexp.MustCompile(`(?m)^\| (\w+, )*` + reason + `[, ]`).MatchString(p.text) {
			t.Errorf("%s: its table lacks the reason %s", p.path, reason)
		}
	}
	var manifests string
	for _, f := range p.marked("yaml") {
		manifests += f.body
	}
	for _, name := range fieldsOf(reflect.TypeFor[v1beta1.ContainerManifest]()) {
		if !strings.Contains(manifests, name+":") {
			t.Errorf("%s: no manifest has the field %s", p.path, name)
		}
	}
}

// saidByOthers are words of Docker, of a registry, of etcd and of Go that the
// kubelet passes on.
var saidByOthers = []string{
	"No such image", "No command specified", "exec:", "manifest unknown", "name unknown", "repository does not exist",
	"unauthorized", "no basic auth credentials", "certificate signed by unknown authority",
	"etcdserver: permission denied", "etcdserver: user name is empty", "Method Not Allowed",
}

// Who has a message before him looks for its words.
func TestOperatorsPageQuotesWhatIsSaid(t *testing.T) {
	m, p := readModule(t), readPage(t, "operators.md")
	_, table, _ := strings.Cut(p.text, "\n| words of the message | what to do |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	status := regexp.MustCompile(`^[45]\d\d, `)
	for _, row := range rows {
		said, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		for _, words := range regexp.MustCompile(`, | … `).Split(status.ReplaceAllString(said, ""), -1) {
			if !strings.Contains(m.texts, words) && !slices.Contains(saidByOthers, words) {
				t.Errorf("%s: nothing says %q", p.path, words)
			}
		}
	}
	if len(rows) < 10 {
		t.Errorf("%s: its table of messages was not found", p.path)
	}
}

// fieldsOf gives the names in manifests of all fields in and below a type.
func fieldsOf(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return fieldsOf(t.Elem())
	case reflect.Struct:
		var names []string
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "persistentDisk" && name != "gitRepo" { // the two are there to be refused
				names = append(append(names, name), fieldsOf(f.Type)...)
			}
		}
		return names
	}
	return nil
}

func TestManifestsLoadOrAreRefusedAsTheyAreMarked(t *testing.T) {
	scheme, rules := v1beta1.NewScheme(), validation.Rules{AllowPrivileged: true}
	for _, p := range pages(t) {
		for _, f := range p.fences {
			if word, _, _ := strings.Cut(f.info, " "); word != "yaml" {
				continue
			}
			docs, err := scheme.Decode(p.path, []byte(f.body))
			refused := err != nil
			for _, doc := range docs {
				if errs := rules.ValidateManifest(&doc.Manifest); len(errs) > 0 {
					refused, err = true, errs
				}
			}
			switch {
			case f.info == "yaml bad" && !refused:
				t.Errorf("%s:%d: this manifest is shown as a bad one, and loads:\n%s", p.path, f.line, f.body)
			case f.info == "yaml" && refused:
				t.Errorf("%s:%d: this manifest does not load:\n%v", p.path, f.line, err)
			}
		}
	}
}

func TestBlocksAreOfAKnownKind(t *testing.T) {
	kinds := []string{"sh", "sh run", "text", "text see", "go", "yaml", "yaml bad", "mermaid"}
	for _, p := range pages(t) {
		for _, f := range p.fences {
			if !slices.Contains(kinds, f.info) {
				t.Errorf("%s:%d: a block is marked %q, which is none of %q", p.path, f.line, f.info, kinds)
			}
		}
		if len(p.marked("text see")) > 0 && len(p.marked("sh run")) == 0 && p.path != "../README.md" {
			t.Errorf("%s: it shows what is printed, and runs nothing", p.path)
		}
	}
}

func TestShellIsBash(t *testing.T) {
	for _, p := range pages(t) {
		for _, f := range append(p.marked("sh"), p.marked("sh run")...) {
			cmd := exec.Command("bash", "-n")
			cmd.Stdin = strings.NewReader(f.body)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v\n%s", p.path, f.line, err, out)
			}
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", p.path, m[1], err)
				continue
			}
			if u.Scheme != "" {
				continue // elsewhere; the tests need no network
			}
			path := p.path
			if u.Path != "" {
				path = filepath.Join(filepath.Dir(p.path), u.Path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link %q: %v", p.path, m[1], err)
			} else if u.Fragment != "" && !anchors(readPage(t, path))[u.Fragment] {
				t.Errorf("%s: link %q leads to no heading", p.path, m[1])
			}
		}
	}
}

// anchors gives the headings of a page as links name them.
func anchors(p page) map[string]bool {
	anchors := map[string]bool{}
	notInAnchor := regexp.MustCompile(`[^a-z0-9 _-]`)
	for line := range strings.Lines(p.text) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			heading = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			anchors[strings.ReplaceAll(heading, " ", "-")] = true
		}
	}
	return anchors
}

func TestDiagramsAreWhole(t *testing.T) {
	kinds := []string{"flowchart", "sequenceDiagram", "stateDiagram-v2"}
	for _, p := range pages(t) {
		for _, f := range p.marked("mermaid") {
			if kind := strings.Fields(f.body)[0]; !slices.Contains(kinds, kind) {
				t.Errorf("%s:%d: a diagram of kind %q", p.path, f.line, kind)
			}
			for line := range strings.Lines(f.body) {
				for _, pair := range []string{"()", "[]", "{}"} {
					if strings.Count(line, pair[:1]) != strings.Count(line, pair[1:]) || strings.Count(line, `"`)%2 != 0 {
						t.Errorf("%s:%d: a bracket or a quote stays open: %s", p.path, f.line, line)
					}
				}
			}
		}
	}
}

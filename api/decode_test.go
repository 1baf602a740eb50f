package api_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
)

func decode(text string) ([]api.Document, error) {
	return v1.NewScheme().Decode("f", []byte(text), nil)
}

// problems returns what Decode says is wrong, each alone.
func problems(err error) api.Mistakes {
	if source, ok := err.(*api.SourceError); ok {
		return source.Mistakes
	}
	return nil
}

// needsContainers is said of a manifest without them.
const needsContainers = `required value '': write "containers:" and what is to run; a pod of its network container alone is written "containers: []"`

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if !cmp.Equal(want, got) {
		t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, got))
	}
}

// mustDecode reads a text of one manifest.
func mustDecode(t *testing.T, text string) api.ContainerManifest {
	t.Helper()
	docs, err := decode(text)
	if err != nil || len(docs) != 1 {
		t.Fatalf("decode:\n%s\ngives %d manifests, %v", text, len(docs), err)
	}
	return *docs[0].Manifest
}

func TestYAMLAndJSONSayTheSame(t *testing.T) {
	const blocks = `
version: v1beta1
id: web
containers:
- name: main
  image: a/b:1
  command: [sh, -c, exit 1]
  memory: 67108864
  env:
  - {name: SLASH, value: "a/b\té😀"}
  - name: EMPTY
    value: ""
restartPolicy:
  never: {}
`
	want := api.ContainerManifest{
		Version: "v1beta1", ID: "web", RestartPolicy: api.RestartPolicy{Never: &api.RestartPolicyNever{}},
		Containers: []api.Container{{
			Name: "main", Image: "a/b:1", Command: []string{"sh", "-c", "exit 1"}, Memory: 64 << 20,
			Env: []api.EnvVar{{Name: "SLASH", Value: "a/b\té😀"}, {Name: "EMPTY"}},
		}},
	}
	for name, text := range map[string]string{
		"blocks":   blocks,
		"any case": strings.Replace(blocks, "v1beta1", "V1Beta1", 1),
		"windows":  "\ufeff" + strings.ReplaceAll(blocks, "\n", "\r\n"),
		"json": `{"version": "v1beta1", "id": "web", "uuid": "", "volumes": null, "containers": [{
	"name": "main", "image": "a\/b:1", "command": ["sh", "-c", "exit 1"], "memory": 67108864, "privileged": false,
	"env": [{"name": "SLASH", "value": "a/b\t\u00e9\ud83d\ude00"}, {"name": "EMPTY", "value": ""}], "livenessProbe": null
}], "restartPolicy": {"always": null, "never": {}}}`,
	} {
		same(t, name, want, mustDecode(t, text))
	}
}

func TestStringsStayAsWritten(t *testing.T) {
	for written, want := range map[string]string{
		`"1.10"`: "1.10", `no`: "no", `yes`: "yes", `12:30`: "12:30", `2014-10-01`: "2014-10-01", `1.2.3`: "1.2.3",
		"|\n  a\n  b\n": "a\nb\n", ">-\n  a\n  b\n": "a b", "'it''s'": "it's", "a # b": "a", `"#"`: "#", `""`: "", "null": "",
	} {
		if got := mustDecode(t, "version: v1beta1\ncontainers: []\nid: "+written+"\n").ID; got != want {
			t.Errorf("id: %s\nis %q", written, got)
		}
	}
}

func TestEachYAMLDocumentIsAManifest(t *testing.T) {
	const text = "# all of them\n---\nversion: v1beta1\nid: a\ncontainers: []\n---\n---\n# nothing here\n---\nversion: v1beta1\nid: b\n...\n" +
		"version: v1beta1\nid: c\ncontainers: null\n---\nversion: v1beta1\nidd: d\n---\n"
	docs, err := decode(strings.Replace(strings.Replace(text, "id: b", "id: b\ncontainers: []", 1), "idd: d", "id: d\ncontainers: []", 1))
	unittest.Must(t, err)
	var got []string
	for _, d := range docs {
		got = append(got, d.Manifest.ID+" "+d.Where)
	}
	same(t, "manifests", []string{"a document 1", "b document 2", "c document 3", "d document 4"}, got)
	docs, err = decode(text)
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(docs) > 0 || len(lines) != 2 || !strings.HasPrefix(lines[0], "f:10:1: containers: ") || !strings.HasPrefix(lines[1], "f:18:1: idd: ") {
		t.Errorf("%d manifests, and %v", len(docs), err)
	}
}

// Each row has one error. What follows "f:" is its first line. What users meet most is in config/testdata/manifests.
func TestDecodeRefuses(t *testing.T) {
	const head = "version: v1beta1\n"
	const topLevel = `the fields here are version, id, uuid, volumes, containers, restartPolicy`
	for name, tt := range map[string]struct{ text, want string }{
		"today's name":      {head + "volumes:\n- source: {hostPath: {}}\n", `3:12: volumes[0].source.hostPath: not supported: 2014 called it hostDir`},
		"kind in plural":    {"apiVersion: v1\nkind: Pods\n", `2:7: kind: unsupported value 'Pods': did you mean "Pod"?`},
		"field of nothing":  {head + "restartPolicy: {never: {max: 1}}\n", `2:25: restartPolicy.never.max: unknown field: there are no fields here, write {}`},
		"list as a key":     {head + "? [id]\n: a\n", `2:3: unknown field: ` + topLevel},
		"number for string": {"version: 1\n", `1:10: version: needs a string, but 1 is a number: put quotes around it, "1"`},
		"template":          {head + "id: {{ .ID }}\n", `2:5: id: needs a string, but this is a mapping; this looks like a template: render it first, as with helm template`},
		"template's if":     {"{{- if .Values.x }}\n" + head, `1:3: this looks like a template: render it first, as with helm template`},
		"2014 has no Mi":    {head + "containers: [{memory: 64Mi}]\n", `2:23: containers[0].memory: needs a whole number, and 64Mi is none: write 67108864`},
		"2014's cores":      {head + "containers: [{cpu: 0.5}]\n", `2:20: containers[0].cpu: needs a whole number, and 0.5 is none: write 500`},
		"2014 has no args":  {head + "containers: [{args: [a]}]\n", `2:15: containers[0].args: not supported: write them in command, which follows the image's entrypoint`},
		"readinessProbe":    {head + "containers: [{readinessProbe: {exec: {}}}]\n", "2:15: containers[0].readinessProbe: not supported: a v1 Pod can have it"},
		"entrypoint":        {head + "containers: [{entrypoint: [a]}]\n", `2:15: containers[0].entrypoint: not supported: it is the image's; a v1 Pod can replace it`},
		"resources":         {head + "containers: [{resources: {}}]\n", `2:15: containers[0].resources: not supported: 2014 has memory in bytes and cpu in thousandths of a core beside the name`},
		"string for number": {head + "containers: [{cpu: \"5\"}]\n", `2:20: containers[0].cpu: needs a number, but this is a string: remove the quotes`},
		"list for number":   {head + "containers: [{cpu: []}]\n", `2:20: containers[0].cpu: needs a whole number, but this is a list`},
		"octal":             {head + "containers: [{cpu: 010}]\n", `2:20: containers[0].cpu: write 010 as a plain decimal number`},
		"endless digits":    {head + "containers: [{cpu: 99999999999999999999999999}]\n", `2:20: containers[0].cpu: this number is too big`},
		"port as a list": {head + "containers: [{livenessProbe: {tcpSocket: {port: []}}}]\n",
			`2:49: containers[0].livenessProbe.tcpSocket.port: needs a port number or the name of a port, but this is a list`},
		"no list":             {head + "containers:\n", `2:12: containers: there is no value: write [] for none`},
		"no item":             {head + "containers: [{command: [null]}]\n", `2:25: containers[0].command[0]: there is no value: write "" or remove it`},
		"NUL in quotes":       {head + "id: \"\\0\"\n", `2:5: id: a string cannot hold the character NUL`},
		"tag":                 {head + "id: !!str 1\n", `2:5: id: tags are not supported: remove the word that begins with '!'`},
		"tag of all":          {"--- !a\n" + head, `1:5: tags are not supported: remove the word that begins with '!'`},
		"tag that is none":    {head + "id: !a!b c\n", `2:5: YAML syntax: tags (!) are not supported; put quotes around text that begins with '!'`},
		"unknown alias":       {head + "id: *a\n", `2:5: YAML syntax: this alias (*) has no anchor (&) before it; put quotes around text that begins with '*'`},
		"another's alias":     {head + "id: &a b\n---\n" + head + "id: *a\n", `5:5: YAML syntax: this alias (*) has no anchor (&) before it; put quotes around text that begins with '*'`},
		"alias of itself":     {head + "containers: &a [*a]\n", `2:13: containers[0]: needs a mapping, but this is a list`},
		"merge key":           {head + "volumes:\n- &v {name: v}\n- <<: *v\n", `4:3: volumes[1]: merge keys (<<) are not supported: write the fields out`},
		"misspelt containers": {head + "contaners: []\n", `2:1: contaners: unknown field: did you mean "containers"?`},
		"latin-1":             {head + "id: caf\xe9\n", ` this is not text: line 2: incomplete UTF-8 octet sequence; a manifest is YAML or JSON in UTF-8`},
		"old Mac":             {"version: v1beta1\rid: a\ridd: b\r", `3:1: idd: unknown field: did you mean "id"?`},
		"reserved character":  {head + "id: @ID@\n", `2:5: YAML syntax: no value begins with this character; put quotes around the text`},
		"a bar in front":      {head + "id: |x\n", `2:6: YAML syntax: put quotes around text that begins with '|' or '>'`},
		"a colon in text":     {head + "id: a: b\n", `2:6: YAML syntax: there cannot be a ':' here; look at the indentation, or put quotes around the text`},
		"no colon":            {head + "id\ncontainers: []\n", `2:1: YAML syntax: there may be a ':' missing`},
		"open brace":          {head + "containers:\n- {name: a,\n", `3:11: YAML syntax: a value or a closing bracket is missing`},
		"open bracket":        {head + "id: [a\ncontainers: []\n", `3:11: YAML syntax: a ',' or a closing bracket is missing`},
		"open quote":          {head + "id: \"a\ncontainers: []\n", `2:5: YAML syntax: a closing quote is missing`},
		"backslash":           {head + "id: \"\\s\"\n", `2:6: YAML syntax: this backslash has no meaning; in single quotes it stands for itself`},
		"text after JSON":     {"{} []", `1:4: YAML syntax: this belongs to nothing; look at the indentation of this line and the one before`},
		"directive":           {"%YAML 1.2\n---\n" + head, `1:1: YAML syntax: remove the line that begins with %YAML`},
		"one byte too much":   {head + "#" + strings.Repeat("x", api.MaxManifestBytes-len(head)), ` too many bytes: the limit is 1572864`},
	} {
		docs, err := decode(tt.text)
		if len(problems(err)) != 1 || err.Error() != "f:"+tt.want {
			t.Errorf("%s: %d manifests, and\n%v\nwant f:%s", name, len(docs), err, tt.want)
		}
	}
}

func TestACheckPointsAtTheNearestThingThatIsThere(t *testing.T) {
	const manifest = "version: v1beta1\n  containers:\n  - image: a\n    env:\n    - key: A\n      value: b\n    volumeMounts: []\n"
	for _, form := range []struct{ text, path string }{
		{"#\n#\n#\n  " + manifest, ""},
		{"#\n#\n#\n- " + manifest, "[0]"},
		{listObject + "items:\n- " + manifest, "items[0]"},
	} {
		for field, want := range map[string]string{
			"":                               "4:3",
			"version":                        "4:12",
			"id":                             "4:3",
			"nothing[3].like.this":           "4:3",
			"containers":                     "6:3",
			"containers[0].image":            "6:12",
			"containers[0].name":             "6:5",
			"containers[0].env[0].value":     "9:14",
			"containers[0].env[0].name":      "8:7", // written by its old name, key
			"containers[0].env[1].name":      "8:5",
			"containers[0].volumeMounts[0]":  "10:19",
			"containers[1].livenessProbe[0]": "6:3",
		} {
			docs, err := v1.NewScheme().Decode("f", []byte(form.text), func(api.Document) api.Mistakes {
				return api.Mistakes{{Field: field, Text: "wrong"}}
			})
			path := strings.Trim(form.path+"."+field, ".")
			want := strings.ReplaceAll("f:"+want+": "+path+": wrong", ": : ", ": ")
			if len(docs) > 0 || err == nil || err.Error() != want {
				t.Errorf("%q: %d manifests and %v, want %s", field, len(docs), err, want)
			}
		}
	}
}

func TestTooManyProblemsAreCutShort(t *testing.T) {
	container := "version: v1beta2\ncontainers:\n- env:\n"
	for name, text := range map[string]string{
		"of the decoder":      container + strings.Repeat("  - name: 1\n", 1000),
		"of the conversion":   container + strings.Repeat("  - key: A\n", 1000),
		"of many documents":   strings.Repeat("version: v3\n---\n", 1000),
		"of one list's items": strings.Repeat("- version: v3\n", 1000),
	} {
		_, err := decode(text)
		if all := problems(err); len(all) != 51 || all[50].Text != "there are more problems; fix these first" || all[50].Line != 0 {
			t.Errorf("%s: %d problems: %v", name, len(all), err)
		}
	}
}

// No text of the size that is allowed may cost much, however odd its shape: here are those
// that cost most, and those that other parsers are slow at. A parser that takes time with the
// square of the length runs into the time limit of go test.
func TestHostileTextsAreBounded(t *testing.T) {
	command := "command: &c [" + strings.Repeat("a,", 5000) + "]"
	for name, text := range map[string]struct{ before, again, after string }{
		"strings":              {"[", "a,", "]"},
		"strings of a command": {"version: v1beta1\ncontainers: [{command: [", "a,", "]}]"},
		"empty mappings":       {"[", "{},", "]"},
		"fields":               {"{", "a: b,", "}"},
		"empty keys":           {"", "?\n", ""},
		"keys":                 {"version: v1beta1\n", "a:\n", ""},
		"open brackets":        {"", "[", ""},
		"aliases of a list":    {"version: v1beta1\ncontainers:\n- " + command + "\n", "- {command: *c}\n", ""},
		"aliases of an item":   {"version: v1beta1\ncontainers:\n- &c {name: a}\n", "- *c\n", ""},
		"containers of a pod":  {"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - &c {name: a, resizePolicy: [b], resources: {limits: {memory: 1e9}}}\n", "  - *c\n", ""},
		"labels":               {"apiVersion: v1\nkind: Pod\nmetadata: {labels: {", "? [a]\n,", "}}\n"},
		"lists of a list":      {"apiVersion: v1\nkind: List\nitems:\n- &p {apiVersion: v1, kind: List, items: []}\n", "- *p\n", ""},
		"aliases in a list":    {"- {version: v1beta1, containers: [{" + command + "}]}\n", "- {version: v1beta1, containers: [{command: *c}]}\n", ""},
	} {
		size := api.MaxManifestBytes/6 - len(text.before) - len(text.after) // enough to see what grows with the square
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		docs, err := decode(text.before + strings.Repeat(text.again, size/len(text.again)) + text.after)
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 400 || len(docs) > 100 || len(fmt.Sprint(err)) > 100_000 {
			t.Errorf("%s: %d MB, %d manifests, an error of %d bytes", name, allocated, len(docs), len(fmt.Sprint(err)))
		}
	}
}

func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]struct{ bytes, thousandths int64 }{
		"0": {0, 0}, "1": {1, 1000}, "+1": {1, 1000}, "-1": {-1, -1000}, "250m": {1, 250}, "0.5": {1, 500}, ".5": {1, 500}, "5.": {5, 5000}, "0.0001": {1, 1},
		"-1500m": {-1, -1500}, "1k": {1000, 1e6}, "64Mi": {64 << 20, 64 << 20 * 1000}, "1.5Gi": {3 << 29, 3 << 29 * 1000}, "1e3": {1000, 1e6}, "1E3": {1000, 1e6},
		"100n": {1, 1}, "1u": {1, 1}, "3Ki": {3072, 3072000}, "2Pi": {2 << 50, 2 << 50 * 1000}, "7M": {7e6, 7e9}, "1.5e-3": {1, 2},
	} {
		bytes, err1 := api.ParseQuantity(text, 1)
		thousandths, err2 := api.ParseQuantity(text, 1000)
		if err1 != nil || err2 != nil || bytes != want.bytes || thousandths != want.thousandths {
			t.Errorf("%s is %d and %d thousandths, %v, %v", text, bytes, thousandths, err1, err2)
		}
	}
	for _, text := range []string{"", "-", ".", "x", "1 ", " 1", "1MB", "1 Mi", "1mi", "1K", "1ki", "1e3Mi", "1kM", "0x10", "1_0", "1/2", "1e999", "1e", "e3", "NaN", "9Ei", "1e20", "1..2", strings.Repeat("9", 100)} {
		if n, err := api.ParseQuantity(text, 1); err == nil {
			t.Errorf("%.20s is %d", text, n)
		}
	}
}

const (
	listObject = "kind: ContainerManifestList\napiVersion: v1beta1\n"
	twoItems   = "- version: v1beta1\n  id: a\n  containers: []\n- version: v1beta2\n  id: b\n  containers: []\n"
)

// podList has a list, a manifest of 2014 and a Pod.
const podList = "apiVersion: v1\nkind: PodList\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}\n" +
	"- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {}}\n---\nversion: v1beta1\nid: c\ncontainers: []\n" +
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: d}\nspec: {}\n"

func TestAListIsReadInEveryForm(t *testing.T) {
	ab := []string{`"item 1" a v1beta1`, `"item 2" b v1beta2`}
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"one manifest":         {"version: v1beta1\nid: a\ncontainers: []\n", []string{`"" a v1beta1`}},
		"documents":            {"version: v1beta1\nid: a\ncontainers: []\n---\n---\nversion: v1beta2\nid: b\ncontainers: []\n", []string{`"document 1" a v1beta1`, `"document 2" b v1beta2`}},
		"list":                 {twoItems, ab},
		"list of one":          {"- {version: v1beta1, id: a, containers: []}\n", ab[:1]},
		"JSON list":            {`[{"version": "v1beta1", "id": "a", "containers": []}, {"version": "v1beta2", "id": "b", "containers": []}]`, ab},
		"empty list":           {"[]", nil},
		"anchored list":        {"&all\n" + twoItems, ab},
		"anchor of an item":    {"- &a {version: v1beta1, id: a, containers: []}\n- *a\n", []string{`"item 1" a v1beta1`, `"item 2" a v1beta1`}},
		"shared anchors":       {"- {version: v1beta1, id: &id a, containers: []}\n- {version: v1beta2, id: *id, containers: []}\n", []string{`"item 1" a v1beta1`, `"item 2" a v1beta2`}},
		"object":               {listObject + "items:\n" + twoItems, ab},
		"object, any case":     {"items:\n" + twoItems + "apiVersion: V1Beta2\nkind: ContainerManifestList\n", ab},
		"JSON object":          {`{"kind": "ContainerManifestList", "apiVersion": "v1beta2", "items": [{"version": "v1beta1", "id": "a", "containers": []}]}`, ab[:1]},
		"empty object":         {listObject + "items: []\n", nil},
		"as 2014 wrote it":     {`{"kind":"ContainerManifestList","creationTimestamp":null,"selfLink":"/a","uid":"b","resourceVersion":1,"id":"c","apiVersion":"v1beta1"}`, nil},
		"list, manifest":       {"# all\n---\n" + twoItems + "---\nversion: v1beta1\nid: c\ncontainers: []\n", []string{`"document 1, item 1" a v1beta1`, `"document 1, item 2" b v1beta2`, `"document 2" c v1beta1`}},
		"list of pods":         {podList, []string{`"document 1, item 1" a v1`, `"document 1, item 2" b v1`, `"document 2" c v1beta1`, `"document 3" d v1`}},
		"list of an apiserver": {"items:\n- {metadata: {name: a}, spec: {}}\nkind: PodList\napiVersion: v1\n", []string{`"item 1" a v1`}},
		"list of no pods":      {"apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems: []\n", nil},
	} {
		docs, err := decode(tt.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, d := range docs {
			got = append(got, fmt.Sprintf("%q %s %s", d.Where, d.Manifest.ID, d.Manifest.Version))
		}
		same(t, name, tt.want, got)
	}
}

// Each row has one error, or some that are joined by newlines.
func TestListsThatAreRefused(t *testing.T) {
	const (
		begins = `a manifest begins with fields such as "apiVersion: v1" or "version: v1beta1", but this is `
		twice  = `this is a list in a list: put its items into the outer one`
	)
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":               {"", "f: it is empty or has only comments; a manifest needs at least a version, an id and containers"},
		"list of another day":   {"apiVersion: v1beta3\nkind: PodList\nitems: []\n", "f:1:13: apiVersion: unsupported value 'v1beta3': this program reads v1"},
		"no kind":               {"apiVersion: v1beta1\nitems: []\n", "f:1:1: kind: unsupported value '': write \"kind: Pod\""},
		"no items":              {"kind: List\napiVersion: v1\n", `f:1:1: items: required value '': a list without manifests is written "items: []"`},
		"items that are null":   {"kind: PodList\napiVersion: v1\nitems: null\n", `f:3:8: items: required value '': a list without manifests is written "items: []"`},
		"items without value":   {listObject + "items:\n", `f:3:7: items: there is no value: write [] for none`},
		"items that are a map":  {listObject + "items: {}\n", `f:3:8: items: needs a list, each item on a line that begins with "- ", but this is a mapping`},
		"misspelt items":        {listObject + "itms: []\n", `f:3:1: itms: unknown field: did you mean "items"?`},
		"item without value":    {listObject + "items:\n-\n", "f:4:2: items[0]: " + begins + "nothing"},
		"item that is a list":   {"[[]]", "f:1:2: [0]: " + twice},
		"item that is the list": {"&a [*a]", "f:1:1: [0]: " + twice},
		"conversion":            {listObject + "items:\n- version: v1beta1\n  containers: []\n- version: v1beta2\n  containers: [{env: [{key: A}]}]\n", `f:7:29: items[1].containers[0].env[0].key: v1beta2 calls this field "name"`},
		"list's first half":     {listObject + "items:\n" + twoItems + "- version: v1beta2\n  id: c\n", `f:10:3: items[2].containers: ` + needsContainers},
		"in an item's spec":     {podList + "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{image: 1}]}}\n", `f:19:80: items[0].spec.containers[0].image: needs a string, but 1 is a number: put quotes around it, "1"`},
		"item without a kind":   {"kind: List\napiVersion: v1\nitems:\n- {metadata: {name: a}, spec: {}}\n", "f:4:3: items[0].kind: unsupported value '': write \"kind: Pod\""},
		"list in a list":        {"kind: List\napiVersion: v1\nitems:\n- " + strings.ReplaceAll(listObject, "\n", "\n  ") + "\n", "f:4:3: items[0]: " + twice},
	} {
		docs, err := decode(tt.text)
		if err == nil || err.Error() != tt.want || len(docs) > 4 {
			t.Errorf("%s: %d manifests, and\n%v\nwant %s", name, len(docs), err, tt.want)
		}
	}
}

func TestAListOfTheLargestSizeIsRead(t *testing.T) {
	const item = "- {version: v1beta1, id: a, containers: [{name: a, image: b}]}\n"
	const count = api.MaxManifestBytes / len(item)
	docs, err := decode(strings.Repeat(item, count))
	if err != nil || len(docs) != count || docs[count-1].Manifest.Containers[0].Image != "b" {
		t.Errorf("%d of %d manifests, %v", len(docs), count, err)
	}
}

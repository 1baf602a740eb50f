package api_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func decode(text string) ([]api.Document, error) {
	return v1beta1.NewScheme().Decode("f", []byte(text))
}

// needsContainers is said of a manifest without them.
const needsContainers = `required value '': write "containers:" and what is to run; a pod of its network container alone is written "containers: []"`

// mustDecode reads a text of one manifest.
func mustDecode(t *testing.T, text string) api.ContainerManifest {
	t.Helper()
	docs, err := decode(text)
	if err != nil {
		t.Fatalf("decode:\n%s\n%v", text, err)
	}
	if len(docs) != 1 {
		t.Fatalf("decode:\n%s\ngives %d manifests", text, len(docs))
	}
	return docs[0].Manifest
}

func TestYAMLAndJSONSayTheSame(t *testing.T) {
	want := api.ContainerManifest{
		Version: "v1beta1",
		ID:      "web",
		Containers: []api.Container{{
			Name:    "main",
			Image:   "a/b:1",
			Command: []string{"sh", "-c", "exit 1"},
			Memory:  64 << 20,
			Env:     []api.EnvVar{{Name: "SLASH", Value: "a/b\té😀"}, {Name: "EMPTY"}},
		}},
		RestartPolicy: api.RestartPolicy{Never: &api.RestartPolicyNever{}},
	}
	for name, text := range map[string]string{
		"yaml": `
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
`,
		"json": `{
	"version": "v1beta1",
	"id": "web", "uuid": "", "volumes": null,
	"containers": [{
		"name": "main", "image": "a\/b:1", "command": ["sh", "-c", "exit 1"], "memory": 67108864, "privileged": false,
		"env": [{"name": "SLASH", "value": "a/b\t\u00e9\ud83d\ude00"}, {"name": "EMPTY", "value": ""}],
		"livenessProbe": null
	}],
	"restartPolicy": {"always": null, "never": {}}
}`,
		"windows":  "\ufeffversion: v1beta1\r\nid: web\r\ncontainers:\r\n- {name: main, image: a/b:1, command: [sh, -c, exit 1], memory: 67108864,\r\n  env: [{name: SLASH, value: \"a/b\\té😀\"}, {name: EMPTY}]}\r\nrestartPolicy: {never: {}}\r\n",
		"anchors":  "version: &v v1beta1\nid: web\ncontainers:\n- {name: main, image: a/b:1, command: &c [&sh sh, -c, exit 1], memory: 67108864, env: [{name: SLASH, value: \"a/b\\té😀\"}, {name: EMPTY}]}\nrestartPolicy: {never: {}}\n",
		"any case": "version: V1Beta1\nid: web\ncontainers:\n- {name: main, image: a/b:1, command: [sh, -c, exit 1], memory: 67108864, env: [{name: SLASH, value: \"a/b\\té😀\"}, {name: EMPTY}]}\nrestartPolicy: {never: {}}\n",
	} {
		if diff := cmp.Diff(want, mustDecode(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestContainersMayBeNoneWhenTheTextSaysSo(t *testing.T) {
	for _, none := range []string{"version: v1beta1\ncontainers: []\n", "version: v1beta1\ncontainers: null\n", `{"version": "v1beta1", "containers": null}`} {
		if m := mustDecode(t, none); len(m.Containers) != 0 {
			t.Errorf("%s\nis %+v", none, m)
		}
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
	const manifest = "version: v1beta1\nid: %s\ncontainers: []\n"
	text := "# all of them\n---\n" + fmt.Sprintf(manifest, "a") +
		"---\n---\n# nothing here\n---\n" + fmt.Sprintf(manifest, "b") + "...\n" + fmt.Sprintf(manifest, "c") + "---\n"
	docs, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		got = append(got, fmt.Sprint(d.Number, d.Manifest.ID))
	}
	if diff := cmp.Diff([]string{"1a", "2b", "3c"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestGoodDocumentsAreReturnedBesideBadOnes(t *testing.T) {
	docs, err := decode("version: v1beta1\nid: 1\n---\nversion: v1beta1\nid: b\ncontainers: []\n---\nversion: v1beta1\nidd: c\n")
	if len(docs) != 1 || docs[0].Manifest.ID != "b" || docs[0].Number != 2 {
		t.Errorf("got %+v", docs)
	}
	if errs := leaves(err); len(errs) != 2 {
		t.Errorf("got %v", err)
	}
}

// Each row has one error, whose place and words a person can use.
func TestDecodeRefuses(t *testing.T) {
	const head = "version: v1beta1\n"
	for name, tt := range map[string]struct{ text, want string }{
		"unknown field":        {head + "idd: a\n", `f:2:1: idd: unknown field: did you mean "id"?`},
		"swapped letters":      {head + "containers:\n- imgae: a\n", `f:3:3: containers[0].imgae: unknown field: did you mean "image"?`},
		"case of a key":        {head + "ID: a\n", `f:2:1: ID: unknown field: write "id", upper and lower case count`},
		"today's name":         {head + "volumes:\n- source: {hostPath: {}}\n", `f:3:12: volumes[0].source.hostPath: unknown field: did you mean "hostDir"?`},
		"nothing near":         {head + "volumes:\n- xyzzy: 1\n", `f:3:3: volumes[0].xyzzy: unknown field: the fields here are name, source`},
		"field of nothing":     {head + "restartPolicy: {never: {max: 1}}\n", `f:2:25: restartPolicy.never.max: unknown field: nothing can be said here, write {}`},
		"duplicate key":        {head + "id: a\nid: b\n", `f:3:1: id: this field is here twice: the first is on line 2`},
		"number for string":    {head + "id: 1.10\n", `f:2:5: id: needs a string, but 1.10 is a number: put quotes around it, "1.10"`},
		"bool for string":      {head + "containers: [{command: [echo, true]}]\n", `f:2:31: containers[0].command[1]: needs a string, but true is a bool: put quotes around it, "true"`},
		"infinity for string":  {head + "id: .inf\n", `f:2:5: id: needs a string, but .inf is a number: put quotes around it, ".inf"`},
		"mapping for string":   {head + "id: {{ .ID }}\n", `f:2:6: YAML syntax: could not find flow map content`},
		"list for string":      {head + "id: [a]\n", `f:2:5: id: needs a string, but this is a list`},
		"string for number":    {head + "containers: [{cpu: \"5\"}]\n", `f:2:20: containers[0].cpu: needs a number, but this is a string: remove the quotes`},
		"word for number":      {head + "containers: [{memory: 64M}]\n", `f:2:23: containers[0].memory: needs a whole number, and 64M is none`},
		"fraction":             {head + "containers: [{cpu: 0.5}]\n", `f:2:20: containers[0].cpu: needs a whole number, and 0.5 is none`},
		"octal":                {head + "containers: [{cpu: 0755}]\n", `f:2:20: containers[0].cpu: write 0755 as a plain decimal number`},
		"too big for 64 bits":  {head + "containers: [{cpu: 9223372036854775808}]\n", `f:2:20: containers[0].cpu: this number is too big`},
		"endless digits":       {head + "containers: [{cpu: 99999999999999999999999999}]\n", `f:2:20: containers[0].cpu: this number is too big`},
		"string for bool":      {head + "containers: [{privileged: yes}]\n", `f:2:27: containers[0].privileged: needs true or false, but this is a string`},
		"mapping for list":     {head + "containers: {}\n", `f:2:13: containers: needs a list, each item on a line that begins with "- ", but this is a mapping`},
		"string for list":      {head + "containers: [{command: sleep 1}]\n", `f:2:24: containers[0].command: needs a list such as ["sleep", "60"], but this is a string`},
		"string for mapping":   {head + "restartPolicy: Never\n", `f:2:16: restartPolicy: needs a mapping, but this is a string: write {never: {}}`},
		"list for mapping":     {head + "containers: [[]]\n", `f:2:14: containers[0]: needs a mapping, but this is a list`},
		"port as a list":       {head + "containers: [{livenessProbe: {tcpSocket: {port: []}}}]\n", `f:2:49: containers[0].livenessProbe.tcpSocket.port: needs a port number or the name of a port, but this is a list`},
		"no value":             {head + "restartPolicy:\n  never:\n", `f:3:10: restartPolicy.never: there is no value: write {} or remove it`},
		"no list":              {head + "containers:\n", `f:2:13: containers: there is no value: write [] for none`},
		"no item":              {head + "containers: [{command: [null]}]\n", `f:2:25: containers[0].command[0]: there is no value: write "" or remove it`},
		"NUL in quotes":        {head + "id: \"\\0\"\n", `f:2:5: id: a string cannot hold the character NUL`},
		"tag":                  {head + "id: !!str 1\n", `f:2:5: id: tags such as !!str are not supported: remove it`},
		"another's alias":      {head + "id: &a b\ncontainers: []\n---\n" + head + "id: *a\n", `f:6:5: id: the alias *a needs an anchor &a before it, in a field that is known`},
		"merge key":            {head + "volumes:\n- &v {name: v}\n- <<: *v\n", `f:4:3: volumes[1]: merge keys (<<) are not supported: write the fields out`},
		"unknown alias":        {head + "id: *a\n", `f:2:5: id: the alias *a needs an anchor &a before it, in a field that is known`},
		"alias of itself":      {head + "id: &a *a\n", `f:2:8: YAML syntax: unexpected scalar value type`},
		"no version":           {"id: a\n", `f:1:1: version: required value '': write "version:" and v1beta1 or v1beta2`},
		"unknown version":      {"id: a\nversion: v1\n", `f:2:10: version: unsupported value 'v1': this program reads v1beta1 or v1beta2`},
		"version as a number":  {"version: 1\n", `f:1:10: version: needs a string, but 1 is a number: put quotes around it, "1"`},
		"first line":           {head, `f:1:1: containers: ` + needsContainers},
		"first half":           {"# a web server\n" + head + "id: a\nvolumes: []\n", `f:2:1: containers: ` + needsContainers},
		"misspelt containers":  {head + "contaners: []\n", `f:2:1: contaners: unknown field: did you mean "containers"?`},
		"today's Kubernetes":   {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", `f:1:1: this is an object of today's Kubernetes; this program reads the container manifests of 2014: "version" (v1beta1 or v1beta2), "id" and "containers" at the top level, and no apiVersion, kind, metadata or spec`},
		"top-level list":       {"- version: v1beta1\n", `f:1:1: a manifest begins with fields such as "version: v1beta1", but this is a list; for several manifests put lines of "---" between them`},
		"plain text":           {"hello world\n", `f:1:1: a manifest begins with fields such as "version: v1beta1", but this is a string`},
		"empty":                {" \n\n", `f: it is empty; a manifest needs at least a version, an id and containers`},
		"comments":             {"# a\n---\n# b\n", `f: it holds nothing but comments and separators; a manifest needs at least a version, an id and containers`},
		"bytes":                {head + "\x01\x02\x00", `f: this is not text: line 2 has the byte 0x00; a manifest is YAML or JSON in UTF-8`},
		"latin-1":              {head + "id: caf\xe9\n", `f: this is not text: line 2 has the byte 0xe9; a manifest is YAML or JSON in UTF-8`},
		"tab":                  {head + "containers:\n\t- name: a\n", `f:3:1: YAML syntax: found character '\t' that cannot start any token; indent with spaces, not with tabs`},
		"indentation":          {head + "containers:\n- name: a\n image: b\n", `f:4:2: YAML syntax: value is not allowed in this context; look at the indentation and the colons of this line and the next`},
		"directive":            {"%YAML 1.2\n---\n" + head, `f:1:1: YAML syntax: unexpected directive value. document not started; remove this line: the version of YAML needs no telling`},
		"template":             {head + "id: @ID@\n", `f:2:5: YAML syntax: '@' is a reserved character; put quotes around the value`},
		"unfinished":           {head + "containers:\n- {name: a,\n", `f:3:11: YAML syntax: could not find flow map content`},
		"persistentDisk":       {head + "volumes: [{name: a, source: {persistentDisk: {pdName: a, fsType: ext4}}}]\ncontainers: []\n", `f:2:46: volumes[0].source.persistentDisk: this kind of volume is not supported: use hostDir or emptyDir`},
		"gitRepo":              {head + "volumes: [{name: a, source: {gitRepo: {repository: a}}}]\ncontainers: []\n", `f:2:39: volumes[0].source.gitRepo: this kind of volume is not supported: use hostDir or emptyDir`},
		"old name in v1beta2":  {"version: v1beta2\ncontainers: [{env: [{key: A}]}]\n", `f:2:27: containers[0].env[0].key: v1beta2 calls this field "name"`},
		"nested brackets":      {head + "id: " + strings.Repeat("[", 200) + "\n", `f:2:54: more than 50 levels within each other`},
		"nested dashes":        {head + "id:\n  " + strings.Repeat("- ", 200) + "a\n", `f:3:101: more than 50 levels within each other`},
		"nested keys":          {head + nestedKeys(60), `f:52:52: more than 50 levels within each other`},
		"many tags":            {head + strings.Repeat("- !a \n", 60), `f:52:3: tags such as !a are not supported: remove them`},
		"many fields":          {head + strings.Repeat("a: b\n", 2000), `f:2001:2: more than 2000 fields in one mapping`},
		"anchored fields":      {head + strings.Repeat("&a k: v\n&aa k: v\n&aaa k: v\n", 1000), `f:2002:1: more than 2000 anchors`},
		"fields in brackets":   {head + "id: [" + strings.Repeat("a: b\n,", 2001) + "]", `f:2002:3: more than 2000 fields in one mapping`},
		"long name":            {head + strings.Repeat("x", 101) + ": a\n", `f:2:102: the name of a field has more than 100 bytes`},
		"tabs":                 {head + "id: \"" + strings.Repeat("\t", 101) + "\"\n", `f:2:1: more than 100 tabs in a line`},
		"many <":               {head + "id: \"" + strings.Repeat("<", 101) + "\"\n", `f:2:1: more than 100 '<' in a row`},
		"old Mac":              {"version: v1beta1\rid: a\r\ridd: b\r", `f:4:1: idd: unknown field: did you mean "id"?`},
		"blank lines of a Mac": {head + "id: |\n" + strings.Repeat("\r", 300), `f:103:1: more than 100 blank lines in a row`},
		"list object":          {"kind: ContainerManifestList\napiVersion: v1beta1\nitems: []\n", `f:1:1: this is an object of today's Kubernetes; this program reads the container manifests of 2014: "version" (v1beta1 or v1beta2), "id" and "containers" at the top level, and no apiVersion, kind, metadata or spec`},
		"blank lines":          {head + strings.Repeat(" \n", 300), `f:102:1: more than 100 blank lines in a row`},
		"one byte too much":    {head + "#" + strings.Repeat("x", api.MaxManifestBytes-len(head)), `f: 1048577 bytes are too many for a manifest: the limit is 1048576`},
		"far too many pieces":  {head + strings.Repeat("---\na: b\n", 30000), `f: this is too much to be read at once: more than 100000 pieces of YAML; split it`},
		"alias bomb":           {head + "containers:\n- command: &c [" + strings.Repeat("a,", 1000) + "]\n" + strings.Repeat("- {command: *c}\n", 300), `f:3:1206: containers[199].command[595]: the aliases of this file expand to more than 200000 values`},
		"alias bomb of lists":  {head + "a: [&a [x, x], *a, *a]\n", `f:2:1: a: unknown field: the fields here are version, id, uuid, volumes, containers, restartPolicy`},
		"error in the 2nd doc": {head + "containers: []\n---\n" + head + "ids: a\n", `f:5:1: ids: unknown field: did you mean "id"?`},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := decode(tt.text)
			errs := leaves(err)
			if len(errs) != 1 {
				t.Fatalf("%d errors, and %+v\n%v", len(errs), docs, err)
			}
			if got, _, _ := strings.Cut(errs[0].Error(), "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// fieldsOf gives the place and the path of the field of each error that err joins.
func fieldsOf(t *testing.T, err error) []string {
	t.Helper()
	var fields []string
	for _, err := range leaves(err) {
		var where *api.SourceError
		if !errors.As(err, &where) || where.Excerpt() == "" {
			t.Fatalf("%T: %v", err, err)
		}
		fields = append(fields, fmt.Sprintf("%d:%d %s", where.Line, where.Column, where.Field))
	}
	return fields
}

func TestAllErrorsOfADocumentAreTold(t *testing.T) {
	_, err := decode("version: v1beta1\nidd: a\ncontainers:\n- image: 5\n  cpu: x\n- foo: 1\nrestartPolicy: never\n")
	want := []string{"2:1 idd", "4:10 containers[0].image", "5:8 containers[0].cpu", "6:3 containers[1].foo", "7:16 restartPolicy"}
	if diff := cmp.Diff(want, fieldsOf(t, err)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAtPointsAtTheNearestThingThatIsThere(t *testing.T) {
	docs, err := decode("# x\nversion: v1beta1\ncontainers:\n- image: a\n  env:\n  - key: A\n    value: b\n  volumeMounts: []\n")
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"version":                        "2:10",
		"id":                             "2:1",
		"":                               "2:1",
		"nothing[3].like.this":           "2:1",
		"containers":                     "4:1",
		"containers[0]":                  "4:3",
		"containers[0].image":            "4:10",
		"containers[0].name":             "4:3",
		"containers[0].env[0].value":     "7:12",
		"containers[0].env[0].name":      "6:5", // written by its old name, key
		"containers[0].env[1].name":      "6:3",
		"containers[0].volumeMounts[0]":  "8:17",
		"containers[1].livenessProbe[0]": "4:1",
	} {
		got := docs[0].At(field, "wrong")
		if place := fmt.Sprintf("%d:%d", got.Line, got.Column); place != want || got.Field != field || got.Problem != "wrong" {
			t.Errorf("%q: %s, want %s\n%v", field, place, want, got)
		}
	}
}

func TestExcerptShowsTheLinesAroundAndACaret(t *testing.T) {
	_, err := decode("version: v1beta1\nid: a\n# é\nuuid: \"é\tb\" #\x1b[31m\x07\nfoo: 1\ncontainers: []\n")
	want := `f:5:1: foo: unknown field: the fields here are version, id, uuid, volumes, containers, restartPolicy
  3 | # é
  4 | uuid: "é b" #?[31m?
> 5 | foo: 1
    | ^
  6 | containers: []`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestExcerptOfAnEndlessLineStaysShort(t *testing.T) {
	_, err := decode(`{"version": "v1beta1", "id": "` + strings.Repeat("x", 100_000) + `", "foo": 1, "uuid": "` + strings.Repeat("y", 100_000) + `"}`)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || len(err.Error()) > 1000 {
		t.Fatalf("got %v", err)
	}
	if caret := strings.Index(lines[2], "^"); !strings.HasPrefix(lines[1][caret:], `"foo"`) {
		t.Errorf("the caret is not below the field:\n%v", err)
	}
}

func TestTooManyErrorsAreCutShort(t *testing.T) {
	for name, text := range map[string]string{
		"one document":   "version: v1beta1\n" + manyLines("f%d: 1\n", 1000),
		"many documents": manyLines("---\nversion: v1beta1\nf%d: 1\n", 1000),
	} {
		_, err := decode(text)
		errs := leaves(err)
		if len(errs) < 50 || len(errs) > 60 {
			t.Errorf("%s: %d errors are told", name, len(errs))
		}
	}
}

// nestedKeys is a mapping in a mapping in a mapping, by indentation.
func nestedKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func manyLines(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// An alias costs three bytes and may stand for thousands of values.
func TestAliasesCannotEatTheMemory(t *testing.T) {
	text := "version: v1beta1\ncontainers:\n- command: &c [" + strings.Repeat("a,", 5000) + "]\n" + strings.Repeat("- {command: *c}\n", 2500)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	docs, err := decode(text + "---\nversion: v1beta1\nid: a\ncontainers: []\n")
	runtime.ReadMemStats(&after)
	if errs := leaves(err); len(docs) != 0 || len(errs) != 1 {
		t.Errorf("got %d manifests and %v", len(docs), err)
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 256 {
		t.Errorf("it took %d MB", used)
	}
}

// The YAML library gives every node the names of all that is around it.
func TestNamesCannotEatTheMemory(t *testing.T) {
	name := strings.Repeat("n", 100)
	for what, text := range map[string]string{
		"long":  strings.Repeat(name, 300) + ": [" + strings.Repeat("a,", 40_000) + "]",
		"deep":  strings.Repeat("{"+name+": ", 49) + "[" + strings.Repeat("a,", 49_000) + "]" + strings.Repeat("}", 49),
		"deep2": strings.Repeat("{"+name+": ", 99) + "[" + strings.Repeat("a,", 49_000) + "]" + strings.Repeat("}", 99),
		"tags":  strings.Repeat("- !a \n", 30_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(text)
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 400 || err == nil {
			t.Errorf("%s: it took %d MB, and the error is %v", what, used, err)
		}
	}
}

// The YAML library needs time that grows with the square of some shapes of input;
// were they not refused, this test would run into the time limit of go test.
func TestDecodeComesBackFromHostileShapes(t *testing.T) {
	for name, shape := range map[string]struct{ before, again, after string }{
		"blank lines of a block":  {"a: >\n", " \n", ""},
		"Mac's lines of a block":  {"a: |\n ", "\r", ""},
		"commas":                  {"[", ",", "]"},
		"empty mappings":          {"", "{}", ""},
		"open brackets":           {"", "[", ""},
		"many keys":               {"version: v1beta1\n", "a:\n", ""},
		"many fields":             {"", "a: b\n", ""},
		"many documents":          {"", "---\na: b\n", ""},
		"one key":                 {"version: v1beta1\n", "x", ": a\n"},
		"quotes":                  {"", `""`, ""},
		"question marks":          {"", "? a\n", ""},
		"angle brackets":          {"", "<", ""},
		"tabs in quotes":          {`"`, "\t", `x"`},
		"reserved characters":     {"", "@", ""},
		"comments":                {"", "#\n", ""},
		"a long line, then blank": {"a: |\n ", "x", strings.Repeat("\n", 200)},
	} {
		for _, size := range []int{1 << 16, api.MaxManifestBytes} {
			text := shape.before + strings.Repeat(shape.again, (size-len(shape.before)-len(shape.after))/len(shape.again)) + shape.after
			if _, err := decodeList(text); err == nil || len(err.Error()) > 100_000 {
				t.Errorf("%s: the error has %d bytes", name, len(fmt.Sprint(err)))
			}
		}
	}
}

func TestEndlessErrorsAreCutShort(t *testing.T) {
	container := "version: v1beta2\ncontainers:\n- env:\n"
	for what, text := range map[string]string{
		"of the decoder":      container + strings.Repeat("  - name: 1\n", 1000),
		"of the conversion":   container + strings.Repeat("  - key: A\n", 1000),
		"of many documents":   strings.Repeat("version: v3\n---\n", 1000),
		"of one list's items": strings.Repeat("- version: v3\n", 1000),
	} {
		_, err := decodeList(text)
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		if lines := strings.Count(err.Error(), "\nf:") + 1; lines != 51 {
			t.Errorf("%s: %d errors are told", what, lines)
		}
	}
}

package api_test

import (
	"errors"
	"strings"
	"testing"

	"kubelet14/api"
)

func TestExcerptShowsTheLinesAroundAndACaret(t *testing.T) {
	_, err := decode("version: v1beta1\nid: a\n# é\nuuid: \"é\tb\" #\u009b31m\u202e\nfoo: 1\ncontainers: []\n")
	want := `f:5:1: foo: unknown field: the fields here are version, id, uuid, volumes, containers, restartPolicy
  3 | # é
  4 | uuid: "é b" #?31m?
> 5 | foo: 1
    | ^
  6 | containers: []`
	same(t, "excerpt", want, api.WithExcerpts(err))
}

func TestExcerptOfAnEndlessLineStaysShort(t *testing.T) {
	_, err := decode(`{"version": "v1beta1", "id": "` + strings.Repeat("x", 100_000) + `", "foo": 1, "uuid": "` + strings.Repeat("y", 100_000) + `"}`)
	text := api.WithExcerpts(err)
	lines := strings.Split(text, "\n")
	if len(lines) != 3 || len(text) > 1000 {
		t.Fatalf("got %v", text)
	}
	caret := strings.Index(lines[2], "^")
	if line := []rune(lines[1]); !strings.HasPrefix(string(line[caret:]), `"foo"`) || !strings.HasPrefix(lines[1], "> 1 | …x") || !strings.HasSuffix(lines[1], "y…") {
		t.Errorf("the caret is not below the field:\n%v", text)
	}
}

func TestWithExcerptsFindsEveryErrorWithin(t *testing.T) {
	_, one := decode("a: b\n")
	_, two := decode("version: v1beta1\nb: c\n")
	const first = "f:1:1: version: required value '': write \"apiVersion: v1\" and \"kind: Pod\", or \"version:\" and v1beta1 or v1beta2"
	const second = "f:2:1: b: unknown field: the fields here are version, id, uuid, volumes, containers, restartPolicy"
	const firstLines = "\n> 1 | a: b\n    | ^"
	const secondLines = "\n  1 | version: v1beta1\n> 2 | b: c\n    | ^"
	for want, err := range map[string]error{
		"refused": errors.New("refused"),
		first + firstLines + "\n" + second + secondLines + "\nrefused": errors.Join(one, errors.Join(two, errors.New("refused"))),
		first + firstLines + "\n" + first + firstLines:                 errors.Join(one, one),
		"a; b?[31m": errors.New("a\nb\x1b[31m"),
	} {
		if got := api.WithExcerpts(err); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// A manifest is not trusted, and an error goes to logs and terminals: the text that it quotes must not look like
// another line or control the terminal.
func TestWhatAnErrorQuotesIsOnePrintableLine(t *testing.T) {
	const nasty = `"a\nb\e[31mc\u0085\u009bd\u202e"`
	for name, text := range map[string]string{
		"a field":   "version: v1beta1\n" + nasty + ": 1\n",
		"a value":   "version: " + nasty + "\n",
		"a problem": "version: v1beta1\ncontainers:\n- volumeMounts: [{mountType: " + nasty + "}]\n",
	} {
		if _, err := decode(text); err == nil || !strings.Contains(err.Error(), "a; b?[31mc ?d?") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// Errors go to the status, to /metrics and to the page. The excerpts are for the log alone.
func TestNoErrorHoldsAValueOfTheEnvironment(t *testing.T) {
	const head = "version: v1beta1\nid: foo\ncontainers:\n- name: c\n  image: busybox\n  env:\n"
	const password = head + "  - name: PASSWORD\n    value: "
	for name, manifest := range map[string]string{
		"the line before":       password + "s3cret\n  imgae: busybox\n",
		"a number":              "apiVersion: v1\nkind: Pod\nspec: {containers: [{env: [{name: PASSWORD, value: 14.73e3}]}]}\n",
		"a field of the pod":    "apiVersion: v1\nkind: Pod\nspec: {containers: [{env: [{name: PASSWORD, valueFrom: {s3cret: 1, fieldRef: s3cret}}]}]}\n",
		"two values":            "apiVersion: v1\nkind: Pod\nspec: {containers: [{env: [{name: PASSWORD, value: s3cret, valueFrom: {}}]}]}\n",
		"a header":              "apiVersion: v1\nkind: Pod\nspec: {containers: [{livenessProbe: {httpGet: {httpHeaders: [{name: Authorization, value: 14.73e3}]}}}]}\n",
		"a mapping":             password + "{s3cret: 1}\n",
		"an alias":              password + "*s3cret\n",
		"a tag":                 password + "!s3cret x\n",
		"a bad tag":             password + "!s3cret!x y\n",
		"an old name":           head + "  - name: A\n    key: s3cret\n    value: s3cret\n",
		"a word for a variable": head + "  - PASSWORD=s3cret\n",
		"a name with the value": head + "  - name: PASSWORD=s3cret\n    x: y\n",
		"no list":               head + "    PASSWORD: s3cret\n",
		"a comma in the value":  head + "  - {name: PASSWORD, value: x,s3cret}\n",
		"the same twice":        head + "  - {name: PASSWORD, value: x,s3cret,s3cret}\n",
		"an open quote":         password + "\"s3cret\n",
		"a colon":               password + "s3cret: more\n",
		"a bar in front":        password + "|s3cret\n",
		"an anchor":             password + "&s3cret\n    x: y\n",
		"two lines":             head + "  - {name: PASSWORD, \"one\\ns3cret\": x}\n",
		"a bad escape":          password + "\"\\s3cret\"\n",
		"an open bracket":       password + "[s3cret\n",
		"an open brace":         head + "  - {name: PASSWORD, value: s3cret\n",
		"a tab":                 head + "  - name: PASSWORD\n\tvalue: s3cret\n",
		"the value on its own":  password + "\n  s3cret\n",
		"here twice":            password + "s3cret\n    value: s3cret\n",
		"a control character":   password + "s3cret\x01\n",
		"JSON":                  `{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"}],"imgae":1}]}`,
		"JSON without an end":   `{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"`,
		"a list in JSON":        `[{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"}]}],"imgae":1}]`,
	} {
		_, err := decode(manifest)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if text := err.Error(); strings.Contains(text, "s3cret") || strings.Contains(text, "14.73") || !strings.HasPrefix(text, "f:") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

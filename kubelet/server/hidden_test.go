package server

import (
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// What is wrong with a manifest is told with the lines around it. The secret is on
// them, and in some cases it is what is wrong.
func TestNoErrorOfAManifestTellsAnEnvironmentValue(t *testing.T) {
	const head = "version: v1beta1\nid: foo\ncontainers:\n- name: c\n  image: busybox\n  env:\n"
	for name, manifest := range map[string]string{
		"the line below":          head + "  - name: PASSWORD\n    vlaue: s3cret\n",
		"the line before":         head + "  - name: PASSWORD\n    value: s3cret\n  imgae: busybox\n",
		"two errors":              head + "  - name: PASSWORD\n    value: s3cret\n  imgae: busybox\n  prots: []\n",
		"a number":                head + "  - name: PASSWORD\n    value: 14.73e3\n",
		"a number, and its lines": head + "  - {name: PASSWORD, value: 14.73e3, x: y}\n",
		"a mapping":               head + "  - name: PASSWORD\n    value: {s3cret: 1}\n",
		"a list":                  head + "  - name: PASSWORD\n    value: [s3cret]\n",
		"an alias":                head + "  - name: PASSWORD\n    value: *s3cret\n",
		"a tag":                   head + "  - name: PASSWORD\n    value: !s3cret x\n",
		"an old name":             head + "  - name: A\n    key: s3cret\n    value: s3cret\n",
		"a word for a variable":   head + "  - PASSWORD=s3cret\n",
		"a name with the value":   head + "  - name: PASSWORD=s3cret\n    x: y\n",
		"no list":                 head + "    PASSWORD: s3cret\n",
		"a word for all":          head + "    PASSWORD=s3cret\n",
		"a comma in the value":    head + "  - {name: PASSWORD, value: x,s3cret}\n",
		"an open quote":           head + "  - name: PASSWORD\n    value: \"s3cret\n",
		"another open quote":      head + "  - name: PASSWORD\n    value: 's3cret\n",
		"a colon":                 head + "  - name: PASSWORD\n    value: s3cret: more\n",
		"a reserved character":    head + "  - name: PASSWORD\n    value: @s3cret\n",
		"another":                 head + "  - name: PASSWORD\n    value: `s3cret\n",
		"a bar in front":          head + "  - name: PASSWORD\n    value: |s3cret\n",
		"an angle in front":       head + "  - name: PASSWORD\n    value: >s3cret\n",
		"two lines":               head + "  - {name: PASSWORD, \"one\\ns3cret\": x}\n",
		"a bad escape":            head + "  - name: PASSWORD\n    value: \"\\s3cret\"\n",
		"an open bracket":         head + "  - name: PASSWORD\n    value: [s3cret\n",
		"an open brace":           head + "  - {name: PASSWORD, value: s3cret\n",
		"a tab":                   head + "  - name: PASSWORD\n\tvalue: s3cret\n",
		"a wrong indent":          head + "  - name: PASSWORD\n   value: s3cret\n",
		"the value on its own":    head + "  - name: PASSWORD\n    value:\n  s3cret\n",
		"here twice":              head + "  - name: PASSWORD\n    value: s3cret\n    value: s3cret\n",
		"JSON":                    `{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"}],"imgae":1}]}`,
		"JSON without an end":     `{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"`,
		"JSON without a quote":    `{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret}]}]}`,
		"a list in JSON":          `[{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"}]}]}]`,
		"wide lines":              head + "  - {name: PASSWORD, value: " + strings.Repeat("s3cret", 50) + ", x: y}\n",
	} {
		_, err := v1beta1.NewScheme().Decode("/etc/foo.yaml", []byte(manifest))
		if err == nil {
			t.Errorf("%s: nothing is wrong with\n%s", name, manifest)
			continue
		}
		status := api.SourceStatus{Source: "file", FailingSince: noon, LastError: err.Error()}
		k := withSecret()
		k.statuses = []api.PodStatus{{Name: "foo", Namespace: "default", Source: "file", SourceError: err.Error()}}
		s := &Server{opts: Options{Kubelet: k, Sources: func() []api.SourceStatus { return []api.SourceStatus{status} }}}
		pods, _ := s.statuses(t.Context(), askPatience)
		for _, told := range []string{s.sources()[0].LastError, pods[0].SourceError} {
			if strings.Contains(told, "s3cret") || strings.Contains(told, "14.73") {
				t.Errorf("%s: it tells\n%s", name, told)
			}
			if !strings.HasPrefix(told, "/etc/foo.yaml:") {
				t.Errorf("%s: it does not tell where it is: %s", name, told)
			}
		}
	}
}

func TestWhatIsToldOfAnErrorIsAllButTheLines(t *testing.T) {
	for text, want := range map[string]string{
		"":        "",
		"refused": "refused",
		"f:7:3: containers[0].imgae: unknown field: did you mean \"image\"?\n  6 | a: b\n> 7 | c: d\n    |    ^\n  8 | e: f\ng:1:1: no": "f:7:3: containers[0].imgae: unknown field: did you mean \"image\"?\ng:1:1: no",
		"f:7:3: containers[0].env[1]: needs a mapping":                                                             "f:7:3: containers[0].env[1]: needs a mapping",
		"f:12:3: containers[0].env[1].vlaue: unknown field\n  11 | a: b\n> 12 | c: d\n     |    ^":                 "f:12:3: containers[0].env[1].(hidden), the kubelet's log tells it",
		"f:12:3: containers[0].env[1].value: needs a string, but 5 is a number\n> 12 | c: 5\n     | ^\nnext: line": "f:12:3: containers[0].env[1].value: (hidden), the kubelet's log tells it\nnext: line",
	} {
		if got := withoutLines(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Whatever is asked, and by whomever, a value is only told to who asks for it by name.
func TestNoAnswerTellsAnEnvironmentValue(t *testing.T) {
	_, err := v1beta1.NewScheme().Decode("/etc/foo.yaml", []byte("version: v1beta1\ncontainers:\n- env: [{name: PASSWORD, value: s3cret}]\n  x: y\n"))
	k, _, options := fullKubelet(t)
	k.pods = withSecret().pods
	k.statuses[0].SourceError = err.Error()
	s := serve(t, k, options, func(o *Options) {
		o.Sources = func() []api.SourceStatus {
			return []api.SourceStatus{{Source: "file", FailingSince: noon, LastError: err.Error()}}
		}
	})
	if !strings.Contains(err.Error(), "s3cret") {
		t.Fatalf("the error does not hold the value: %v", err)
	}
	for _, route := range everyRoute {
		if route.request == "GET /boundPods?env=1" {
			continue
		}
		if got := ask(t, s, route.request, withToken); got.status != 200 || strings.Contains(got.body, "s3cret") {
			t.Errorf("%s: it answers %d %s", route.request, got.status, got.body)
		}
	}
}

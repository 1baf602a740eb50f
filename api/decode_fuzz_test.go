package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/api/v1beta1"
)

// FuzzDecode feeds the decoder with anything. It has to survive it, to report where each error is, and to read JSON as
// Go's own decoder does.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"", "#\n", "---\n", "a: &a [*a]\n", "&a *a", "!!str x", "? [a]\n: b\n", "{{ .Values }}", "\xff\x00", "- a\n- b\n",
		`{"version":"v1beta1","id":"a","containers":[{"name":"a","image":"b","memory":1e9}]}`,
		"%YAML 1.2\n---\na: b\n", "version: v1beta1\n<<: {id: x}\n", "a: |\n  b\n c: >-\n", "version: &v v1beta2\nid: *v\n",
		`{"version":"v1beta1","id":"\u0041\ud83d\ude00\/\\\"\n","restartPolicy":{"never":null},"volumes":null}`,
		"kind: Pod\napiVersion: v1\nmetadata: {labels: {a: b}, name: c}\nspec: {nodeName: x, containers: [{command: [a], resources: {limits: {cpu: 1.5e-1}}}]}\n",
		"kind: List\napiVersion: v1\nitems: [{kind: Pod, apiVersion: v1, spec: {hostPID: no}}]\n", "kind: Service\n", "{{- if }}",
		"version: V1BETA1\n...\n---\n---\nversion: v1beta2\n", "\t\n", "[[[[[[", "- - - -", "[]", "&a [*a]",
		"- version: v1beta1\n-\n", "kind: ContainerManifestList\napiVersion: v1beta1\nitems: []\n",
		`{"kind":"ContainerManifestList","apiVersion":"V1beta2","items":[{"version":"v1beta1","containers":[{"env":[{"key":"a"}]}]},null,[]]}`,
	} {
		f.Add([]byte(text))
	}
	files, err := filepath.Glob("../config/testdata/manifests/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("find the corpus: %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	scheme := v1.NewScheme()
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := scheme.Decode("f", data, nil)
		checkResult(t, scheme, docs, err)
		switch {
		case err == nil && len(docs) == 0 && !regexp.MustCompile(`(?s)\[.*\]|List`).Match(data):
			t.Fatal("neither a manifest nor an error nor an empty list")
		case err == nil && json.Valid(data) && len(docs) == 1 && docs[0].Where == "" && docs[0].Manifest != nil && docs[0].Manifest.Version != api.VersionV1:
			checkJSON(t, scheme, data, docs)
		}
	})
}

// checkResult checks what holds for every text: errors have a place, and manifests can be written and read again.
func checkResult(t *testing.T, scheme *api.Scheme, docs []api.Document, err error) {
	t.Helper()
	if source, ok := err.(*api.SourceError); err != nil && (!ok || source.File != "f" || len(source.Mistakes) == 0 || len(docs) > 0) {
		t.Fatalf("an error that is no SourceError: %#v, and %d documents", err, len(docs))
	}
	for _, p := range problems(err) {
		if p.Text == "" || !utf8.ValidString(api.WithExcerpts(err)) {
			t.Errorf("a problem without words, or that is not text: %q", api.WithExcerpts(err))
		}
	}
	for _, doc := range docs {
		if doc.Manifest == nil {
			continue
		}
		text, err := scheme.Encode(doc.Manifest.Version, doc.Manifest)
		unittest.Must(t, err)
		same(t, "written and read again", asJSON(t, doc.Manifest), asJSON(t, mustDecode(t, string(text))))
	}
}

// checkJSON reads the same text with encoding/json.
func checkJSON(t *testing.T, scheme *api.Scheme, data []byte, docs []api.Document) {
	t.Helper()
	var wire v1beta1.ContainerManifest
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&wire); err != nil && strings.Contains(err.Error(), "of type api.Text") {
		return // 1 in a command is the text "1"
	} else if err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
	internal, err := scheme.Internalize(wire.Version, &wire)
	unittest.Must(t, err)
	same(t, "by encoding/json, and by us", asJSON(t, internal), asJSON(t, docs[0].Manifest))
}

// asJSON makes nil and empty lists the same.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	unittest.Must(t, err)
	return string(text)
}

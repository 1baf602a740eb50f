package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// FuzzDecode feeds the decoder with anything. It has to survive it, to say where
// each error is, and to read JSON as Go's own decoder does. What Decode reads
// DecodeList reads too, and the same in a list.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"", "#\n", "---\n", "a: &a [*a]\n", "&a *a", "!!str x", "? [a]\n: b\n", "{{ .Values }}", "\xff\x00", "- a\n- b\n",
		`{"version":"v1beta1","id":"a","containers":[{"name":"a","image":"b","memory":1e9}]}`,
		"%YAML 1.2\n---\na: b\n", "version: v1beta1\n<<: {id: x}\n", "a: |\n  b\n c: >-\n", "version: &v v1beta2\nid: *v\n",
		`{"version":"v1beta1","id":"\u0041\ud83d\ude00\/\\\"\n","restartPolicy":{"never":null},"volumes":null}`,
		"kind: Pod\napiVersion: v1\n", "version: V1BETA1\n...\n---\n---\nversion: v1beta2\n", "\t\n", "[[[[[[", "- - - -", "[]", "&a [*a]", "- version: v1beta1\n-\n", "kind: ContainerManifestList\napiVersion: v1beta1\nitems: []\n",
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
	scheme := v1beta1.NewScheme()
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := scheme.Decode("f", data)
		if err == nil && len(docs) == 0 {
			t.Fatal("neither a manifest nor an error")
		}
		checkResult(t, scheme, docs, err)
		if err == nil && json.Valid(data) {
			checkAgainstJSON(t, scheme, data, docs)
			checkInList(t, scheme, data, docs)
		}

		list, listErr := scheme.DecodeList("f", data)
		checkResult(t, scheme, list, listErr)
		if listErr == nil && len(list) == 0 && !regexp.MustCompile(`(?s)\[.*\]`).Match(data) {
			t.Fatal("neither a manifest nor an error nor an empty list")
		}
		if diff := cmp.Diff(asJSON(t, docs), asJSON(t, list)); err == nil && (listErr != nil || diff != "") {
			t.Errorf("a list is read instead: %v (-Decode +DecodeList):\n%s", listErr, diff)
		}
	})
}

// checkResult checks what holds for every text.
func checkResult(t *testing.T, scheme *api.Scheme, docs []api.Document, err error) {
	t.Helper()
	for _, err := range leaves(err) {
		var where *api.SourceError
		if !errors.As(err, &where) || where.File != "f" || where.Problem == "" {
			t.Errorf("an error without a place: %v", err)
		}
		if !utf8.ValidString(err.Error()) {
			t.Errorf("an error that is not text: %q", err)
		}
	}
	for _, doc := range docs {
		doc.At("containers[0].env[9].name", "x")
		checkSurvives(t, scheme, doc.Manifest)
	}
}

// checkInList reads a JSON text twice over, in both kinds of list.
func checkInList(t *testing.T, scheme *api.Scheme, data []byte, docs []api.Document) {
	t.Helper()
	items := fmt.Sprintf("[%s,%s]", data, data)
	for _, text := range []string{items, `{"kind":"ContainerManifestList","apiVersion":"v1beta1","items":` + items + `}`} {
		list, err := scheme.DecodeList("list", []byte(text))
		if err != nil || len(list) != 2 {
			t.Fatalf("%s\nis %d items and %v", text, len(list), err)
		}
		for _, item := range list {
			if diff := cmp.Diff(asJSON(t, docs[0].Manifest), asJSON(t, item.Manifest)); diff != "" {
				t.Errorf("as an item it is another (-alone +item):\n%s", diff)
			}
		}
	}
}

func leaves(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// checkSurvives writes a manifest in its version and reads it again.
func checkSurvives(t *testing.T, scheme *api.Scheme, m api.ContainerManifest) {
	t.Helper()
	wire, err := scheme.Externalize(m.Version, &m)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(wire)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := scheme.Decode("again", text)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s\nis not read again: %v", text, err)
	}
	if diff := cmp.Diff(asJSON(t, m), asJSON(t, docs[0].Manifest)); diff != "" {
		t.Errorf("written and read again (-before +after):\n%s", diff)
	}
}

// checkAgainstJSON reads the same text with encoding/json.
func checkAgainstJSON(t *testing.T, scheme *api.Scheme, data []byte, docs []api.Document) {
	t.Helper()
	var wire v1beta1.ContainerManifest
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&wire); err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
	internal, err := scheme.Internalize(wire.Version, &wire)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, internal), asJSON(t, docs[0].Manifest)); diff != "" {
		t.Errorf("differs from encoding/json (-json +decoded):\n%s", diff)
	}
}

// asJSON makes nil and empty lists the same.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

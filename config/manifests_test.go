package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

var update = flag.Bool("update", false, "write the .err files of testdata/manifests anew")

func parse(file, text string) ([]api.ContainerManifest, error) {
	parser := testParser()
	pods, err := parser.pods("file", file, []byte(text), parser.Scheme.Decode, func(number int) string { return fmt.Sprint(number) })
	var manifests []api.ContainerManifest
	for _, pod := range pods {
		manifests = append(manifests, pod.Manifest)
	}
	return manifests, err
}

func testFiles(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/manifests/" + pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("find test files: %v %v", paths, err)
	}
	files := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = string(data)
	}
	return files
}

func TestValidManifests(t *testing.T) {
	want := map[string]string{
		"valid-one.yaml":         "web",
		"valid-one.json":         "web",
		"valid-several.yaml":     "web db cache",
		"valid-every-field.yaml": "everything",
		"valid-old-names.yaml":   "old",
	}
	for path, text := range testFiles(t, "valid-*") {
		manifests, err := parse(path, text)
		if err != nil {
			t.Error(err)
			continue
		}
		var ids []string
		for _, m := range manifests {
			ids = append(ids, m.ID)
		}
		if got := strings.Join(ids, " "); got != want[filepath.Base(path)] {
			t.Errorf("%s: got %q", path, got)
		}
	}
}

// The words of an error are part of what the program is for; read the .err files
// when they change.
func TestInvalidManifests(t *testing.T) {
	for path, text := range testFiles(t, "invalid-*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			manifests, err := parse(filepath.Base(path), text)
			if err == nil {
				t.Fatalf("no error, but %+v", manifests)
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".err"
			got := api.WithExcerpts(err) + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-%s +got:\n%s", golden, diff)
			}
		})
	}
}

func TestAManifestOf10MegabytesIsRefused(t *testing.T) {
	_, err := parse("big.yaml", "version: v1beta1\n#"+strings.Repeat("x", 10<<20))
	const want = "big.yaml: 10485778 bytes are too many for a manifest: the limit is 1048576"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

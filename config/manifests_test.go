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

func parse(file, text string) ([]api.Pod, error) {
	parser := testParser()
	return parser.pods("file", file, []byte(text), func(number int) string { return fmt.Sprint(number) })
}

func testFiles(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/manifests/" + pattern)
	must(t, err)
	files := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
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
		"valid-pod.yaml":         "web db web cache",
	}
	files := testFiles(t, "valid-*")
	if len(files) != len(want) {
		t.Errorf("%d files", len(files))
	}
	for path, text := range files {
		pods, err := parse(path, text)
		var names []string
		for _, pod := range pods {
			names = append(names, pod.Name)
		}
		if got := strings.Join(names, " "); got != want[filepath.Base(path)] || err != nil {
			t.Errorf("%s: got %q, error %v", path, got, err)
		}
	}
}

// The words of an error are part of what the program is for; read the .err files
// when they change.
func TestInvalidManifests(t *testing.T) {
	for path, text := range testFiles(t, "invalid-*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			pods, err := parse(filepath.Base(path), text)
			if err == nil {
				t.Fatalf("no error, but %+v", pods)
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".err"
			got := api.WithExcerpts(err) + "\n"
			if *update {
				must(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-%s +got:\n%s", golden, diff)
			}
		})
	}
}

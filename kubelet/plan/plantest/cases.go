package plantest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write the answers of today into testdata")

// Cases runs every case of the files testdata/*.txt. A case is some lines of input, a line of dashes, and the answer. Lines
// that begin with # are for the reader. -rewrite writes today's answers into the files.
func Cases(t *testing.T, answer func(t *testing.T, input string) string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find cases: %d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for i, c := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			input, want, found := strings.Cut(c+"\n", "----\n")
			if !found && strings.HasPrefix(c, "#") && !strings.Contains(c, "\nwant") {
				out = append(out, c) // a heading
				continue
			}
			got := answer(t, input)
			out = append(out, strings.TrimSpace(input+"----\n"+got))
			if *rewrite {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s\nanother answer (-file +today):\n%s", input, diff)
				}
			})
		}
		if *rewrite {
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

package step

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
)

// Only manifests are read, and a named pipe holds nobody up.
func TestBreaksOfADirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"web.yaml": "image: hello\n", ".db.yaml": "image: db\n", "notes.txt": "image: x\n"} {
		unittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, name := range []string{"pipe.yaml", "pipe"} {
		unittest.Must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o644))
	}
	var titles []string
	for _, b := range (&Stepper{}).Breaks(nil, dir) {
		titles = append(titles, b.Title)
	}
	if got, want := strings.Join(titles, "; "), "Bring back db.yaml; A typo in web.yaml; Take away web.yaml"; got != want {
		t.Errorf("it offers %q, want %q", got, want)
	}
}

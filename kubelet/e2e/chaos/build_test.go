//go:build chaos

package chaos

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// change replaces a text that a file of this module or of Go has once, and adds to its end.
type change struct{ file, old, new, more string }

// clockFile is the variable that names a file: its first byte is by how many hours the clock of a kubelet is back.
const clockFile = "CHAOS_CLOCK"

// ownClock gives the program a clock that a run can set back. All other programs, and Docker, have that of the machine.
var ownClock = []change{
	{"time/time.go", "\tsec, nsec, mono := runtimeNow()\n", "\tsec, nsec, mono := runtimeNow()\n\tsec -= hoursBack() * 3600\n", ""},
	{"time/sys_unix.go", "package time\n", "package time\n", `
var clock = func() []byte {
	name, _ := syscall.Getenv("` + clockFile + `")
	fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		return []byte{0}
	}
	data, err := syscall.Mmap(fd, 0, 1, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return data
}()

func hoursBack() int64 { return int64(clock[0]) }
`},
}

// build builds the program with changes.
func build(t *testing.T, changes ...change) (binary string) {
	root, err := unittest.Root()
	unittest.Must(t, err)
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	unittest.Must(t, err)
	dir, replace := t.TempDir(), map[string]string{}
	for _, c := range changes {
		source, changed := filepath.Join(root, c.file), filepath.Join(dir, filepath.Base(c.file))
		if strings.HasPrefix(c.file, "time/") {
			source = filepath.Join(strings.TrimSpace(string(goRoot)), "src", c.file)
		}
		text, err := os.ReadFile(source)
		unittest.Must(t, err)
		if strings.Count(string(text), c.old) != 1 {
			t.Fatalf("%s does not have this once: %s", c.file, c.old)
		}
		replace[source] = changed
		unittest.Must(t, os.WriteFile(changed, []byte(strings.Replace(string(text), c.old, c.new, 1)+c.more), 0o644))
	}
	overlay, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "kubelet14")
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	unittest.Must(t, err, os.WriteFile(overlay, list, 0o644))
	unittest.Must(t, hosttest.Build(binary, "-overlay="+overlay))
	return binary
}

// setClock sets the clock of the kubelets back by some hours.
func (w *world) setClock(hours int) {
	_, err := w.clock.WriteAt([]byte{byte(hours)}, 0)
	w.Must(err)
}

package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kubelet14/api/unittest"
)

// procOf makes a /proc of files.
func procOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		unittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text+"\n"), 0o644))
	}
	return dir
}

func TestFacts(t *testing.T) {
	files := map[string]string{
		"meminfo": "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 300 kB\nSwapFree: 5000 kB\nInactive(file): 250 kB", "loadavg": "0.10 0.20 0.30 6/174 31110",
		"sys/kernel/pid_max": "32768", "sys/kernel/threads-max": "1000",
		"stat":    "cpu 40 0 0\ncpu0 10 0 0\ncpu2 30 0 0",                                                     // cpu1 is offline
		"net/dev": "\n\neth0: 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nk14-16f2b4b8: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", // of a pod network
	}
	r := Reader{Proc: procOf(t, files), RootDir: t.TempDir()}
	f, _ := r.Read() // the other files are missing
	if f.Memory != (Amount{Available: 300 << 10, Total: 1000 << 10}) || f.PIDs != (Amount{Available: 826, Total: 1000}) || f.ImageFS != (Amount{}) {
		t.Errorf("%+v", f)
	}
	if want := []uint64{100e6, 300e6}; f.Cores != 2 || !slices.Equal(f.CPU.PerCPU, want) {
		t.Errorf("%d cores have used %d, want %d", f.Cores, f.CPU.PerCPU, want)
	}
	if f.MemoryStats.Usage != 900<<10 || f.MemoryStats.WorkingSet != 650<<10 || f.Network.RxBytes != 7 || f.SystemUUID == "" && f.MachineID != "" {
		t.Errorf("not as cAdvisor measures it: %+v", f)
	}
	r.Proc, r.DockerRoot = "/proc", r.RootDir
	if f, err := r.Read(); err != nil || f.ImageFS.Total != f.NodeFS.Total || f.NodeFS.Total == 0 || f.Memory.Available == 0 || f.PIDs.Available == 0 {
		t.Errorf("this machine, with images on the file system of the root_dir: %+v, %v", f, err)
	}

	r = Reader{Proc: procOf(t, nil), RootDir: "/no/such", DockerRoot: "/no/such/either"}
	f, err := r.Read()
	if reading := f.Reading(); len(reading) > 0 || err == nil {
		t.Fatalf("facts that cannot be read: %v, %v", reading, err)
	}
	unittest.Says(t, err, "meminfo", "loadavg", `"/no/such"`, `"/no/such/either"`)
}

// An operator checks the numbers with df, which rounds up. Other formulas fail on a file system with a reserve for
// root.
func TestFileSystemsAreMeasuredAsByDF(t *testing.T) {
	const dir = "/"
	df := func() (percent [2]uint64) {
		out, err := exec.Command("df", "--output=pcent,ipcent", dir).Output()
		_, text, _ := strings.Cut(string(out), "\n")
		if _, scanErr := fmt.Sscanf(strings.ReplaceAll(text, "-", "0%"), "%d%% %d%%", &percent[0], &percent[1]); err != nil || scanErr != nil {
			t.Fatal(err, scanErr, text)
		}
		return percent
	}
	percent := func(a Amount) uint64 { return (100*(a.Total-a.Available) + max(a.Total, 1) - 1) / max(a.Total, 1) }
	unittest.Await(t, func() error { // others write to it meanwhile
		bytes, inodes, err := fileSystem(dir)
		got, want := [2]uint64{percent(bytes), percent(inodes)}, df()
		if err == nil && got != want {
			err = fmt.Errorf("%d %% are used of %+v, %+v; df says %d", got, bytes, inodes, want)
		}
		return err
	})
}

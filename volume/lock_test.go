package volume

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecondKubeletInThisProcessIsRefused(t *testing.T) {
	r := openRoot(t)
	path := setUp(t, r, "uid", "vol")

	_, err := OpenRootDir(r.Path())
	wantError(t, err, r.Path(), fmt.Sprintf("pid %d", os.Getpid()), "-root_dir")
	must(t, emptyDir(t, r, "uid", "vol").SetUp()) // the first goes on

	must(t, r.Close())
	second, err := OpenRootDir(r.Path())
	must(t, err)
	must(t, second.Close())
	wantMode(t, path, os.ModeDir|0o777)
}

// The child holds the root_dir until it is killed.
func TestLockOfAnotherProcessEndsWithIt(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		_, err := OpenRootDir(dir)
		fmt.Println("child has opened:", err)
		io.Copy(io.Discard, os.Stdin)
		return
	}
	dir := t.TempDir()
	cmd := again(t, dir, nil)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	said := ""
	for buf := make([]byte, 1024); !strings.Contains(said, "child has opened: <nil>\n"); {
		n, err := stdout.Read(buf)
		if said += string(buf[:n]); err != nil {
			t.Fatalf("the child ended: %v\n%s", err, said)
		}
	}

	_, err = OpenRootDir(dir)
	wantError(t, err, dir, fmt.Sprintf("pid %d", cmd.Process.Pid))

	must(t, cmd.Process.Kill())
	cmd.Wait()
	r, err := OpenRootDir(dir)
	must(t, err)
	must(t, r.Close())
}

func TestRefusalByAHolderThatHasNotSaidItsPid(t *testing.T) {
	r := openRoot(t)
	must(t, os.Truncate(filepath.Join(r.Path(), markerFile), 0))
	_, err := OpenRootDir(r.Path())
	wantError(t, err, r.Path(), "another kubelet14 works in it")
}

func TestProgramsWeStartDoNotInheritTheLock(t *testing.T) {
	r := openRoot(t)
	out, err := exec.Command("ls", "-l", "/proc/self/fd").CombinedOutput()
	if err != nil || strings.Contains(string(out), r.Path()) {
		t.Errorf("error %v; a child has these files open:\n%s", err, out)
	}
}

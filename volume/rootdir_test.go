package volume

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenRootDirMakesAndMarksADirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, errors.Join(err, os.Mkdir(filepath.Join(dir, "real"), 0o755), os.Symlink("real", filepath.Join(dir, "link"))))
	t.Chdir(dir)
	if got, err := AbsRootDir("new"); err != nil || got != filepath.Join(dir, "new") {
		t.Errorf("AbsRootDir of a missing directory is %q, %v", got, err)
	}
	wantGone(t, "new")
	want := filepath.Join(dir, "real/a/b")
	for _, name := range []string{"link/a/b", want, "./link/x/../a//b/", filepath.Join(dir, "link/a/b")} {
		r, err := OpenRootDir(name)
		must(t, err)
		must(t, r.Close())
		if got, err := AbsRootDir(name); err != nil || got != want || r.Path() != want {
			t.Errorf("%q: AbsRootDir is %q, %v; Path is %q; want %q", name, got, err, r.Path(), want)
		}
	}
	wantMode(t, want, fs.ModeDir|0o750)
	wantText(t, filepath.Join(want, "kubelet14.lock"), fmt.Sprintf(marker, os.Getpid()))
}

func TestForeignRootDirIsRefusedAndUntouched(t *testing.T) {
	for _, names := range [][]string{{"a"}, {".hidden"}, {"pods"}, {".dockercfg", "lost+found", "m"}, {".dockercfg", "lost+found"}} {
		dir := t.TempDir()
		for _, name := range names {
			write(t, filepath.Join(dir, name, "file"), "theirs")
		}
		before, last := tree(dir), names[len(names)-1]
		r, err := OpenRootDir(dir)
		if last == "lost+found" { // of a new file system
			must(t, err)
			must(t, r.Close())
			continue
		}
		wantError(t, err, dir, `not empty ("`+last+`")`, "-root_dir")
		if after := tree(dir); after != before {
			t.Errorf("it was touched:\n%s", after)
		}
	}
}

// A root_dir that is not the one that was opened is not used.
func TestRootDirThatIsReplacedIsNoticed(t *testing.T) {
	r := openRoot(t)
	setUp(t, r, "uid")
	must(t, os.Rename(r.Path(), r.Path()+".moved"))
	for range 2 { // it is missing, then it is another one
		vol := emptyDir(t, r, "uid")
		_, listErr := r.PodUIDs()
		_, messageErr := r.MakeTerminationFile("uid", "web.1")
		errs := []error{listErr, messageErr, vol.SetUp(), vol.TearDown(t.Context()), r.MoveToTrash("uid"), r.EmptyTrash(t.Context())}
		for _, err := range errs {
			wantError(t, err, r.Path(), "was removed or replaced")
		}
		wantText(t, filepath.Join(r.Path()+".moved/pods/uid", emptyDirs, "vol/file"), "data of uid")
		write(t, filepath.Join(r.Path(), markerFile), "of another kubelet")
	}
}

// The child has the root_dir until it is killed.
func TestLockOfAnotherProcessEndsWithIt(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		_, err := OpenRootDir(dir)
		fmt.Println("child has opened:", err)
		io.Copy(io.Discard, os.Stdin)
		return
	}
	dir := t.TempDir()
	cmd := runAgain(t, dir, nil)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for out := bufio.NewScanner(stdout); out.Scan() && out.Text() != "child has opened: <nil>"; {
	}

	_, err = OpenRootDir(dir)
	wantError(t, err, dir, fmt.Sprintf("pid %d", cmd.Process.Pid))

	must(t, cmd.Process.Kill())
	cmd.Wait()
	r, err := OpenRootDir(dir)
	must(t, err)
	must(t, r.Close())
}

func TestOneOfManyOpenersGetsIt(t *testing.T) {
	for range 50 {
		dir, opened := t.TempDir(), make(chan *RootDir, 8)
		for range cap(opened) {
			go func() {
				r, err := OpenRootDir(dir)
				if err == nil {
					_, err = r.PodUIDs() // makes a directory, which must not look foreign to the others
				}
				if err != nil && !strings.Contains(err.Error(), "another kubelet14") {
					t.Error(err)
				}
				opened <- r
			}()
		}
		won := 0
		for range cap(opened) {
			if r := <-opened; r != nil {
				won++
				defer r.Close()
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d got the root_dir, want 1", won, cap(opened))
		}
	}
}

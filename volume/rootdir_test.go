package volume

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestOpenRootDirMakesAndMarksIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new/root")
	r, err := OpenRootDir(path)
	must(t, err)
	defer r.Close()
	wantMode(t, path, fs.ModeDir|0o750)
	text, err := os.ReadFile(filepath.Join(path, markerFile))
	if err != nil || !strings.Contains(string(text), "belongs to kubelet14") {
		t.Errorf("the lock file contains %q (error %v)", text, err)
	}
}

func TestPathOfARootDirHasNoLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	t.Chdir(dir)
	if got, err := AbsRootDir("new"); err != nil || got != filepath.Join(dir, "new") {
		t.Errorf("AbsRootDir of a missing directory is %q, %v", got, err)
	}
	wantGone(t, "new")
	want := filepath.Join(dir, "real/a/b")
	for _, name := range []string{"link/a/b", filepath.Join(dir, "real/a/b"), "./link/x/../a//b/", filepath.Join(dir, "link/a/b")} {
		r, err := OpenRootDir(name)
		must(t, err)
		must(t, r.Close())
		if got, err := AbsRootDir(name); err != nil || got != want || r.Path() != want {
			t.Errorf("%q: AbsRootDir is %q, %v; Path is %q; want %q", name, got, err, r.Path(), want)
		}
	}
}

func TestOpenRootDirFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "data")
	for _, path := range []string{"", file, filepath.Join(file, "below")} {
		_, err := OpenRootDir(path)
		wantError(t, err, "root_dir", path)
	}
	wantText(t, file, "data")
}

func TestForeignRootDirIsRefusedAndUntouched(t *testing.T) {
	for _, names := range [][]string{{"a"}, {".hidden"}, {"b", "c"}, {"pods"}, {"lost+found", "m"}} {
		dir := t.TempDir()
		for _, name := range names {
			write(t, filepath.Join(dir, name, "file"), "theirs")
		}
		before := tree(dir)
		_, err := OpenRootDir(dir)
		wantError(t, err, dir, "not empty", "-root_dir")
		if len(names) == 1 {
			wantError(t, err, `"`+names[0]+`"`)
		}
		if after := tree(dir); after != before {
			t.Errorf("it was touched:\n%s", after)
		}
	}
}

func TestWhatMayBeInANewRootDir(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700)) // of a new file system
	write(t, filepath.Join(dir, ".dockercfg"), "{}")
	r, err := OpenRootDir(dir)
	must(t, err)
	must(t, r.Close())
}

func TestRootDirIsOpenedAgain(t *testing.T) {
	r := openRoot(t)
	path := setUp(t, r, "uid")
	must(t, r.Close())
	// A kubelet that was killed at its first start may leave the marker empty.
	must(t, os.Truncate(filepath.Join(r.Path(), markerFile), 0))

	again, err := OpenRootDir(r.Path())
	must(t, err)
	defer again.Close()
	wantText(t, filepath.Join(path, "file"), "data of uid")
	wantUIDs(t, again, "uid")
}

func TestMarkerThatIsALinkIsRefused(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	write(t, outside, "theirs")
	must(t, os.Symlink(outside, filepath.Join(dir, markerFile)))
	_, err := OpenRootDir(dir)
	wantError(t, err, dir, markerFile)
	wantText(t, outside, "theirs")
}

// A root_dir that is not the one that was opened is not used.
func TestRootDirThatIsReplacedIsNoticed(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"moved":    func(path string) error { return os.Rename(path, path+".moved") },
		"replaced": func(path string) error { return os.Rename(path, path+".moved") },
		"emptied":  func(path string) error { return os.Remove(filepath.Join(path, markerFile)) },
	} {
		r := openRoot(t)
		vol := emptyDir(t, r, "uid", "vol")
		must(t, vol.SetUp())
		must(t, change(r.Path()))
		if name == "replaced" {
			write(t, filepath.Join(r.Path(), "pods/uid/file"), "of another kubelet")
			write(t, filepath.Join(r.Path(), markerFile), "")
		}
		_, listErr := r.PodUIDs()
		_, messageErr := r.MakeTerminationFile("uid", "web.1")
		for _, err := range []error{listErr, messageErr, vol.SetUp(), vol.TearDown(t.Context()), r.MoveToTrash("uid"), r.EmptyTrash(t.Context())} {
			wantError(t, err, r.Path(), "was removed or replaced")
		}
		if name == "replaced" {
			wantText(t, filepath.Join(r.Path(), "pods/uid/file"), "of another kubelet")
		}
	}
}

func TestSecondKubeletIsRefused(t *testing.T) {
	r := openRoot(t)
	_, err := OpenRootDir(r.Path())
	wantError(t, err, r.Path(), fmt.Sprintf("another kubelet14 (pid %d)", os.Getpid()), "-root_dir")
	setUp(t, r, "uid") // the first one works on

	must(t, r.Close())
	second, err := OpenRootDir(r.Path())
	must(t, err)
	must(t, second.Close())
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
	output := ""
	for buf := make([]byte, 1024); !strings.Contains(output, "child has opened: <nil>\n"); {
		n, err := stdout.Read(buf)
		if output += string(buf[:n]); err != nil {
			t.Fatalf("the child ended: %v\n%s", err, output)
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

func TestChildProcessesDoNotInheritTheLock(t *testing.T) {
	r := openRoot(t)
	out, err := exec.Command("ls", "-l", "/proc/self/fd").CombinedOutput()
	if err != nil || strings.Contains(string(out), r.Path()) {
		t.Errorf("error %v; a child has these files open:\n%s", err, out)
	}
}

func TestOneOfManyOpenersGetsIt(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		var wg sync.WaitGroup
		roots, errs := make([]*RootDir, 8), make([]error, 8)
		start := make(chan struct{})
		for i := range roots {
			wg.Go(func() {
				<-start
				if roots[i], errs[i] = OpenRootDir(dir); roots[i] != nil {
					_, errs[i] = roots[i].PodUIDs() // makes a directory, which must not look foreign to the others
				}
			})
		}
		close(start)
		wg.Wait()
		won := 0
		for i, r := range roots {
			if r == nil {
				wantError(t, errs[i], dir, "another kubelet14")
				continue
			}
			won++
			must(t, errs[i])
			must(t, r.Close())
		}
		if won != 1 {
			t.Fatalf("%d of %d got the root_dir, want 1", won, len(roots))
		}
	}
}

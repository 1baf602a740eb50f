package volume

import (
	"io/fs"
	"os"
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
		t.Errorf("the marker says %q (error %v) to people", text, err)
	}
}

func TestRootDirPathIsTheSameHoweverItIsNamed(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	t.Chdir(dir)
	want, err := filepath.EvalSymlinks(dir)
	must(t, err)
	want = filepath.Join(want, "real/a/b")
	for _, name := range []string{filepath.Join(dir, "real/a/b"), "link/a/b", "./link/x/../a//b/", filepath.Join(dir, "link/a/b")} {
		got, err := AbsRootDir(name)
		if err != nil || got != want {
			t.Errorf("AbsRootDir(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	wantGone(t, filepath.Join(dir, "real/a")) // it touched nothing

	r, err := OpenRootDir("link/a/b")
	must(t, err)
	defer r.Close()
	if r.Path() != want {
		t.Errorf("Path is %q, want %q", r.Path(), want)
	}
	if got, err := AbsRootDir("link/a/b"); err != nil || got != want {
		t.Errorf("AbsRootDir of what is there is %q, %v; want %q", got, err, want)
	}
}

func TestRootDirThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "data")
	for path, says := range map[string]string{"": "-root_dir is empty", file: file, filepath.Join(file, "below"): file} {
		if r, err := OpenRootDir(path); err == nil {
			r.Close()
			t.Errorf("OpenRootDir(%q) gave no error", path)
		} else {
			wantError(t, err, says)
		}
	}
	wantText(t, file, "data")
}

func TestForeignRootDirIsRefusedAndUntouched(t *testing.T) {
	for _, found := range [][]string{{"a"}, {".hidden"}, {"e", "a", "d", "c", "b"}, {"pods"}, {"lost+found", "a"}} {
		dir := t.TempDir()
		for _, name := range found {
			write(t, filepath.Join(dir, name, "file"), "theirs")
		}
		before := tree(dir)

		r, err := OpenRootDir(dir)
		if err == nil {
			r.Close()
		}

		wantError(t, err, dir, `"`+found[len(found)-1]+`"`, "-root_dir")
		if len(found) > 3 {
			wantError(t, err, `"a", "b", "c" and 2 more`)
		}
		if after := tree(dir); after != before {
			t.Errorf("it was touched:\n%s", after)
		}
	}
}

func TestWhatMayBeThereBeforeUs(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700)) // of a new file system
	write(t, filepath.Join(dir, ".dockercfg"), "{}")           // the operator's
	r, err := OpenRootDir(dir)
	must(t, err)
	must(t, r.Close())
}

func TestRootDirOfAnEarlierLifeIsOurs(t *testing.T) {
	r := openRoot(t)
	path := setUp(t, r, "uid", "vol")
	write(t, filepath.Join(path, "file"), "data")
	must(t, r.Close())
	// As a first start leaves it that was interrupted.
	must(t, os.Truncate(filepath.Join(r.Path(), markerFile), 0))

	again, err := OpenRootDir(r.Path())
	must(t, err)
	defer again.Close()

	wantText(t, filepath.Join(path, "file"), "data")
	if uids, err := again.PodUIDs(); err != nil || len(uids) != 1 || uids[0] != "uid" {
		t.Errorf("PodUIDs is %q, %v; want uid alone", uids, err)
	}
}

func TestMarkerThatIsALinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "theirs")
	must(t, os.Symlink(outside, filepath.Join(dir, markerFile)))
	_, err := OpenRootDir(dir)
	wantError(t, err, dir, markerFile, "remove it")
	wantText(t, outside, "theirs")
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
				roots[i], errs[i] = OpenRootDir(dir)
				if roots[i] != nil { // what the winner makes at once must not look foreign to the others
					errs[i] = roots[i].mkdirs(podsDir)
				}
			})
		}
		close(start)
		wg.Wait()
		won := 0
		for i, r := range roots {
			if r != nil {
				won++
				must(t, errs[i])
				must(t, r.Close())
			} else {
				wantError(t, errs[i], dir, "another kubelet14")
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d got the root_dir, want 1", won, len(roots))
		}
	}
}

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
)

func fileVolume(t *testing.T, r *RootDir) *FileVolume {
	t.Helper()
	v, err := r.FileVolume("uid", "vol")
	unittest.Must(t, err)
	return v
}

func mustWrite(t *testing.T, v *FileVolume, wantChanged bool, files map[string]File) {
	t.Helper()
	if changed, err := v.Write(files); changed != wantChanged || err != nil {
		t.Errorf("Write(%v) returns %v, %v; want %v", files, changed, err, wantChanged)
	}
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	unittest.Must(t, err)
	var got []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "..v") {
			got = append(got, e.Name())
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || len(entries) != len(got)+1 {
		t.Errorf("%s has %v, want %v and one version", dir, entries, want)
	}
}

// A program that reads while the files change finds a whole version at every moment.
func TestFilesChangeAtOnce(t *testing.T) {
	v := fileVolume(t, openRoot(t))
	write := func(text string) {
		_, err := v.Write(map[string]File{"a": {[]byte(text), 0o644}, "b": {[]byte(text), 0o644}})
		unittest.Must(t, err)
	}
	write("0")
	done, read := make(chan struct{}), make(chan int)
	go func() {
		versions := 0
		defer func() { read <- versions }()
		for {
			select {
			case <-done:
				return
			default:
			}
			version, err := os.OpenRoot(filepath.Join(v.GetPath(), "..data"))
			if err != nil { // the link is always there; its version may be removed on the way
				if _, err := os.Readlink(filepath.Join(v.GetPath(), "..data")); err != nil {
					t.Errorf("no version is current: %v", err)
					return
				}
				continue
			}
			a, errA := version.ReadFile("a")
			b, errB := version.ReadFile("b")
			if errA == nil && errB == nil { // an error is of a version that has been removed since
				versions++
				if string(a) != string(b) {
					t.Errorf("one version has %s and %s", a, b)
				}
			}
			version.Close()
		}
	}()
	for i := range 300 {
		write(fmt.Sprint(i))
	}
	close(done)
	if n := <-read; n == 0 {
		t.Error("no version was read")
	}
}

func TestFileVolume(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	r := openRoot(t)
	v := fileVolume(t, r)
	if v.Exists() {
		t.Error("it exists before the first Write")
	}
	dir := v.GetPath()
	mustWrite(t, v, true, map[string]File{"a": {[]byte("1"), 0o644}, "b/c/d": {[]byte("2"), 0o400}})
	wantText(t, filepath.Join(dir, "a"), "1")
	wantText(t, filepath.Join(dir, "b/c/d"), "2")
	wantNames(t, dir, "..data", "a", "b")
	for path, mode := range map[string]fs.FileMode{"..": fs.ModeDir | 0o700, ".": fs.ModeDir | 0o755, "..data/a": 0o644, "..data/b/c/d": 0o400, "..data/b/c": fs.ModeDir | 0o755} {
		wantMode(t, filepath.Join(dir, path), mode)
	}
	old, err := os.Open(filepath.Join(dir, "a"))
	unittest.Must(t, err)
	defer old.Close()
	version, err := os.Readlink(filepath.Join(dir, "..data"))
	unittest.Must(t, err)

	mustWrite(t, fileVolume(t, r), false, map[string]File{"a": {[]byte("1"), 0o644}, "b/c/d": {[]byte("2"), 0o400}}) // as after a restart
	if now, _ := os.Readlink(filepath.Join(dir, "..data")); now != version {
		t.Errorf("the version is %s after a Write of the same, and was %s", now, version)
	}
	for _, files := range []map[string]File{
		{"a": {[]byte("1"), 0o600}, "b/c/d": {[]byte("2"), 0o400}}, // another mode
		{"a": {[]byte("2"), 0o600}, "b/c/d": {[]byte("2"), 0o400}}, // another text
		{"a": {[]byte("2"), 0o600}}, {"a/b": {[]byte("2"), 0o600}, "c": {}}, {},
	} {
		mustWrite(t, v, true, files)
		mustWrite(t, v, false, files)
	}
	wantNames(t, dir, "..data")
	text := make([]byte, 10)
	if n, _ := old.Read(text); string(text[:n]) != "1" {
		t.Errorf("an open file has %q now", text[:n])
	}
	if !v.Exists() {
		t.Error("it does not exist")
	}
	unittest.Must(t, r.MoveToTrash("uid"))
	if v.Exists() {
		t.Error("it exists in the trash")
	}
}

// What cannot be written changes nothing.
func TestFileVolumeThatCannotBeWritten(t *testing.T) {
	v := fileVolume(t, openRoot(t))
	mustWrite(t, v, true, map[string]File{"a": {[]byte("1"), 0o644}})
	for _, files := range []map[string]File{
		{"a": {}, strings.Repeat("x", 300): {}}, {"a/b": {}, "a": {}}, {"../x": {}}, {"/x": {}}, {".": {}}, {"..data": {}}, {"a/../../x": {}},
	} {
		if changed, err := v.Write(files); err == nil || changed {
			t.Errorf("Write(%v) returns %v, %v", files, changed, err)
		}
		wantText(t, filepath.Join(v.GetPath(), "a"), "1")
		wantNames(t, v.GetPath(), "..data", "a")
		wantGone(t, filepath.Join(v.GetPath(), "../x"))
	}
}

// A link in the place of a directory of the volume, or of its version, leads nowhere.
func TestFileVolumeFollowsNoLink(t *testing.T) {
	for _, level := range []string{"..", ".", "..data"} {
		r := openRoot(t)
		v, outside := fileVolume(t, r), filepath.Join(r.Path(), "outside")
		mustWrite(t, v, true, map[string]File{"a": {[]byte("1"), 0o644}})
		write(t, filepath.Join(outside, "a"), "keep")
		write(t, filepath.Join(outside, "vol/a"), "keep")
		link := filepath.Join(v.GetPath(), level)
		unittest.Must(t, os.RemoveAll(link), os.Symlink(outside, link))
		_, err := v.Write(map[string]File{"a": {[]byte("2"), 0o644}})
		if level != "..data" { // which is replaced
			unittest.Says(t, err, "is not a directory")
		}
		wantText(t, filepath.Join(outside, "a"), "keep")
		wantText(t, filepath.Join(outside, "vol/a"), "keep")
	}
}

// A process that is killed at any moment leaves all files of one version, and the next one removes what is left over.
func TestFileVolumeSurvivesAKill(t *testing.T) {
	path := os.Getenv(childEnv)
	version := func(n int) map[string]File {
		files := map[string]File{}
		for i := range 5 {
			files[fmt.Sprint("dir/file", i)] = File{[]byte(strings.Repeat(fmt.Sprint(n, " "), 1000)), 0o644}
		}
		return files
	}
	if path != "" {
		r, err := OpenRootDir(path)
		unittest.Must(t, err)
		for n := 0; ; n++ {
			_, err := fileVolume(t, r).Write(version(n))
			if unittest.Must(t, err); n == 0 {
				os.Stdout.WriteString("writing\n")
			}
		}
	}
	path = filepath.Join(t.TempDir(), "root")
	for range 10 {
		cmd := runAgain(t, path, nil)
		out, err := cmd.StdoutPipe()
		unittest.Must(t, err, cmd.Start())
		for line := make([]byte, 1000); !strings.Contains(string(line), "writing"); {
			if _, err := out.Read(line); err != nil {
				t.Fatal(err)
			}
		}
		for range rand.IntN(1 << 22) { // some moment
		}
		unittest.Must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		r, err := OpenRootDir(path)
		unittest.Must(t, err)
		v, first := fileVolume(t, r), ""
		for i := range 5 {
			text, err := os.ReadFile(filepath.Join(v.GetPath(), "dir", fmt.Sprint("file", i)))
			unittest.Must(t, err)
			if first = string(text); i > 0 && string(text) != first || len(first) < 2000 {
				t.Errorf("file %d has %.10q…, and the first %.10q…", i, text, first)
			}
		}
		mustWrite(t, v, true, version(-1))
		wantNames(t, v.GetPath(), "..data", "dir")
		unittest.Must(t, r.Close())
	}
}

func TestOddNamesOfFileVolumesAreRefused(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "a\x00b"} {
		_, nameErr := openRoot(t).FileVolume("uid", bad)
		_, uidErr := openRoot(t).FileVolume(bad, "vol")
		if !errors.Is(nameErr, fs.ErrInvalid) || !errors.Is(uidErr, fs.ErrInvalid) {
			t.Errorf("%q: %v, %v", bad, nameErr, uidErr)
		}
	}
}

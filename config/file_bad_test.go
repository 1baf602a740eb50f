package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What can be wrong with the content of a file. Whatever it is, the file's last
// good pods and those of other files stay, and the error says which file it is.
func TestBadFileKeepsItsLastGoodPods(t *testing.T) {
	for name, content := range map[string]string{
		"empty":                  "",
		"bytes":                  "\x01\x02\x03",
		"plain text":             "hello",
		"too big":                "# " + strings.Repeat("x", 10<<20),
		"unknown field":          manifest("web", "2") + "\nimgae: x",
		"wrong type":             "version: v1beta1\nid: web\ncontainers: {}",
		"unknown version":        "version: v9\nid: web",
		"invalid":                "version: v1beta1\nid: web\ncontainers:\n- name: NOT A NAME\n  image: x",
		"a uuid that is a path":  withUUID("../x", manifest("web", "2")),
		"the first line":         "version: v1beta1\n",
		"half written":           "version: v1beta1\nid: web\ncontainers:\n- name: main\n  ima",
		"one bad document":       manifest("web", "2") + "\n---\nversion: v9",
		"a pod twice":            manifest("web", "2") + "\n---\n" + manifest("web", "3"),
		"a uuid twice":           withUUID("u", manifest("web", "2")) + "\n---\n" + withUUID("u", manifest("db", "3")),
		"a pod of another file":  manifest("other", "2"),
		"a uuid of another file": withUUID("other-uuid", manifest("web", "2")),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFileTest(t)
			f.write("a.yaml", withUUID("other-uuid", manifest("other", "1")))
			f.write("b.yaml", manifest("web", "1"), manifest("db", "1"))
			f.look()
			f.expect("other=1 web=1 db=1")

			f.write("b.yaml", content)
			f.settle()
			f.expect("other=1 web=1 db=1", f.path("b.yaml"))
			if size := fmt.Sprint(len(content)); name == "too big" {
				f.expect("other=1 web=1 db=1", size+" bytes")
			}

			f.write("b.yaml", manifest("web", "2"))
			f.look()
			f.expect("other=1 web=2")
		})
	}
}

func TestFileThatWasNeverGoodGivesNoPods(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", "bad: [")
	f.write("b.yaml", manifest("web", "1"))
	f.look()
	f.expect("web=1", "a.yaml")
}

// What can take the place of a file and is none.
func TestThingThatIsNoFileKeepsTheLastGoodPods(t *testing.T) {
	for _, test := range []struct {
		name, problem string
		replace       func(f *fileTest, path string) error
	}{
		{"a link that leads nowhere", "no such file", func(f *fileTest, path string) error { return os.Symlink("nowhere", path) }},
		{"a link to itself", "too many levels", func(f *fileTest, path string) error { return os.Symlink(path, path) }},
		// Nobody can read this one at 0, root neither.
		{"a file that cannot be read", "input/output error", func(f *fileTest, path string) error { return os.Symlink("/proc/self/mem", path) }},
		{"a named pipe", "it is a named pipe", func(f *fileTest, path string) error { return syscall.Mkfifo(path, 0o666) }},
		{"a link to a device", "it is a device", func(f *fileTest, path string) error { return os.Symlink(os.DevNull, path) }},
		{"a socket", "it is a socket", func(f *fileTest, path string) error { return mksocket(path) }},
		{"a directory", "it is a directory", func(f *fileTest, path string) error { return os.Mkdir(path, 0o755) }},
		{"a link to a directory", "it is a directory", func(f *fileTest, path string) error { return os.Symlink("/", path) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFileTest(t)
			f.write("../good", manifest("web", "1"))
			f.link("../good", "a.yaml")
			f.look()
			f.remove("a.yaml")
			f.must(test.replace(f, f.path("a.yaml")))
			f.settle()
			f.expect("web=1", "a.yaml", test.problem)

			f.remove("a.yaml")
			f.link("../good", "a.yaml") // the very file that was read before
			f.look()
			f.expect("web=1")
		})
	}
}

// The same in a file's place from the start: only a regular file counts, and a
// link that leads to none is an error since somebody meant it to.
func TestWhatADirectoryPassesOver(t *testing.T) {
	f := newFileTest(t)
	f.write("web.yaml", manifest("web", "1"))
	f.write(".hidden.yaml", manifest("hidden", "1"))
	f.write("web.yaml~", manifest("backup", "1"))
	f.write("README", "hello")
	f.write("UPPER.YAML", manifest("upper", "1"))
	f.must(os.Mkdir(f.path("sub.yaml"), 0o755))
	f.write("sub.yaml/inner.yaml", manifest("inner", "1"))
	f.must(syscall.Mkfifo(f.path("pipe.yaml"), 0o666))
	f.must(mksocket(f.path("socket.yaml")))
	f.link(os.DevNull, "device.yaml")
	f.link("sub.yaml", "subdir.yaml")
	f.look()
	f.expect("web=1")

	f.link("nowhere", "dangling.yaml")
	f.look()
	f.expect("web=1", "dangling.yaml")
}

func TestLinkToAFileCounts(t *testing.T) {
	f := newFileTest(t)
	f.write("../one", manifest("web", "1"))
	f.write("../two", manifest("web", "2"))
	f.link("../one", "web.yaml")
	f.look()
	f.expect("web=1")
	f.link("../two", "new")
	f.rename("new", "web.yaml")
	f.look()
	f.expect("web=2")
	f.write("../two", manifest("web", "3"))
	f.look()
	f.expect("web=3")
}

func TestSingleFile(t *testing.T) {
	dir := t.TempDir()
	f := newFileTestAt(t, dir, filepath.Join(dir, "any name"))
	f.look()
	f.expect("", "no such file")
	f.write("any name", "bad: [")
	f.look()
	f.expect("", "any name:1:")
	f.write("any name", manifest("web", "1"))
	f.write("another.yaml", manifest("other", "1"))
	f.look()
	f.expect("web=1")
	f.write("any name", "bad: [")
	f.look()
	f.expect("web=1", "any name:1:")

	f.remove("any name") // of one file, this is an error too
	f.settle()
	f.settle()
	f.expect("web=1", "no such file")
	f.write("any name", manifest("web", "2"))
	f.look()
	f.expect("web=2")
}

func TestPathThatChangesItsKindKeepsAll(t *testing.T) {
	kinds := map[string]func(f *fileTest){
		"a directory": func(f *fileTest) {
			f.must(os.Mkdir(f.SourceFile.path, 0o755))
			f.must(os.WriteFile(filepath.Join(f.SourceFile.path, "web.yaml"), []byte(manifest("dir", "1")), 0o644))
		},
		"a file": func(f *fileTest) {
			f.must(os.WriteFile(f.SourceFile.path, []byte(manifest("file", "1")), 0o644))
		},
		"a device": func(f *fileTest) { f.must(os.Symlink(os.DevNull, f.SourceFile.path)) },
		"nothing":  func(*fileTest) {},
	}
	for before, pods := range map[string]string{"a directory": "dir=1", "a file": "file=1"} {
		for after, become := range kinds {
			if after == before {
				continue
			}
			t.Run(before+" becomes "+after, func(t *testing.T) {
				dir := t.TempDir()
				f := newFileTestAt(t, dir, filepath.Join(dir, "path"))
				kinds[before](f)
				f.look()
				f.expect(pods)
				f.rename("path", "aside")
				become(f)
				f.settle()
				f.settle()
				f.expect(pods, f.SourceFile.path)
				f.must(os.RemoveAll(f.SourceFile.path))
				f.rename("aside", "path")
				f.settle()
				f.expect(pods)
			})
		}
	}
}

// What was never read well binds nobody.
func TestPathMayChangeItsKindWhileItIsBad(t *testing.T) {
	dir := t.TempDir()
	f := newFileTestAt(t, dir, filepath.Join(dir, "path"))
	f.write("path", "bad: [")
	f.look()
	f.remove("path")
	f.must(os.Mkdir(f.path("path"), 0o755))
	f.write("path/web.yaml", manifest("web", "1"))
	f.look()
	f.expect("web=1")
}

func mksocket(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	// A socket's address is short, so it is bound where it is.
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join("/proc/self/fd", fmt.Sprint(dir.Fd()), filepath.Base(path))})
}

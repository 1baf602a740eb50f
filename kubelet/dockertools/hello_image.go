package dockertools

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing/fstest"
)

// loaded matches the files in /proc/self/maps that contain machine code: this program and its libraries. A static
// program has no libraries; `go run` builds a dynamic one where there is a C compiler.
var loaded = regexp.MustCompile(`(?m)^\S+ r-xp [^/\n]*(/.*)$`)

// self is this program, even if its file was replaced after the start.
const self = "/proc/self/exe"

// helloFiles returns the files of HelloImage: this program, which under the name hello is the program of the demo (see
// main), and its libraries. So the demo needs no registry and no compiler.
func helloFiles(daemon Info) (fstest.MapFS, error) {
	if is, wants := runtime.GOOS+"/"+runtime.GOARCH, daemon.OS+"/"+daemon.Arch; is != wants {
		return nil, fmt.Errorf("it holds this program, which is for %s, but Docker runs on %s: make it from the source with "+
			"`CGO_ENABLED=0 GOOS=%s GOARCH=%s go build -o hello . && tar -c hello | docker import - %s`", is, wants, daemon.OS, daemon.Arch, HelloImage)
	}
	program, err := elf.Open(self)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	itself, linkErr := os.Readlink(self)
	memory, mapsErr := os.ReadFile("/proc/self/maps")
	paths := map[string]string{}
	for _, match := range loaded.FindAllStringSubmatch(string(memory), -1) {
		paths[match[1]] = match[1]
	}
	if loader := program.Section(".interp"); loader != nil { // under the path that the program names, which may be a link
		path, _ := loader.Data()
		name := strings.TrimRight(string(path), "\x00")
		paths[name] = name
	}
	delete(paths, itself)
	paths["/hello"] = self
	err = errors.Join(linkErr, mapsErr)
	files := fstest.MapFS{"tmp": {Mode: fs.ModeDir | fs.ModeSticky | 0o777}} // anybody may write to it
	for name, path := range paths {
		content, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		files[name[1:]] = &fstest.MapFile{Mode: 0o755, Data: content}
	}
	return files, err
}

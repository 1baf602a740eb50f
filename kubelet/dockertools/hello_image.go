package dockertools

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// loaded matches a file in /proc/self/maps that has machine code: this program and its
// libraries. A static program has none; `go run` makes a dynamic one where there is a C
// compiler.
var loaded = regexp.MustCompile(`(?m)^\S+ r-xp [^/\n]*(/.*)$`)

// self is this program, even if its file was replaced since it was started.
const self = "/proc/self/exe"

// helloFiles returns the files of HelloImage: this program, which under the name hello is
// the demo's (see main), and the libraries that it needs. So the demo needs no registry
// and no compiler.
func helloFiles(daemon Info) ([]File, error) {
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
	if loader := program.Section(".interp"); loader != nil { // by the name that the program has for it, which may be a link
		path, _ := loader.Data()
		name := strings.TrimRight(string(path), "\x00")
		paths[name] = name
	}
	delete(paths, itself)
	paths["/hello"] = self
	err = errors.Join(linkErr, mapsErr)
	files := []File{{Name: "tmp/", Mode: 0o1777}} // anybody may write to it
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		content, readErr := os.ReadFile(paths[name])
		err = errors.Join(err, readErr)
		files = append(files, File{Name: name[1:], Mode: 0o755, Content: content})
	}
	return files, err
}

package dockertools

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

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
	libraries, err := sharedLibraries()
	if err != nil {
		return nil, err
	}
	paths := map[string]string{"hello": self}
	for _, path := range libraries {
		paths[path[1:]] = path
	}
	files := []File{{Name: "tmp/", Mode: 0o1777}} // anybody may write to it
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		content, err := os.ReadFile(paths[name])
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: name, Mode: 0o755, Content: content})
	}
	return files, nil
}

// loaded matches a file in /proc/self/maps that has machine code.
var loaded = regexp.MustCompile(`(?m)^\S+ r-xp [^/\n]*(/.*)$`)

// sharedLibraries returns the paths of the files that are loaded with this program, and of
// the loader by the name that the program has for it. A static program has none; `go run`
// makes a dynamic one where there is a C compiler.
func sharedLibraries() (paths []string, err error) {
	program, err := elf.Open(self)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	if loader := program.Section(".interp"); loader != nil {
		name, err := loader.Data()
		if err != nil {
			return nil, err
		}
		paths = append(paths, strings.TrimRight(string(name), "\x00"))
	}
	itself, err := os.Readlink(self)
	if err != nil {
		return nil, err
	}
	memory, err := os.ReadFile("/proc/self/maps")
	for _, match := range loaded.FindAllSubmatch(memory, -1) {
		if path := string(match[1]); path != itself {
			paths = append(paths, path)
		}
	}
	return paths, err
}

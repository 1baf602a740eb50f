package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/golang/glog"

	"kubelet14/api"
)

// manifestSuffixes are the endings of the files that are read in a directory. 2014
// read any file without a leading dot, backups of editors too.
var manifestSuffixes = []string{".yaml", ".yml", ".json", ".manifest"}

// snapshot has the version of each file by path. A version is never empty and changes
// with the content.
type snapshot map[string]string

func versionOf(info fs.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t) // always, on Linux
	return fmt.Sprint(stat.Dev, stat.Ino, stat.Size, stat.Mtim, stat.Ctim)
}

// snapshot returns the versions of the files that count; a link has the version of its
// target. In a directory other entries are ignored, and logged once unless hidden.
func (s *SourceFile) snapshot() (snapshot, error) {
	info, err := os.Stat(s.place)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		return snapshot{s.place: versionOf(info)}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s is neither a file nor a directory", s.place)
	}
	entries, err := os.ReadDir(s.place)
	if err != nil {
		return nil, err
	}
	versions, ignored := snapshot{}, map[string]bool{}
	for _, entry := range entries {
		path := filepath.Join(s.place, entry.Name())
		info, err := os.Stat(path)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case !slices.Contains(manifestSuffixes, filepath.Ext(path)), err == nil && !info.Mode().IsRegular():
			ignored[path] = true
			if !s.ignored[path] {
				glog.Infof("File source: %s is ignored: only regular files whose names end in %s are read", label(path), strings.Join(manifestSuffixes, ", "))
			}
		case err == nil:
			versions[path] = versionOf(info)
		case entry.Type() == fs.ModeSymlink || !errors.Is(err, fs.ErrNotExist): // else it was removed meanwhile
			versions[path] = err.Error()
		}
	}
	s.ignored = ignored
	return versions, nil
}

// readFile returns the content of a file that still has the version, or the first part if it is too long. It does not
// wait for a named pipe that has just taken its place.
func readFile(path, version string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, api.MaxManifestBytes+1))
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || versionOf(info) != version {
		return nil, fmt.Errorf("read %q: it has changed meanwhile", path)
	}
	return text, nil
}

// label returns the name of a place for people: in quotes if it could be taken for something else, such as two lines of the
// log.
func label(place string) string {
	if quoted := strconv.Quote(place); quoted != `"`+place+`"` {
		return quoted
	}
	return place
}

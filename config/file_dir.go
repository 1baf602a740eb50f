package config

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"
)

// manifestSuffixes are the names a directory's files must end in. 2014 took any
// file without a leading dot, editors' backups too.
var manifestSuffixes = []string{".yaml", ".yml", ".json", ".manifest"}

// pathKind is what the path of the source is; empty when that is not known.
type pathKind string

const (
	pathFile pathKind = "file"
	pathDir  pathKind = "directory"
)

// read brings what is known up to date with the disk. When the path itself is in
// error, all stays as it was.
func (s *SourceFile) read() {
	kind, listed, err := s.list()
	s.pathErr = err
	if err != nil {
		for _, f := range s.files {
			f.changedAt, f.missingSince = time.Time{}, time.Time{} // nobody has looked
		}
		return
	}
	for path := range listed {
		if s.files[path] == nil {
			s.files[path] = &manifestFile{path: path}
		}
	}
	for path, f := range s.files {
		now := s.now()
		f.look(now, s.podsOf)
		gone := !f.missingSince.IsZero() && now.Sub(f.missingSince) >= settleTime
		if gone || !listed[path] && len(f.held) == 0 {
			delete(s.files, path)
		}
	}
	settleClaims(s.sortedFiles())
	if f := s.files[s.path]; kind == pathDir || f != nil && len(f.held) > 0 {
		s.kind = kind
	}
}

// sortedFiles returns the files by name, which is the order of everything that
// is said of them.
func (s *SourceFile) sortedFiles() []*manifestFile {
	files := make([]*manifestFile, 0, len(s.files))
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		files = append(files, s.files[path])
	}
	return files
}

// list returns what the path is, and the paths of the files that count.
func (s *SourceFile) list() (pathKind, map[string]bool, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return "", nil, fmt.Errorf("read manifests: %w", err)
	}
	kind := pathFile
	switch {
	case info.IsDir():
		kind = pathDir
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("read manifests: %q is %s, neither a file nor a directory", s.path, kindOf(info.Mode()))
	}
	if s.kind != "" && kind != s.kind {
		return "", nil, fmt.Errorf("read manifests: %q was a %s when it was last read and is a %s now: put it back, or restart the kubelet when it is meant to be one", s.path, s.kind, kind)
	}
	if kind == pathFile {
		return kind, map[string]bool{s.path: true}, nil
	}
	entries, err := os.ReadDir(s.path)
	if err != nil {
		return "", nil, fmt.Errorf("read manifests: %w", err)
	}
	return kind, s.choose(entries), nil
}

// choose returns the paths of the entries that count, and logs once each which
// do not. Hidden ones are meant to be overlooked.
func (s *SourceFile) choose(entries []fs.DirEntry) map[string]bool {
	listed, passed := map[string]bool{}, map[string]string{}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		why := s.whyNot(entry)
		if why == "" {
			listed[filepath.Join(s.path, name)] = true
			continue
		}
		passed[name] = why
		if s.passed[name] != why {
			glog.Infof("File source: %s is passed over: %s", filepath.Join(s.path, name), why)
		}
	}
	s.passed = passed
	return listed
}

// whyNot says why a directory's entry does not count, and nothing when it does.
func (s *SourceFile) whyNot(entry fs.DirEntry) string {
	if !entry.IsDir() && !slices.Contains(manifestSuffixes, filepath.Ext(entry.Name())) {
		return "its name ends in none of " + strings.Join(manifestSuffixes, " ")
	}
	mode := entry.Type()
	if mode&fs.ModeSymlink != 0 {
		info, err := os.Stat(filepath.Join(s.path, entry.Name()))
		if err != nil {
			return "" // a link that leads nowhere is an error of that file
		}
		mode = info.Mode()
	}
	if !mode.IsRegular() {
		return "it is " + kindOf(mode)
	}
	return ""
}

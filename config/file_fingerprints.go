package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"kubelet14/api"
)

// isManifest reports whether a file of this name is read in a directory. 2014 read any file
// without a leading dot, backups of editors too.
func isManifest(name string) bool { return slices.Contains(manifestSuffixes, filepath.Ext(name)) }

var manifestSuffixes = []string{".yaml", ".yml", ".json", ".manifest"}

// fingerprints has the fingerprint of each file by path, which is never empty and changes with the content.
type fingerprints map[string]string

func fingerprintOf(info fs.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t) // always, on Linux
	return fmt.Sprint(stat.Dev, stat.Ino, stat.Size, stat.Mtim, stat.Ctim)
}

// fingerprints returns those of the files that count; a link has that of its target. In a directory other entries are
// ignored.
func (s *SourceFile) fingerprints() (fingerprints, error) {
	info, err := os.Stat(s.place)
	if err != nil {
		return nil, err
	}
	s.warnOfWriters(s.place, info)
	switch {
	case info.Mode().IsRegular():
		return fingerprints{s.place: fingerprintOf(info)}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s is neither a file nor a directory", s.place)
	}
	entries, err := os.ReadDir(s.place)
	if err != nil {
		return nil, err
	}
	files := fingerprints{}
	for _, entry := range entries {
		path := filepath.Join(s.place, entry.Name())
		info, err := os.Stat(path)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case !isManifest(path), err == nil && !info.Mode().IsRegular():
			s.warnOfIgnored(path)
		case err == nil:
			s.warnOfWriters(path, info)
			files[path] = fingerprintOf(info)
		case entry.Type() == fs.ModeSymlink || !errors.Is(err, fs.ErrNotExist): // else it was removed meanwhile
			files[path] = err.Error()
		}
	}
	maps.DeleteFunc(s.warned, func(path, _ string) bool {
		return filepath.Dir(path) == s.place && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == filepath.Base(path) })
	})
	return files, nil
}

// warn logs what a person should know about a path, once until that is different.
func (s *SourceFile) warn(path, text string) {
	if text == "" {
		delete(s.warned, path)
	} else if text != s.warned[path] {
		s.parser.warn(s.title + ": " + text)
		s.warned[path] = text
	}
}

// warnOfWriters warns of a directory or a file that any user of this host may write.
func (s *SourceFile) warnOfWriters(path string, info fs.FileInfo) {
	text := ""
	if info.Mode().Perm()&0o002 != 0 && s.warned[filepath.Dir(path)] == "" {
		text = fmt.Sprintf("any user of this host may write %s, and so run anything on it; chmod o-w it", label(path))
	}
	s.warn(path, text)
}

// editorFile matches the temporary files and backups of sed, vim and emacs.
var editorFile = regexp.MustCompile(`^(sed\w{6}|4913|#.*#|.*~|.*\.swp)$`)

// warnOfIgnored warns of an entry that somebody may have meant as a manifest or as a directory of some.
func (s *SourceFile) warnOfIgnored(path string) {
	text := fmt.Sprintf("%s is ignored: of a directory only regular files whose names end in %s are read, and no directories", label(path), strings.Join(manifestSuffixes, ", "))
	if s.warned[path] == text || editorFile.MatchString(filepath.Base(path)) {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isManifest(e.Name()) }) {
		s.warn(path, text)
	}
}

// warnOfLimit warns of a limit of inotify, which makes edits be noticed late.
func (s *SourceFile) warnOfLimit(err error) {
	setting, text := "", ""
	if errors.Is(err, syscall.ENOSPC) {
		setting = "fs.inotify.max_user_watches=1048576"
	} else if errors.Is(err, syscall.EMFILE) {
		setting = "fs.inotify.max_user_instances=1024"
	}
	if setting != "" {
		text = "edits are noticed by -file_check_frequency only: a limit of inotify is reached; raise it, such as by sudo sysctl " + setting
	}
	s.warn("inotify", text)
}

// ReadFile returns the content of a regular file, or its first part if it is longer than any decoder takes, and what the
// file was after that. It does not wait for a named pipe.
func ReadFile(path string) (text []byte, info fs.FileInfo, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("read %s: it is not a regular file", path)
	}
	if text, err = io.ReadAll(io.LimitReader(file, api.MaxManifestBytes+1)); err != nil {
		return nil, nil, err
	}
	info, err = file.Stat()
	return text, info, err
}

// label returns the name of a place for people: in quotes if it could be taken for something else, such as two lines of the
// log.
func label(place string) string {
	if quoted := strconv.Quote(place); quoted != `"`+place+`"` {
		return quoted
	}
	return place
}

package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
	"github.com/golang/glog"
)

// pathWatch gives hints that something has changed at a path. It may miss any change.
type pathWatch struct {
	path    string
	watcher *fsnotify.Watcher
	logged  error // the failure that was logged last

	events <-chan fsnotify.Event // nil without a watcher, like errors
	errors <-chan error          // after one, events are missing
}

func newPathWatch(path string) *pathWatch {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		glog.Warningf("File source: watch %q: %v; changes are noticed at the next -file_check_frequency", path, err)
		return &pathWatch{path: path}
	}
	return &pathWatch{path: path, watcher: watcher, events: watcher.Events, errors: watcher.Errors}
}

// follow watches what is at the path now, through any link, and its parent, which has
// the events of a path that is made, replaced or linked elsewhere. It is called before
// every poll, since a watch stays with a directory that is moved away.
func (w *pathWatch) follow() {
	if w.watcher == nil {
		return
	}
	err := w.watcher.Add(filepath.Dir(w.path))
	if err2 := w.watcher.Add(w.path); err == nil && !errors.Is(err2, fs.ErrNotExist) {
		err = err2
	}
	if err != nil && !sameText(err, w.logged) {
		glog.Warningf("File source: watch %q: %v; changes are noticed at the next -file_check_frequency", w.path, err)
	}
	w.logged = err
}

// concerns reports whether an event is about the path or an entry of its directory.
func (w *pathWatch) concerns(event fsnotify.Event) bool {
	return event.Name == w.path || filepath.Dir(event.Name) == w.path
}

func (w *pathWatch) close() {
	if w.watcher != nil {
		w.watcher.Close()
	}
}

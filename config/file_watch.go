package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
	"github.com/golang/glog"
)

// pathWatch hears of changes at a path. It may miss any, and where it cannot watch
// it says so.
type pathWatch struct {
	path    string
	watcher *fsnotify.Watcher // nil when the system gave none
	logged  error             // the latest failure; nil when all is well

	// Both are nil, and never give anything, without a watcher.
	events   <-chan fsnotify.Event
	failures <-chan error // after one, events are missing
}

// newPathWatch returns a watch that follows nothing yet.
func newPathWatch(path string) *pathWatch {
	w := &pathWatch{path: path}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		w.watcher, w.events, w.failures = watcher, watcher.Events, watcher.Errors
	}
	w.note(err)
	return w
}

// follow watches what is at the path now, through any link, and its parent, which
// alone hears of a path that is made, replaced or linked elsewhere. It is called
// before every read, since a watch stays with a directory that is moved away.
func (w *pathWatch) follow() {
	if w.watcher == nil {
		return
	}
	err := w.watcher.Add(filepath.Dir(w.path))
	if err2 := w.watcher.Add(w.path); err == nil && !errors.Is(err2, fs.ErrNotExist) {
		err = err2
	}
	w.note(err)
}

// note logs a failure once; nil says that all is well.
func (w *pathWatch) note(err error) {
	if err != nil && !sameText(err, w.logged) {
		glog.Warningf("File source: watch %q: %v; edits are seen at the next -file_check_frequency", w.path, err)
	}
	w.logged = err
}

// concerns says whether the event is about the path or, in a directory, about
// what is in it: the parent's other entries are of no concern.
func (w *pathWatch) concerns(event fsnotify.Event) bool {
	return event.Name == w.path || filepath.Dir(event.Name) == w.path
}

// close ends the watch and its goroutine.
func (w *pathWatch) close() {
	if w.watcher != nil {
		w.watcher.Close()
	}
}

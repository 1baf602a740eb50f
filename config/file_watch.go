package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
	"github.com/golang/glog"
)

// pathWatch hears of changes at a path. It may miss any: where it cannot watch it
// says so, and the reads at every -file_check_frequency find them.
type pathWatch struct {
	path    string
	watcher *fsnotify.Watcher // nil when the system gave none
	logged  string            // the failure that was logged last; empty when all is well
}

// newPathWatch returns a watch that follows nothing yet.
func newPathWatch(path string) *pathWatch {
	w := &pathWatch{path: path}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		w.failed(err)
		return w
	}
	w.watcher = watcher
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
	if err != nil {
		w.failed(err)
		return
	}
	w.logged = ""
}

// failed logs a failure once.
func (w *pathWatch) failed(err error) {
	if w.logged != err.Error() {
		w.logged = err.Error()
		glog.Warningf("File source: watch %q: %v; edits are seen at the next -file_check_frequency", w.path, err)
	}
}

// concerns says whether the event is about the path or, in a directory, about
// what is in it: the parent's other entries are of no concern.
func (w *pathWatch) concerns(event fsnotify.Event) bool {
	return event.Name == w.path || filepath.Dir(event.Name) == w.path
}

// events is nil, which never gives anything, when there is nothing to watch with.
func (w *pathWatch) events() <-chan fsnotify.Event {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Events
}

// failures is what events is, for errors. After one, events are missing.
func (w *pathWatch) failures() <-chan error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Errors
}

// close ends the watch and its goroutine.
func (w *pathWatch) close() {
	if w.watcher != nil {
		w.watcher.Close()
	}
}

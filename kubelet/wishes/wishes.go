// Package wishes keeps what people want of pods beside their manifests: that a pod stays stopped, or starts anew. Docker cannot
// remember that, so each wish is a file in the root_dir:
//
//	wishes/default.file/web    {"stop":true,"by":"ada","at":"2026-11-24T10:00:00Z"}
//
// A wish ends when another one replaces it, when the restart has begun, and when its pod is in no source any more. A file
// that cannot be read counts as a stop, so that nothing that was stopped starts by itself.
package wishes

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// Wishes are the wishes for the pods of one kubelet. The methods may be called concurrently. A nil *Wishes has none.
type Wishes struct {
	dir  store
	note func(podFullName, container, reason, message string)
	wake func()

	mu    sync.Mutex
	all   map[string]wish  // guarded by mu; by full name
	begun map[string]int64 // guarded by mu; the newest restart of a pod that has begun
}

// wish is what a person wants of a pod.
type wish struct {
	Stop bool      `json:"stop"` // it stays stopped; else it starts anew
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

// Open reads the wishes in a root_dir, and logs those that are damaged.
func Open(rootDir string) (*Wishes, error) {
	all, err := store(rootDir).readAll()
	if err != nil {
		return nil, fmt.Errorf("read which pods are stopped: %w", err)
	}
	return &Wishes{dir: store(rootDir), all: all, begun: map[string]int64{}}, nil
}

// Tell makes each new wish an event, and wakes the kubelet for it. It must be called before the first wish, and what it is given
// must not block.
func (w *Wishes) Tell(note func(podFullName, container, reason, message string), wake func()) {
	if w != nil {
		w.note, w.wake = note, wake
	}
}

// Stop makes a pod stay stopped until Restart.
func (w *Wishes) Stop(podFullName, by string) error {
	return w.set(podFullName, wish{Stop: true, By: by}, "stopped")
}

// Restart makes a pod start anew, also one that is stopped or done.
func (w *Wishes) Restart(podFullName, by string) error {
	return w.set(podFullName, wish{By: by}, "restarted")
}

// maxBy is the most bytes of the name of a person.
const maxBy = 64

func (w *Wishes) set(podFullName string, wanted wish, done string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted.By = cmp.Or(api.Shorten(api.OneLine(wanted.By), maxBy), "somebody")
	wanted.At = time.UnixMilli(max(time.Now().UnixMilli(), w.begun[podFullName]+1)) // the clock may have been set back
	if old := w.all[podFullName]; old.Stop && wanted.Stop {
		return nil
	}
	if err := w.dir.write(podFullName, wanted); err != nil {
		return fmt.Errorf("remember what is wanted of pod %s: %w", podFullName, err)
	}
	w.all[podFullName] = wanted
	glog.Infof("pod %s is to be %s by %s", podFullName, done, wanted.By)
	w.note(podFullName, "", done, "by "+wanted.By)
	w.wake()
	return nil
}

// IsStopped reports whether a pod must be stopped.
func (w *Wishes) IsStopped(podFullName string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[podFullName].Stop
}

// IsRestarting reports whether a restart of a pod has not begun yet.
func (w *Wishes) IsRestarting(podFullName string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted, found := w.all[podFullName]
	return found && !wanted.Stop
}

// Apply returns a pod as a person wants it, given its containers: the same one if that is not new. It changes no file, as a
// dry run must not.
func (w *Wishes) Apply(pod *plan.Pod, containers []plan.Observed) *plan.Pod {
	wished := *pod
	wished.Stopped, wished.Restart = "", 0
	for _, c := range containers {
		if c.Of.UID == pod.UID {
			wished.Restart = max(wished.Restart, c.Restart)
		}
	}
	if w != nil {
		w.apply(&wished)
	}
	if wished.Stopped == pod.Stopped && wished.Restart == pod.Restart {
		return pod
	}
	return &wished
}

// apply completes a pod whose Restart is the newest one that has begun.
func (w *Wishes) apply(pod *plan.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := pod.FullName()
	w.begun[name] = pod.Restart
	switch wanted, found := w.all[name]; {
	case !found:
	case wanted.Stop:
		pod.Stopped = fmt.Sprintf("stopped by %s since %s", wanted.By, wanted.At.Local().Format(time.DateTime))
	default:
		pod.Restart = max(pod.Restart, wanted.At.UnixMilli())
	}
}

// Keep forgets the restarts that have begun, which are in the labels of containers, and the wishes for all pods but those that
// are needed, which are given by full name and source.
func (w *Wishes) Keep(needed func(podFullName, source string) bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := func(podFullName string) bool {
		_, _, source := api.SplitFullName(podFullName)
		return !needed(podFullName, source)
	}
	maps.DeleteFunc(w.begun, func(name string, _ int64) bool { return gone(name) })
	for name, wanted := range w.all {
		if begun := !wanted.Stop && wanted.At.UnixMilli() <= w.begun[name]; begun || gone(name) {
			w.forget(name)
		}
	}
}

// forget removes a wish. If its file stays, the next kubelet removes it.
func (w *Wishes) forget(podFullName string) {
	delete(w.all, podFullName)
	if err := w.dir.remove(podFullName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		glog.Errorf("forget what was wanted of pod %s: %v", podFullName, err)
	}
}

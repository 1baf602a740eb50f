package watch

import (
	"sync"

	"github.com/golang/glog"
)

// Errors logs an error when it appears or changes, and when it is over. Its methods may be called concurrently.
type Errors struct {
	mu   sync.Mutex
	last map[string]string // guarded by mu; the text by topic
}

// Log logs what has become of a topic.
func (e *Errors) Log(topic string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	last, failed := e.last[topic]
	switch {
	case err == nil && failed:
		glog.Infof("%s: works again", topic)
		delete(e.last, topic)
	case err != nil && err.Error() != last:
		glog.Errorf("%s: %v", topic, err)
		if e.last == nil {
			e.last = map[string]string{}
		}
		e.last[topic] = err.Error()
	}
}

// Last returns the error of a topic, or "".
func (e *Errors) Last(topic string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last[topic]
}

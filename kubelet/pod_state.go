package kubelet

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// podState is what the kubelet knows of a pod between two pieces of work on it.
// All of it may be lost: Docker is the memory.
type podState struct {
	fullName string

	mu     sync.Mutex
	origin string // where its manifest was read, the last time there was one
	wish   wish
	since  dockertools.Mark // of the newest request; the work needs a list begun after it
	uids   map[string]bool  // for which the worker may have made volumes or containers that no list shows yet

	// These belong to the pod's worker.
	acted    dockertools.Mark // taken after the worker's last action
	failures int              // pieces of work that failed, in a row
	lastErr  string           // the trouble that was logged last, so that it is logged once; empty when there is none
	said     bool             // what has become of the pod was logged, and nothing was done since
}

// wish is what a pod's worker is to bring about.
type wish struct {
	pod     *wantedPod // nil: remove all there is of it
	blocked string     // why the pod must wait as it is; empty when it need not
}

// ask replaces the wish, and asks for a look at Docker that is newer than since.
// An empty origin leaves the known one.
func (s *podState) ask(w wish, origin string, since dockertools.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wish, s.since = w, since
	if origin != "" {
		s.origin = origin
	}
}

// label names the pod for people.
func (s *podState) label() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s (%s)", s.fullName, s.origin)
}

// take is how the work learns what to do and how fresh its list must be.
func (s *podState) take() (wish, dockertools.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wish.pod != nil {
		s.uids[s.wish.pod.UID] = true
	}
	return s.wish, max(s.since, s.acted)
}

// overtaken says that the wish is no longer the newest one.
func (s *podState) overtaken(w wish) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wish != w
}

// addUIDs adds the UIDs that the worker works on.
func (s *podState) addUIDs(uids map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(uids, s.uids)
}

// failed counts a failure and says when to try again: after a quarter of a
// second, then twice that, up to most.
func (s *podState) failed(err error, most time.Duration) time.Time {
	if err.Error() != s.lastErr {
		glog.Errorf("pod %s: %v", s.label(), err)
	}
	s.lastErr = err.Error()
	delay := min(250*time.Millisecond<<min(s.failures, 10), most)
	s.failures++
	return time.Now().Add(delay)
}

// settled forgets the failures and says once what has become of the pod.
func (s *podState) settled(want *wantedPod, p podPlan) {
	s.failures = 0
	trouble := strings.Join(p.notRunning, "; ")
	switch {
	case trouble != "" && trouble != s.lastErr:
		glog.Warningf("pod %s: %s", s.label(), trouble)
	case trouble != "" || s.said && s.lastErr == "":
		// it was said already
	case want == nil:
		glog.Infof("pod %s is gone", s.label())
	case p.finished:
		glog.Infof("pod %s has done its work", s.label())
	default:
		glog.Infof("pod %s is up", s.label())
	}
	s.said, s.lastErr = true, trouble

	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.uids) // whatever was made is in the lists from now on
}

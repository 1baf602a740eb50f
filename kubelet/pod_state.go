package kubelet

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// podState is what the kubelet knows of a pod between two pieces of work on it.
// All of it may be lost: Docker is the memory.
type podState struct {
	fullName string
	events   *events

	mu        sync.Mutex
	origin    string // where its manifest was read, the last time there was one
	wish      wish
	overtaken context.Context             // done when the wish is no longer the newest
	overtake  func()                      // ends overtaken
	since     dockertools.Mark            // of the newest request; the work needs a list begun after it
	uids      map[string]dockertools.Mark // for which the worker may have made volumes or containers: lists begun after the mark show it
	troubles  []trouble                   // of the last piece of work
	memories  map[string]memory           // by container id

	// These belong to the pod's worker.
	acted      dockertools.Mark  // taken after the worker's last action
	failures   int               // pieces of work that failed, in a row
	said       string            // what was logged of the pod last, so that it is logged once; empty when something was done since
	complaints map[string]string // the same for each container
}

// memory is what the kubelet knows of a container and Docker does not.
type memory struct {
	started   time.Time // of the life it is about; zero: not known yet. Somebody may start a dead container again
	killed    trouble   // why the kubelet stopped it, if it was for a fault of its own
	hookDone  bool      // its postStart has succeeded, though its name may not say so yet
	heard     bool      // its last words were asked for
	lastWords string
}

// wish is what a pod's worker is to bring about.
type wish struct {
	pod     *wantedPod // nil: remove all there is of it
	blocked trouble    // why the pod must wait as it is; its message is empty when it need not
}

func newPodState(fullName string, events *events) *podState {
	s := &podState{fullName: fullName, events: events, uids: map[string]dockertools.Mark{}, memories: map[string]memory{}}
	s.overtaken, s.overtake = context.WithCancel(context.Background())
	return s
}

// ask replaces the wish, and asks for a look at Docker that is newer than since.
// An empty origin leaves the known one.
func (s *podState) ask(w wish, origin string, since dockertools.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wish != w {
		s.overtake()
		s.overtaken, s.overtake = context.WithCancel(context.Background())
	}
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

// take is how the work learns what to do and how fresh its list must be. The
// context is done when another wish takes the place of this one.
func (s *podState) take() (w wish, overtaken context.Context, since dockertools.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wish.pod != nil {
		s.uids[s.wish.pod.UID] = atWork
	}
	return s.wish, s.overtaken, max(s.since, s.acted)
}

// atWork is the mark of what is not over: no list shows all of it.
const atWork = dockertools.Mark(math.MaxUint64)

// madeSince gives the UIDs for which there may be more than a list begun after since
// shows, and forgets the others.
func (s *podState) madeSince(since dockertools.Mark) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.uids, func(_ string, mark dockertools.Mark) bool { return mark <= since })
	return slices.Collect(maps.Keys(s.uids))
}

// remember changes what is remembered of a container.
func (s *podState) remember(id string, change func(*memory)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.memories[id]
	change(&m)
	s.memories[id] = m
}

// hearing asks for the last words of a container that has ended.
type hearing func(context.Context, *seenContainer) string

// recall adds to the containers of the pod what is remembered of them, and forgets
// those that are gone. hear is asked once for the last words of one that has ended;
// when it is nil, what was not heard is left out.
func (s *podState) recall(ctx context.Context, seen []seenContainer, hear hearing) {
	s.mu.Lock()
	memories := maps.Clone(s.memories)
	s.mu.Unlock()
	for i := range seen {
		c := &seen[i]
		m := memories[c.ID]
		switch {
		case m.started.IsZero():
			m.started = c.StartedAt
		case !m.started.Equal(c.StartedAt):
			m = memory{started: c.StartedAt}
		}
		if c.State.Ended() && !m.heard && hear != nil {
			m.heard, m.lastWords = true, hear(ctx, c)
		}
		memories[c.ID] = m
		c.Killed, c.LastWords = m.killed, m.lastWords
	}
	if hear == nil {
		return
	}
	maps.DeleteFunc(memories, func(id string, _ memory) bool {
		return !slices.ContainsFunc(seen, func(c seenContainer) bool { return c.ID == id })
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memories = memories
}

// mended forgets the trouble of a container that something was done to since.
func (s *podState) mended(container string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubles = slices.DeleteFunc(slices.Clone(s.troubles), func(t trouble) bool { return t.container == container || t.container == "" })
}

// place is where the pod's manifest was read.
func (s *podState) place() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origin
}

// lastTroubles are what the last piece of work could not do.
func (s *podState) lastTroubles() []trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.troubles
}

// say logs what has become of the pod, unless it was the last thing said of it.
func (s *podState) say(log func(format string, args ...any), text string) {
	if s.said != text {
		s.said = text
		log("pod %s %s", s.label(), text)
	}
}

// complain logs each trouble that is new or has changed, and makes it an event.
func (s *podState) complain(troubles []trouble) {
	complaints := map[string]string{}
	for _, t := range troubles {
		complaints[t.container] = t.message
		if s.complaints[t.container] == t.message {
			continue
		}
		log := glog.Errorf
		if t.waits() {
			log = glog.Warningf
		}
		if t.reason == api.ReasonPulling {
			log = glog.V(2).Infof // the pull says so itself
		}
		log("pod %s: %s", s.label(), t)
		s.events.remember(s.fullName, t.container, t.reason, t.message)
	}
	s.complaints = complaints
	if len(troubles) > 0 {
		s.said = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.troubles = troubles
}

// held keeps and says what a piece of work could not do, besides what its plan says
// does not run, and when to try again. What only waits has its own time. What has failed
// is tried again after a quarter of a second, then twice that, up to most.
func (s *podState) held(troubles, notRunning []trouble, most time.Duration) (again time.Time) {
	s.complain(slices.Concat(troubles, notRunning))
	for i := range troubles {
		again = earliest(again, troubles[i].next)
	}
	if anyFailed(troubles) {
		again = earliest(again, time.Now().Add(min(250*time.Millisecond<<min(s.failures, 10), most)))
		s.failures++
	}
	return again
}

// earliest is the sooner of two times; the zero time is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// settled forgets the failures and says once what has become of the pod.
func (s *podState) settled(want *wantedPod, p podPlan) {
	s.failures = 0
	s.complain(p.notRunning)
	switch {
	case len(p.notRunning) > 0:
	case want == nil:
		s.say(glog.Infof, "is gone")
	case p.finished:
		s.say(glog.Infof, "has done its work")
	default:
		s.say(glog.Infof, "is up")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.uids {
		s.uids[uid] = s.acted
	}
}

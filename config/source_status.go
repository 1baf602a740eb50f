package config

import (
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

func (s *source) Status() api.SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// logProblems logs the problem of each input when it begins, changes and ends.
func (s *source) logProblems(pods []api.Pod) {
	for _, in := range s.sortedInputs() {
		problem := in.problem()
		switch {
		case sameText(problem, in.logged):
		case problem == nil:
			glog.Infof("%s: %s is read again", s.title, in.label)
		case in.err != nil && slices.ContainsFunc(pods, func(pod api.Pod) bool { return s.has(in, &pod) }):
			glog.Errorf("%s: pods stay as they were: %s", s.title, api.WithExcerpts(problem))
		default:
			glog.Errorf("%s: %s", s.title, api.WithExcerpts(problem))
		}
		in.logged = problem
	}
}

// stale returns why pods stay as they were, by full name.
func (s *source) stale(pods []api.Pod) map[string]string {
	stale := map[string]string{}
	for _, in := range s.sortedInputs() {
		if in.err == nil {
			continue
		}
		text := in.err.Error() // once, for any number of pods
		for _, pod := range pods {
			if s.has(in, &pod) {
				stale[pod.FullName()] = text
			}
		}
	}
	return stale
}

// has reports whether a pod comes from an input. Every pod comes from the source as a whole.
func (s *source) has(in *input, pod *api.Pod) bool {
	return in == s.inputs[""] || in == s.owners[podID(pod)]
}

// setStatus records the result of a read.
func (s *source) setStatus(pods int, stale map[string]string, err error) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Pods, s.status.Stale = pods, stale
	if err == nil {
		s.status.LastSuccess, s.status.FailingSince = now, time.Time{}
		return
	}
	s.status.LastError, s.status.LastErrorAt = err.Error(), now
	if s.status.FailingSince.IsZero() {
		s.status.FailingSince = now
	}
}

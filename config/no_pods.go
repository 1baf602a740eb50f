package config

import (
	"time"

	"kubelet14/api"
)

// minNoPodsWait is the least time that a source has to want no pods at all before that is believed.
const minNoPodsWait = 5 * time.Second

// NoPodsWait returns that time for a source that is polled at an interval: the interval, since the second look counts, but no
// short one. A list can be empty for a second while somebody writes it.
func NoPodsWait(pollInterval time.Duration) time.Duration { return max(pollInterval, minNoPodsWait) }

// doubt returns an error while it is not believed that the source wants no pods at all, and the
// time to the next poll. It is believed of a source that had only one pod. Else one read without
// an error has to say so, all others in the noPodsWait after it, and the first one after that.
func (s *source) doubt(pods int, err error) (noPods *api.NoPodsError, wait time.Duration) {
	last, begins := s.sent.NoPods, s.sent.Op != api.SET || len(s.sent.Pods) > 1
	switch {
	case pods > 0 || last == nil && !begins:
		return nil, s.pollInterval
	case err != nil:
		return &api.NoPodsError{Source: s.status.Source}, s.pollInterval
	case last == nil || last.Until.IsZero():
		return &api.NoPodsError{Source: s.status.Source, Until: time.Now().Add(s.noPodsWait)}, min(s.noPodsWait, s.pollInterval)
	case time.Now().Before(last.Until):
		return last, min(time.Until(last.Until), s.pollInterval)
	}
	return nil, s.pollInterval
}

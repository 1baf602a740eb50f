package config

import (
	"time"

	"kubelet14/api"
)

// doubt returns an error while it is not believed that the source wants no pods at all, and the
// time to the next poll. It is believed of a source that had only one pod. Else one read without
// an error has to say so, and another one that is noPodsWait later.
func (s *source) doubt(pods int, err error) (noPods *api.NoPodsError, wait time.Duration) {
	last, begins := s.sent.NoPods, s.sent.Op != api.SET || len(s.sent.Pods) > 1
	switch {
	case pods > 0 || last == nil && !begins:
		return nil, s.pollInterval
	case err != nil:
		return &api.NoPodsError{Source: s.status.Source}, s.pollInterval
	case last == nil || last.Until.IsZero():
		return &api.NoPodsError{Source: s.status.Source, Until: time.Now().Add(s.noPodsWait)}, s.noPodsWait
	case time.Now().Before(last.Until):
		return last, time.Until(last.Until)
	}
	return nil, s.pollInterval
}

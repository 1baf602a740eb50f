package api

import (
	"fmt"
	"strings"
	"time"
)

// SourceStatus is the status of one source of pods.
type SourceStatus struct {
	Source       string    `json:"source"`                // "file", "http" or "etcd"
	Place        string    `json:"place"`                 // what it reads, without any password
	Pods         int       `json:"pods"`                  // how many it wants now
	LastSuccess  time.Time `json:"lastSuccess,omitzero"`  // when all of it was last read and good; zero: not since the start
	FailingSince time.Time `json:"failingSince,omitzero"` // zero if the last read was good
	LastError    string    `json:"lastError,omitempty"`   // the latest, also if it is fixed; one line for each problem
	LastErrorAt  time.Time `json:"lastErrorAt,omitzero"`  // when it was last seen
}

// String returns one line, and below it the error while it lasts.
func (s SourceStatus) String() string {
	text := fmt.Sprintf("source %s (%s): %d pods", s.Source, s.Place, s.Pods)
	if s.Pods == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	switch {
	case s.FailingSince.IsZero() && s.LastSuccess.IsZero():
		return fmt.Sprintf("source %s (%s): not read yet", s.Source, s.Place)
	case s.FailingSince.IsZero():
		return text
	case s.LastSuccess.IsZero():
		text += fmt.Sprintf(", failing since %s, not read whole since the start", s.FailingSince.Format(time.TimeOnly))
	default:
		text += fmt.Sprintf(", failing since %s, last read whole at %s", s.FailingSince.Format(time.TimeOnly), s.LastSuccess.Format(time.TimeOnly))
	}
	return text + ":\n" + s.LastError
}

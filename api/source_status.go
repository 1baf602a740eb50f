package api

import (
	"fmt"
	"time"
)

// SourceStatus is how one source of pods does.
type SourceStatus struct {
	Source string `json:"source"` // "file", "http" or "etcd"
	Place  string `json:"place"`  // what it reads, without any password
	Pods   int    `json:"pods"`   // how many it wants now

	LastSuccess  time.Time `json:"lastSuccess,omitzero"`  // when all of it was last read and good; zero: not since start
	FailingSince time.Time `json:"failingSince,omitzero"` // zero while all is well
	LastError    string    `json:"lastError,omitempty"`   // the latest one, mended or not; empty: none since start
	LastErrorAt  time.Time `json:"lastErrorAt,omitzero"`  // when it was seen last
}

// String says it in one line, and below it the error while it lasts.
func (s SourceStatus) String() string {
	text := fmt.Sprintf("source %s (%s): ", s.Source, s.Place)
	if s.LastSuccess.IsZero() && s.FailingSince.IsZero() {
		return text + "not read yet"
	}
	text += fmt.Sprintf("%d pods", s.Pods)
	if s.FailingSince.IsZero() {
		return text
	}
	last := "not read whole since the start"
	if !s.LastSuccess.IsZero() {
		last = "last read whole at " + s.LastSuccess.Format(time.TimeOnly)
	}
	return fmt.Sprintf("%s, failing since %s, %s:\n%s", text, s.FailingSince.Format(time.TimeOnly), last, s.LastError)
}

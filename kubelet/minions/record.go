// Package minions shows all hosts of one etcd in one table. Minion was the word for a node in 2014. Each kubelet writes a record
// about itself, only for people and their scripts: nothing here acts on a record, or on a missing one.
package minions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"kubelet14/api"
)

// The keys are HOST below these prefixes. The record below the first has a lease, so it disappears with its kubelet; the same
// record below the second stays until somebody deletes it, which removes the host from the table.
const (
	livePrefix  = "/registry/minions/"
	knownPrefix = "/registry/minions-known/"
)

const (
	maxRecordBytes = 400
	maxFailing     = 5

	// Values of Health.
	healthy = "ok"
	stopped = "stopped"
)

// Record is what a kubelet reports about itself, as JSON.
type Record struct {
	Time        time.Time `json:"time"` // of its writing
	Version     string    `json:"version"`
	Expires     time.Time `json:"expires,omitzero"` // when the first of its certificates expires
	Health      string    `json:"health"`           // ok, stopped, or why the kubelet cannot manage its pods
	SourceError string    `json:"sourceError,omitempty"`
	Revision    int64     `json:"revision"` // of etcd: up and total include every edit of this host's pods up to this revision
	Up          int       `json:"up"`       // pods that are up and have become ready
	Total       int       `json:"total"`
	Failing     []string  `json:"failing,omitempty"` // "reason: full name" of the first five with a problem; the others that are not up are starting
}

// encode returns the record as JSON of at most maxRecordBytes. It shortens the longest text until the record fits.
func (r Record) encode() ([]byte, error) {
	r.Failing = slices.Clone(r.Failing)
	texts := []*string{&r.Version, &r.Health, &r.SourceError}
	for i := range r.Failing {
		texts = append(texts, &r.Failing[i])
	}
	for {
		var data bytes.Buffer
		encoder := json.NewEncoder(&data)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(r); err != nil || data.Len() <= maxRecordBytes {
			return bytes.TrimSpace(data.Bytes()), err
		}
		longest := slices.MaxFunc(texts, func(a, b *string) int { return cmp.Compare(len(*a), len(*b)) })
		*longest = api.Shorten(*longest, utf8.RuneCountInString(*longest)*3/4)
	}
}

// setPods counts the pods and names those with a problem.
func (r *Record) setPods(pods []api.PodStatus) {
	r.Total = len(pods)
	for _, pod := range pods {
		switch {
		case pod.Well() && !pod.Starting:
			r.Up++
		case pod.Phase != api.PodPending && !pod.Starting && len(r.Failing) < maxFailing:
			r.Failing = append(r.Failing, pod.ShortReason()+": "+pod.FullName())
		}
	}
}

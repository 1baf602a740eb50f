package config

import (
	"maps"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/trace"
)

// traceSend traces what a source has read and is about to send.
func (s *source) traceSend(before, after api.PodUpdate) {
	e := trace.Event{Kind: trace.Read, Source: s.status.Source, N: len(after.Pods)}
	if after.Err != nil && !sameText(before.Err, after.Err) {
		e.Error = after.Err.Error()
	}
	s.parser.Trace.Add(e)
	e.Kind = trace.Send
	s.parser.Trace.Add(e)
}

// traceMerge traces what podStorage has found out.
func (s *podStorage) traceMerge(source string, pods podSet, differ ...podSet) {
	e := trace.Event{Kind: trace.Merge, Source: source, N: len(pods)}
	for _, set := range differ {
		e.Changed = slices.AppendSeq(e.Changed, maps.Keys(set))
	}
	slices.Sort(e.Changed)
	s.Trace.Add(e)
}

// traceUpdate traces what podStorage is about to send.
func (s *podStorage) traceUpdate(update api.PodUpdate) {
	e := trace.Event{Kind: trace.Update, Op: update.Op.String(), N: len(update.Pods)}
	for _, pod := range update.Pods {
		e.Pods = append(e.Pods, pod.FullName())
	}
	s.Trace.Add(e)
}

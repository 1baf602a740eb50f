package config

import (
	"maps"
	"reflect"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/trace"
)

// traceSend traces what a source has read and is about to send, with the first place that differs from what it sent before.
func (s *source) traceSend(before, after api.PodUpdate) {
	t := s.parser.Trace
	if t == nil {
		return
	}
	read := trace.Event{Kind: "read", Source: s.status.Source, Place: place(before.Pods, after.Pods), N: len(after.Pods)}
	if after.Err != nil && !sameText(before.Err, after.Err) {
		read.Error = after.Err.Error()
	}
	t.Add(read)
	t.Add(trace.Event{Kind: "send", Source: s.status.Source, Op: after.Op.String(), N: len(after.Pods), Error: read.Error})
}

// place returns where pods differ; empty: nowhere.
func place(before, after []api.Pod) string {
	for _, pods := range [][2][]api.Pod{{after, before}, {before, after}} {
		for _, pod := range pods[0] {
			if !slices.ContainsFunc(pods[1], func(other api.Pod) bool { return reflect.DeepEqual(pod, other) }) {
				return pod.Origin
			}
		}
	}
	return ""
}

// traceMerge traces what podStorage has found out.
func (s *podStorage) traceMerge(source string, pods podSet, differ ...podSet) {
	e := trace.Event{Kind: "merge", Source: source, N: len(pods)}
	for _, set := range differ {
		e.Changed = slices.AppendSeq(e.Changed, maps.Keys(set))
	}
	slices.Sort(e.Changed)
	s.Trace.Add(e)
}

// traceUpdate traces what podStorage is about to send.
func (s *podStorage) traceUpdate(update api.PodUpdate) {
	e := trace.Event{Kind: "update", Op: update.Op.String(), N: len(update.Pods)}
	for _, pod := range update.Pods {
		e.Pods = append(e.Pods, pod.FullName())
	}
	s.Trace.Add(e)
}

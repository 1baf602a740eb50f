package trace

import "kubelet14/api"

// These methods make a Trace a config.Watcher.

// SourceSends traces what a source has read and is about to send.
func (t *Trace) SourceSends(source string, update api.PodUpdate, problem error) {
	e := Event{Kind: Read, Source: source, N: len(update.Pods)}
	if problem != nil {
		e.Error = problem.Error()
	}
	t.Add(e)
	e.Kind = Send
	t.Add(e)
}

// MuxTakes traces what the Mux has received of a source.
func (t *Trace) MuxTakes(source string, update api.PodUpdate) {
	t.Add(Event{Kind: Mux, Source: source, Op: update.Op.String(), N: len(update.Pods)})
}

// Merges traces which pods of a source have changed.
func (t *Trace) Merges(source string, pods int, changed []string) {
	t.Add(Event{Kind: Merge, Source: source, N: pods, Changed: changed})
}

// SendsUpdate traces what the kubelet is about to get.
func (t *Trace) SendsUpdate(update api.PodUpdate) {
	e := Event{Kind: Update, Op: update.Op.String(), N: len(update.Pods)}
	for _, pod := range update.Pods {
		e.Pods = append(e.Pods, pod.FullName())
	}
	t.Add(e)
}

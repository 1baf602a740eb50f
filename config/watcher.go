package config

import "kubelet14/api"

// Watcher is told of what the sources send, on its way to the kubelet. Several goroutines may call it at once. A method must
// return soon and must not call PodConfig, which waits for it.
type Watcher interface {
	// SourceSends comes before a source sends what it has read, from the goroutine of its Run. problem is the error of the
	// update, or nil if the update before had the same one.
	SourceSends(source string, update api.PodUpdate, problem error)
	// MuxTakes comes when the Mux has received that, from the goroutine that it has for the source.
	MuxTakes(source string, update api.PodUpdate)
	// Merges comes from the same goroutine: of this number of pods of the source these have changed, by full name.
	Merges(source string, pods int, changed []string)
	// SendsUpdate comes before the kubelet gets an update, from that goroutine or the one that calls Sync.
	SendsUpdate(update api.PodUpdate)
}

// noWatcher stands for none.
type noWatcher struct{}

func (noWatcher) SourceSends(string, api.PodUpdate, error) {}
func (noWatcher) MuxTakes(string, api.PodUpdate)           {}
func (noWatcher) Merges(string, int, []string)             {}
func (noWatcher) SendsUpdate(api.PodUpdate)                {}

package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// FuzzMerge sends random updates of three sources, and compares with a naive
// model what is stored, and what a receiver knows that goes by the updates alone.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 1, 0x12, 0, 1, 1, 0x12, 1, 2, 2, 0x12, 0x55})
	f.Add([]byte("\x00\x00\x02\x01\x00\x01\x10\x03\x02\x11\x22\x33\x00\x04\x03\x02\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for mode := range PodConfigNotificationMode(3) {
			sources := []string{"one", "two", "late"}
			updates := make(chan api.PodUpdate, 10)
			storage := newPodStorage(mode, validation.Rules{}, updates)
			storage.declare("one")
			storage.declare("two")
			model := mergeModel{sources: map[string]map[string]api.Pod{}, unsynced: map[string]string{"one": "", "two": ""}}
			receiver := map[string]api.Pod{}
			for rest := data; len(rest) > 0; {
				var update api.PodUpdate
				source := sources[rest[0]%3]
				update, rest = takeUpdate(rest[1:])
				text := fmt.Sprintf("%v from %s: %v", update.Op, source, update.Pods)
				before := maps.Clone(model.unsynced)
				storage.Merge(t.Context(), source, update)
				model.merge(source, update)

				quiet := len(updates) == 0
				for len(updates) > 0 {
					sent := <-updates
					receive(receiver, sent)
					want := before // until the last one
					if len(updates) == 0 {
						want = model.unsynced
					}
					if diff := cmp.Diff(want, reasons(sent.Unsynced)); diff != "" {
						t.Fatalf("mode %d, %s: unsynced in %v (-want +got):\n%s", mode, text, sent.Op, diff)
					}
				}
				if diff := cmp.Diff(model.pods(), storage.MergedState()); diff != "" {
					t.Fatalf("mode %d, %s: stored (-want +got):\n%s", mode, text, diff)
				}
				if diff := cmp.Diff(model.pods(), podsByName(receiver)); diff != "" {
					t.Fatalf("mode %d, %s: received (-want +got):\n%s", mode, text, diff)
				}
				if quiet && !maps.Equal(before, model.unsynced) && source != "late" {
					t.Fatalf("mode %d, %s: nothing was sent, and unsynced is now %v", mode, text, model.unsynced)
				}
			}
		}
	})
}

// takeUpdate makes an update of the first bytes. Few names make many
// conflicts.
func takeUpdate(data []byte) (api.PodUpdate, []byte) {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	head := next()
	update := api.PodUpdate{Op: api.PodOperation(head % 6)}
	if head&0x40 != 0 {
		update.Err = fmt.Errorf("problem %d", head>>7)
	}
	for range head / 8 % 5 {
		b := next()
		pod := newPod(string(rune('a'+b%4)), fmt.Sprint(b>>4%3))
		if b>>6 == 3 {
			pod.Manifest.Version = "v9"
		}
		update.Pods = append(update.Pods, pod)
	}
	return update, data
}

// receive does what an update says.
func receive(known map[string]api.Pod, update api.PodUpdate) {
	if update.Op == api.SET {
		clear(known)
	}
	for _, pod := range update.Pods {
		known[pod.FullName()] = pod
		if update.Op == api.REMOVE {
			delete(known, pod.FullName())
		}
	}
}

// mergeModel says the rules of Merge in the plainest way.
type mergeModel struct {
	sources  map[string]map[string]api.Pod // by source and full name
	unsynced map[string]string             // the reasons of those that are not synced
	synced   []string
}

func (m *mergeModel) merge(source string, update api.PodUpdate) {
	if _, known := m.unsynced[source]; !known && !slices.Contains(m.synced, source) {
		m.unsynced[source] = ""
	}
	if update.Op < api.SET || update.Op > api.UPDATE {
		return
	}
	old := m.sources[source]
	pods := maps.Clone(old)
	if pods == nil || update.Op == api.SET {
		pods = map[string]api.Pod{}
	}
	err := update.Err
	keepLastGood := func(name string) {
		err = errors.Join(err, errors.New("refused"))
		delete(pods, name)
		if pod, ok := old[name]; ok {
			pods[name] = pod
		}
	}
	times := map[string]int{}
	for _, pod := range update.Pods {
		pod.Source = source
		name := pod.FullName()
		times[name]++
		switch {
		case update.Op == api.REMOVE:
			delete(pods, name)
		case times[name] > 1 || len(validation.Rules{}.ValidatePod(&pod)) > 0:
			keepLastGood(name)
		default:
			pods[name] = pod
		}
	}
	m.sources[source] = pods
	if err == nil && !slices.Contains(m.synced, source) {
		m.synced = append(m.synced, source)
		delete(m.unsynced, source)
	}
	if _, unsynced := m.unsynced[source]; unsynced {
		m.unsynced[source] = "an error"
	}
}

func (m *mergeModel) pods() []api.Pod {
	all := map[string]api.Pod{}
	for _, pods := range m.sources {
		maps.Copy(all, pods)
	}
	return podsByName(all)
}

func podsByName(pods map[string]api.Pod) []api.Pod {
	sorted := []api.Pod{}
	for _, name := range sortedKeys(pods) {
		sorted = append(sorted, pods[name])
	}
	return sorted
}

// reasons keeps of an error that there is one: the model does not write errors.
func reasons(unsynced map[string]error) map[string]string {
	reasons := map[string]string{}
	for source, err := range unsynced {
		reasons[source] = ""
		if err != nil {
			reasons[source] = "an error"
		}
	}
	return reasons
}

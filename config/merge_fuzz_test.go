package config

import (
	"fmt"
	"maps"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// FuzzMerge sends random updates of two sources in each mode. It compares with a
// simple model what is stored, and what a receiver knows from the updates.
func FuzzMerge(f *testing.F) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		data := make([]byte, 60)
		random.Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for mode := range PodConfigNotificationMode(3) {
			updates := make(chan api.PodUpdate, 10)
			storage := newPodStorage(mode, validation.Rules{}, updates)
			storage.declare("one")
			storage.declare("two")
			model := mergeModel{pods: map[string]api.Pod{}, unsynced: map[string]bool{"one": true, "two": true}}
			receiver := map[string]api.Pod{}
			for rest := data; len(rest) > 1; {
				source := []string{"one", "two"}[rest[0]%2]
				var update api.PodUpdate
				update, rest = takeUpdate(rest[1:])
				check := func(what string, want, got any) {
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("mode %d, %v from %s: %v: %s (-want +got):\n%s", mode, update.Op, source, update.Pods, what, diff)
					}
				}
				before := maps.Clone(model.unsynced)
				storage.Merge(t.Context(), source, update)
				model.merge(source, update)
				for len(updates) > 0 {
					sent := <-updates
					receive(receiver, sent)
					if len(updates) == 0 {
						before = model.unsynced // only the last update may make a source synced
					}
					check("unsynced", sortedKeys(before), sortedKeys(sent.Unsynced))
				}
				check("unsynced at last", model.unsynced, before)
				check("stored", byName(model.pods), storage.MergedState())
				check("received", byName(model.pods), byName(receiver))
			}
		}
	})
}

// takeUpdate makes an update of the first bytes. Few names make many conflicts.
func takeUpdate(data []byte) (api.PodUpdate, []byte) {
	head, data := data[0], data[1:]
	update := api.PodUpdate{Op: api.PodOperation(head % 6)}
	if head&0x40 != 0 {
		update.Err = fmt.Errorf("problem %d", head>>7)
	}
	n := min(int(head)/8%5, len(data))
	for _, b := range data[:n] {
		pod := newPod(string(rune('a'+b%4)), fmt.Sprint(b>>4%3))
		if b>>6 == 3 {
			pod.Manifest.Version = "v9"
		}
		update.Pods = append(update.Pods, pod)
	}
	return update, data[n:]
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

// mergeModel has the rules of Merge in the simplest form.
type mergeModel struct {
	pods     map[string]api.Pod // by full name
	unsynced map[string]bool
}

func (m *mergeModel) merge(source string, update api.PodUpdate) {
	if update.Op < api.SET || update.Op > api.UPDATE {
		return
	}
	old := maps.Clone(m.pods)
	if update.Op == api.SET {
		maps.DeleteFunc(m.pods, func(name string, _ api.Pod) bool { return strings.HasSuffix(name, "."+source) })
	}
	good := update.Err == nil
	times := map[string]int{}
	for _, pod := range update.Pods {
		pod.Source = source
		name := pod.FullName()
		times[name]++
		m.pods[name] = pod
		if update.Op == api.REMOVE {
			delete(m.pods, name)
		} else if times[name] > 1 || len(validation.Rules{}.ValidatePod(&pod)) > 0 {
			good = false
			delete(m.pods, name)
			if known, ok := old[name]; ok {
				m.pods[name] = known
			}
		}
	}
	if good {
		m.unsynced = maps.Clone(m.unsynced)
		delete(m.unsynced, source)
	}
}

func byName(pods map[string]api.Pod) []api.Pod {
	list := []api.Pod{}
	for _, name := range sortedKeys(pods) {
		list = append(list, pods[name])
	}
	return list
}

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
					told := <-updates
					receive(receiver, told)
					want := before // until the last one
					if len(updates) == 0 {
						want = model.unsynced
					}
					if diff := cmp.Diff(want, reasons(told.Unsynced)); diff != "" {
						t.Fatalf("mode %d, %s: unsynced in %v (-want +got):\n%s", mode, text, told.Op, diff)
					}
				}
				if diff := cmp.Diff(model.pods(), storage.MergedState()); diff != "" {
					t.Fatalf("mode %d, %s: stored (-want +got):\n%s", mode, text, diff)
				}
				if diff := cmp.Diff(model.pods(), podsByName(receiver)); diff != "" {
					t.Fatalf("mode %d, %s: received (-want +got):\n%s", mode, text, diff)
				}
				if quiet && !maps.Equal(before, model.unsynced) && source != "late" {
					t.Fatalf("mode %d, %s: nobody was told that unsynced is now %v", mode, text, model.unsynced)
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
		update.Err = fmt.Errorf("trouble %d", head>>7)
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
	unsynced map[string]string             // the reasons of those that have not spoken
	spoken   []string
}

func (m *mergeModel) merge(source string, update api.PodUpdate) {
	if _, known := m.unsynced[source]; !known && !slices.Contains(m.spoken, source) {
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
	goBack := func(name string) {
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
			goBack(name)
		default:
			pods[name] = pod
		}
	}
	m.sources[source] = pods
	if err == nil && !slices.Contains(m.spoken, source) {
		m.spoken = append(m.spoken, source)
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
	list := []api.Pod{}
	for _, name := range sortedKeys(pods) {
		list = append(list, pods[name])
	}
	return list
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

// BenchmarkMerge is a source that sends its pods again. They are copies, as they
// would be from a source that reads all anew.
func BenchmarkMerge(b *testing.B) {
	const count = 10_000
	pods := func() []api.Pod {
		pods := make([]api.Pod, count)
		for i := range pods {
			pods[i] = newPod(fmt.Sprint("pod-", i), "image")
			pods[i].Manifest.Containers = append(pods[i].Manifest.Containers, api.Container{
				Name: "sidecar", Image: "image", Env: []api.EnvVar{{Name: "A", Value: "1"}},
				Ports: []api.Port{{ContainerPort: 80}},
			})
		}
		return pods
	}
	run := func(name string, change func(i int, pods []api.Pod)) {
		b.Run(name, func(b *testing.B) {
			updates := make(chan api.PodUpdate, 2)
			storage := newPodStorage(PodConfigNotificationSnapshotAndUpdates, validation.Rules{}, updates)
			storage.Merge(b.Context(), "file", api.PodUpdate{Op: api.SET, Pods: pods()})
			again := pods()
			for i := 0; b.Loop(); i++ {
				for len(updates) > 0 {
					<-updates
				}
				change(i, again)
				storage.Merge(b.Context(), "file", api.PodUpdate{Op: api.SET, Pods: again})
			}
		})
	}
	run("nothing changed", func(int, []api.Pod) {})
	run("one changed", func(i int, pods []api.Pod) { pods[i%count].Origin += "x" })
	run("one came or went", func(i int, pods []api.Pod) { pods[0].Name = fmt.Sprint("new-", i) })
}

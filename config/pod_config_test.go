package config

import (
	"context"
	"testing"
	"testing/synctest"

	"kubelet14/api"
	"kubelet14/api/validation"
)

func TestPodConfigJoinsItsSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		config := NewPodConfig(PodConfigNotificationSnapshotAndUpdates, validation.Rules{})
		defer config.Wait()
		defer stop()
		file, http := config.Channel(ctx, "file"), config.Channel(ctx, "http")

		file <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("web", "1")}}
		expect(t, <-config.Updates(), "SET web=1 unsynced:http")
		http <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("web", "2")}}
		expect(t, <-config.Updates(), "SET web=1 web=2")
		file <- api.PodUpdate{Op: api.SET}
		expect(t, <-config.Updates(), "SET web=2")
	})
}

func TestPodConfigSyncSendsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		config := NewPodConfig(PodConfigNotificationIncremental, validation.Rules{})
		defer config.Wait()
		defer stop()
		config.Channel(ctx, "http")
		go config.Sync(ctx)
		expect(t, <-config.Updates(), "SET unsynced:http")
		config.Channel(ctx, "file") <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("web", "1")}}
		expect(t, <-config.Updates(), "ADD web=1 unsynced:http")
		go config.Sync(ctx)
		expect(t, <-config.Updates(), "SET web=1 unsynced:http")
	})
}

// What is on its way when nobody receives any more must not keep the program
// from ending.
func TestPodConfigEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		config := NewPodConfig(PodConfigNotificationSnapshot, validation.Rules{})
		config.Channel(ctx, "file") <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("web", "1")}}
		synctest.Wait() // until the merge is stuck for want of a receiver
		stop()
		config.Wait()
	})
}

func TestSyncEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		go NewPodConfig(PodConfigNotificationSnapshot, validation.Rules{}).Sync(ctx)
		synctest.Wait() // until it is stuck for want of a receiver
		stop()
	})
}

// A slow receiver must get changes in the order in which they were merged, from
// several sources at once.
func TestPodConfigKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		config := NewPodConfig(PodConfigNotificationSnapshot, validation.Rules{})
		defer config.Wait()
		defer stop()
		const edits = 20
		sources := []string{"file", "http", "etcd"}
		for _, source := range sources {
			config.Channel(ctx, source)
		}
		for _, source := range sources {
			go func() {
				for i := range edits {
					pod := newPod(source, string(rune('a'+i)))
					config.Channel(ctx, source) <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{pod}}
				}
			}()
		}
		newest := map[string]string{}
		for range edits * len(sources) {
			for _, pod := range (<-config.Updates()).Pods {
				image := pod.Manifest.Containers[0].Image
				if image < newest[pod.Name] {
					t.Fatalf("pod %q went back from %s to %s", pod.Name, newest[pod.Name], image)
				}
				newest[pod.Name] = image
			}
		}
	})
}

func expect(t *testing.T, got api.PodUpdate, want string) {
	t.Helper()
	if text := showUpdate(got); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

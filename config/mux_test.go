package config

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"kubelet14/api"
)

func TestMuxGivesEachSourceOneChannel(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	mux := NewMux(MergeFunc(func(context.Context, string, api.PodUpdate) error { return nil }))
	defer mux.Wait()
	defer stop()
	one := mux.Channel(ctx, "one")
	if mux.Channel(ctx, "one") != one {
		t.Error("the same source has two channels")
	}
	if mux.Channel(ctx, "two") == one {
		t.Error("two sources share a channel")
	}
}

func TestMuxTellsWhichSourceSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got := map[string]string{}
		mux := NewMux(MergeFunc(func(_ context.Context, source string, update api.PodUpdate) error {
			mu.Lock()
			defer mu.Unlock()
			got[source] += showUpdate(update)
			return nil
		}))
		ctx, stop := context.WithCancel(t.Context())
		mux.Channel(ctx, "one") <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1")}}
		mux.Channel(ctx, "two") <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("b", "1")}}
		stop()
		mux.Wait()
		if got["one"] != "SET a=1" || got["two"] != "SET b=1" {
			t.Errorf("Merge got %v", got)
		}
	})
}

func TestMuxSourceDoesNotWaitForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		merged := make(chan string, 2)
		mux := NewMux(MergeFunc(func(_ context.Context, source string, _ api.PodUpdate) error {
			if source == "stuck" {
				<-release
			}
			merged <- source
			return nil
		}))
		ctx, stop := context.WithCancel(t.Context())
		mux.Channel(ctx, "stuck") <- api.PodUpdate{Op: api.SET}
		mux.Channel(ctx, "free") <- api.PodUpdate{Op: api.SET}
		if source := <-merged; source != "free" {
			t.Errorf("source %q was merged first", source)
		}
		close(release)
		stop()
		mux.Wait()
	})
}

func TestMuxLogsWhatMergeSays(t *testing.T) {
	logged := captureLog(t)
	ctx, stop := context.WithCancel(t.Context())
	mux := NewMux(MergeFunc(func(context.Context, string, api.PodUpdate) error {
		return errors.New("pod web is invalid")
	}))
	updates := mux.Channel(ctx, "file")
	updates <- api.PodUpdate{Op: api.SET}
	updates <- api.PodUpdate{Op: api.SET} // received after the first was merged and logged
	stop()
	mux.Wait()
	if text := logged(); !strings.Contains(text, `source "file"`) || !strings.Contains(text, "pod web is invalid") {
		t.Errorf("log:\n%s", text)
	}
}

func TestMuxRefusesASourceWithoutAName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Channel took an empty name")
		}
	}()
	NewMux(nil).Channel(t.Context(), "")
}

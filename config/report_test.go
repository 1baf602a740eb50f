package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
)

// noon is when the first read of these tests was; minute n is n minutes later.
var noon = time.Date(2014, 10, 14, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// expectSet checks a SET: its pods, and words of its error, which is there when
// there are words for it.
func expectSet(t *testing.T, update api.PodUpdate, pods string, words ...string) {
	t.Helper()
	if update.Op != api.SET || show(update.Pods) != pods {
		t.Errorf("got  %v %q\nwant SET %q", update.Op, show(update.Pods), pods)
	}
	if len(words) == 0 && update.Err != nil {
		t.Errorf("unexpected error: %v", update.Err)
	}
	for _, word := range words {
		if update.Err == nil || !strings.Contains(update.Err.Error(), word) {
			t.Errorf("no %q in the error: %v", word, update.Err)
		}
	}
}

func TestStatusTellsHowASourceDoes(t *testing.T) {
	r := &reporter{title: "Test source", source: "test", place: "/pods"}
	web := &part{place: "/pods/web", held: []api.Pod{newPod("web", "1")}}
	db := &part{place: "/pods/db", err: errors.New("db is bad")}
	both := []*part{web, db}
	dbGood := []*part{web, {place: "/pods/db", held: []api.Pod{newPod("db", "1"), newPod("db-2", "1")}}}

	expect := func(what string, want api.SourceStatus) {
		t.Helper()
		want.Source, want.Place = "test", "/pods"
		if got := r.Status(); got != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
		}
	}
	expect("before the first read", api.SourceStatus{})
	r.report(minute(0), nil, errors.New("no such place"))
	expect("it cannot be read", api.SourceStatus{FailingSince: noon, LastError: "no such place", LastErrorAt: noon})
	r.report(minute(1), both, nil)
	expect("a part of it is bad", api.SourceStatus{Pods: 1, FailingSince: noon, LastError: "db is bad", LastErrorAt: minute(1)})
	r.report(minute(2), dbGood, nil)
	expect("it is well", api.SourceStatus{Pods: 3, LastSuccess: minute(2), LastError: "db is bad", LastErrorAt: minute(1)})
	r.report(minute(3), dbGood, nil)
	expect("it still is", api.SourceStatus{Pods: 3, LastSuccess: minute(3), LastError: "db is bad", LastErrorAt: minute(1)})
	r.report(minute(4), both, errors.New("half of it"))
	r.report(minute(5), both, errors.New("half of it"))
	expect("it fails again", api.SourceStatus{
		Pods: 1, LastSuccess: minute(3), FailingSince: minute(4), LastError: "half of it\ndb is bad", LastErrorAt: minute(5),
	})
	r.report(minute(6), []*part{web}, nil)
	expect("it is mended", api.SourceStatus{Pods: 1, LastSuccess: minute(6), LastError: "half of it\ndb is bad", LastErrorAt: minute(5)})
}

// The race detector finds what this one guards.
func TestStatusIsSafeWhileTheSourceRuns(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start)
	h.body(manifest("web", "1"))
	updates := make(chan api.PodUpdate)
	h.start(updates)
	for range 1000 {
		if status := h.Status(); status.Place != h.server.URL+"/pods" {
			t.Fatalf("got %+v", status)
		}
	}
	<-updates
	if status := h.Status(); status.Pods != 1 || status.LastSuccess.IsZero() {
		t.Errorf("got %+v", status)
	}
}

func TestReportTellsOnlyNews(t *testing.T) {
	web := func(image string) []*part {
		return []*part{{place: "/pods/web", held: []api.Pod{newPod("web", image)}}}
	}
	r := &reporter{}
	for _, step := range []struct {
		what  string
		parts []*part
		err   string
		news  bool
	}{
		{"nothing at all, for the first time", nil, "", true},
		{"nothing again", nil, "", false},
		{"a pod", web("1"), "", true},
		{"the same pod, read again", web("1"), "", false},
		{"the pod has changed", web("2"), "", true},
		{"an error", web("2"), "it is away", true},
		{"the same error, made anew", web("2"), "it is away", false},
		{"another error", web("2"), "it is here and bad", true},
		{"none", web("2"), "", true},
		{"no pod", nil, "", true},
	} {
		var err error
		if step.err != "" {
			err = errors.New(step.err)
		}
		update := r.report(noon, step.parts, err)
		if (update != nil) != step.news {
			t.Errorf("%s: the update is %v", step.what, update)
		}
		if update != nil && (update.Op != api.SET || sameText(update.Err, nil) != (step.err == "")) {
			t.Errorf("%s: the update is %+v", step.what, update)
		}
	}
}

func TestTroubleIsLoggedWhenItComesAndGoes(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start)
	logged, seen := captureLog(t), ""
	for _, step := range []struct{ body, line string }{
		{"404", "no pods of " + h.place + " are known: "},
		{"404", ""},
		{"500", "500"},
		{manifest("web", "1"), "HTTP source: " + h.place + " is read again"},
		{"version: v9", "the pods of " + h.place + " stay as they were: "},
		{"version: v9", ""},
		{"version: v8", "v8"},
		{manifest("web", "1"), "HTTP source: " + h.place + " is read again"},
		{manifest("web", "2"), ""},
	} {
		h.body(step.body)
		if status, err := strconv.Atoi(step.body); err == nil {
			h.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		}
		h.look()
		news := strings.TrimPrefix(logged(), seen)
		seen += news
		if lines := strings.Count(news, "HTTP source: "); (lines != 0) != (step.line != "") || lines > 1 || !strings.Contains(news, step.line) {
			t.Errorf("after %q there is no %q alone in the log:\n%s", step.body, step.line, news)
		}
	}
}

func TestSendGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates := make(chan api.PodUpdate)
		send(t.Context(), updates, nil) // there is nothing to wait for
		ended := false
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			send(ctx, updates, &api.PodUpdate{Op: api.SET})
			ended = true
		}()
		synctest.Wait()
		if ended {
			t.Error("it did not wait for the receiver")
		}
		stop()
		synctest.Wait()
		if !ended {
			t.Error("it waits on")
		}
	})
}

// A receiver that is slow holds Run back, and one that is gone does not keep it.
func TestHTTPRunWaitsForItsReceiver(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start)
	h.checkEvery = time.Millisecond
	updates := make(chan api.PodUpdate)
	var asked atomic.Int32
	served := make(chan struct{})
	h.answer(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, manifest("web", fmt.Sprint(asked.Add(1))))
		select {
		case served <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	stop := h.start(updates)
	for i := range 5 {
		<-served
		expectSet(t, <-updates, fmt.Sprintf("web=%d", i+1))
	}
	<-served
	stop()
	if n := asked.Load(); n != 6 {
		t.Errorf("asked %d times for 5 updates that were received and one that was not", n)
	}
}

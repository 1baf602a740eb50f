package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

// statusOf runs kubelet14 -status against a listener that gives these answers.
func statusOf(t *testing.T, code int, answers map[string]string) (stdout, stderr string, exit int) {
	t.Helper()
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		w.Write([]byte(answers[r.URL.Path]))
	}))
	defer listener.Close()
	return program(t, "-status", "-port="+strconv.Itoa(listener.Listener.Addr().(*net.TCPAddr).Port))
}

func TestStatusTellsWhatIsNotKnown(t *testing.T) {
	for name, test := range map[string]struct {
		source api.SourceStatus
		want   string // the end of the error; empty: all is well
	}{
		"all is read":  {api.SourceStatus{LastSuccess: time.Now()}, ""},
		"it fails":     {api.SourceStatus{LastSuccess: time.Now(), FailingSince: time.Now()}, "not all is known that is wanted: cannot read source http"},
		"not read yet": {api.SourceStatus{}, "not all is known that is wanted: source http has not been read yet"},
	} {
		test.source.Source = "http"
		sources, err := json.Marshal(map[string]any{"items": []any{test.source}})
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, exit := statusOf(t, http.StatusOK, map[string]string{"/sources": string(sources), "/pods": `{"items":[]}`})
		if (exit == 0) != (test.want == "") || exit > 1 || !strings.HasSuffix(strings.TrimSpace(stderr), test.want) || !strings.Contains(stdout, "source http") {
			t.Errorf("%s: exit code %d, it prints\n%s%s", name, exit, stdout, stderr)
		}
	}
}

// Whoever listens at the port while no kubelet does must not write to the terminal what
// moves its cursor, or worse.
func TestStatusPrintsNothingThatATerminalObeys(t *testing.T) {
	const nasty = "one\x1b]0;title\x07\r\u009b31m"
	source, err := json.Marshal(map[string]any{"items": []any{api.SourceStatus{Source: "file\x1b[31m", FailingSince: time.Now(), LastError: nasty + "\ntwo"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		code    int
		answers map[string]string
	}{
		"an error": {http.StatusTeapot, map[string]string{"/sources": nasty}},
		"a source": {http.StatusOK, map[string]string{"/sources": string(source), "/pods": `{"items":[]}`}},
	} {
		stdout, stderr, exit := statusOf(t, test.code, test.answers)
		if all := stdout + stderr; exit != 1 || strings.ContainsAny(all, "\x1b\x07\r\u009b") || !strings.Contains(all, "one") {
			t.Errorf("%s: exit code %d, it prints %q", name, exit, all)
		}
		if name == "a source" && !strings.Contains(stdout, "\ntwo\n") {
			t.Errorf("the lines of an error are not kept: %q", stdout)
		}
	}
}

func TestWhichPodsAreUp(t *testing.T) {
	running := api.ContainerState{Running: &api.ContainerStateRunning{}}
	waiting := api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonPulling}}
	done := api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonCompleted}}
	failed := api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonError, ExitCode: 1}}
	for _, test := range []struct {
		name   string
		phase  api.PodPhase
		reason string
		states []api.ContainerState
		want   bool
	}{
		{"all run", api.PodRunning, "", []api.ContainerState{running, running}, true},
		{"one runs and one has done its work", api.PodRunning, "", []api.ContainerState{running, done}, true},
		{"one has failed for good", api.PodRunning, "", []api.ContainerState{running, failed}, false},
		{"one runs, and not as it is to", api.PodRunning, "", []api.ContainerState{{Running: &api.ContainerStateRunning{Message: "it is paused"}}}, false},
		{"one waits", api.PodRunning, "", []api.ContainerState{running, waiting}, false},
		{"none has run", api.PodPending, "", []api.ContainerState{waiting, running}, false},
		{"all have done their work", api.PodSucceeded, "", []api.ContainerState{done, done}, true},
		{"it has failed", api.PodFailed, "", []api.ContainerState{failed, done}, false},
		{"it waits for a port as it was", api.PodRunning, api.ReasonPortTaken, []api.ContainerState{running}, false},
		{"it is not wanted", api.PodRunning, api.ReasonRemoved, []api.ContainerState{waiting}, true},
		{"a network container alone", api.PodRunning, "", []api.ContainerState{running}, true},
	} {
		pod := api.PodStatus{Phase: test.phase, Reason: test.reason}
		for _, state := range test.states {
			pod.Containers = append(pod.Containers, api.ContainerStatus{State: state})
		}
		if got := isUp(&pod); got != test.want {
			t.Errorf("%s: up is %v", test.name, got)
		}
	}
}

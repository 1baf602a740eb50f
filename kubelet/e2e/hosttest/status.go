package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kubelet14/api/unittest"
)

// reply is an HTTP answer that was read to its end.
type reply struct {
	Status int
	Body   string
}

// Ask makes a request to the info server at the host's socket.
func (p *Process) Ask(method, path string) (reply, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), unittest.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, nil)
	if err != nil {
		return reply{}, err
	}
	resp, err := p.h.Client().Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(body)}, err
}

func (p *Process) MustAsk(method, path string) reply {
	p.t.Helper()
	a, err := p.Ask(method, path)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// AskJSON decodes what GET answers.
func (p *Process) AskJSON(path string, into any) error {
	a, err := p.Ask("GET", path)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s answers %d %s", path, a.Status, a.Body)
	}
	if err == nil {
		err = json.Unmarshal([]byte(a.Body), into)
	}
	return err
}

// podStatus is a pod in /pods, as its JSON is.
type podStatus struct {
	Name, Source, Phase, Reason, Message string
	Ready                                bool
	Containers                           []containerStatus
}

type containerStatus struct {
	Name  string
	State struct{ Waiting, Running, Termination *containerState }
}

type containerState struct{ Reason, Message string }

func (c containerStatus) state() (name string, state containerState) {
	s := c.State
	for name, s := range map[string]*containerState{"waiting": s.Waiting, "running": s.Running, "terminated": s.Termination} {
		if s != nil {
			return name, *s
		}
	}
	return "unknown", containerState{}
}

// pods returns what /pods answers, by id, or by full name for a pod that is not of the
// file source.
func (p *Process) pods() (map[string]podStatus, error) {
	var list struct{ Items []podStatus }
	err := p.AskJSON("/pods", &list)
	pods := map[string]podStatus{}
	for _, pod := range list.Items {
		pods[strings.TrimSuffix(pod.Name+".default."+pod.Source, ".default.file")] = pod
	}
	return pods, err
}

// Shows checks that /pods has a container "pod/name", or a pod "pod", in a state or
// phase, with all words in its reason and message.
func (p *Process) Shows(name, state string, words ...string) error {
	pods, err := p.pods()
	if err != nil {
		return err
	}
	id, of, _ := strings.Cut(name, "/")
	pod, there := pods[id]
	if !there {
		return fmt.Errorf("there is no pod %s", id)
	}
	got, why := pod.Phase, pod.Reason+": "+pod.Message
	if of != "" {
		got = ""
	}
	for _, c := range pod.Containers {
		if c.Name == of {
			var s containerState
			got, s = c.state()
			why = fmt.Sprintf("%s: %s", s.Reason, s.Message)
		}
	}
	if got != state {
		return fmt.Errorf("%s is %q, want %q: %+v", name, got, state, pod)
	}
	return unittest.HasWords(why, words...)
}

func (p *Process) AwaitShows(name, state string, words ...string) {
	p.t.Helper()
	p.h.Await(fmt.Sprintf("%s is %s with %q", name, state, words), func() error { return p.Shows(name, state, words...) })
}

// AwaitReady waits until a pod is ready: its startup probes have succeeded, and a failure of others counts.
func (p *Process) AwaitReady(id string) {
	p.t.Helper()
	p.h.Await(id+" is ready", func() error {
		pods, err := p.pods()
		if err == nil && !pods[id].Ready {
			err = fmt.Errorf("it is not: %+v", pods[id])
		}
		return err
	})
}

// sourceStatus is a source in /sources, as its JSON is.
type sourceStatus struct {
	Source, LastError string
	FailingSince      time.Time
}

// source returns what /sources says of one source.
func (p *Process) source(name string) (sourceStatus, error) {
	var list struct{ Items []sourceStatus }
	err := p.AskJSON("/sources", &list)
	for _, s := range list.Items {
		if s.Source == name {
			return s, err
		}
	}
	return sourceStatus{}, fmt.Errorf("there is no source %s: %v", name, err)
}

// AwaitSource waits until a source fails with some words, or, without any, does not
// fail.
func (p *Process) AwaitSource(name string, words ...string) {
	p.t.Helper()
	p.h.Await(fmt.Sprintf("source %s fails with %q", name, words), func() error {
		s, err := p.source(name)
		if err == nil && s.FailingSince.IsZero() == (len(words) > 0) {
			err = fmt.Errorf("it is %+v", s)
		}
		if err == nil {
			err = unittest.HasWords(s.LastError, words...)
		}
		return err
	})
}

// Metrics is a page of /metrics.
type metrics string

func (p *Process) Metrics() (metrics, error) {
	a, err := p.Ask("GET", "/metrics")
	return metrics(a.Body), err
}

// Sum adds the samples whose name and labels hold all words.
func (m metrics) Sum(words ...string) (sum float64) {
	for line := range strings.Lines(string(m)) {
		if strings.HasPrefix(line, "#") || unittest.HasWords(line, words...) != nil {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64); err == nil {
			sum += value
		}
	}
	return sum
}

// DockerCalls returns how many requests the kubelet has made to Docker.
func (m metrics) DockerCalls() float64 { return m.Sum("kubelet_docker_request", "_count{") }

package e2e

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
	status int
	body   string
}

// ask makes a request to the info server at the host's socket.
func (p *process) ask(method, path string) (reply, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), unittest.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, nil)
	if err != nil {
		return reply{}, err
	}
	resp, err := p.h.client().Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(body)}, err
}

func (p *process) mustAsk(method, path string) reply {
	p.t.Helper()
	a, err := p.ask(method, path)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// askJSON decodes what GET answers.
func (p *process) askJSON(path string, into any) error {
	a, err := p.ask("GET", path)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("%s answers %d %s", path, a.status, a.body)
	}
	if err == nil {
		err = json.Unmarshal([]byte(a.body), into)
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
func (p *process) pods() (map[string]podStatus, error) {
	var list struct{ Items []podStatus }
	err := p.askJSON("/pods", &list)
	pods := map[string]podStatus{}
	for _, pod := range list.Items {
		pods[strings.TrimSuffix(pod.Name+".default."+pod.Source, ".default.file")] = pod
	}
	return pods, err
}

// shows checks that /pods has a container "pod/name", or a pod "pod", in a state or
// phase, with all words in its reason and message.
func (p *process) shows(name, state string, words ...string) error {
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
	return hasWords(why, words)
}

func (p *process) awaitShows(name, state string, words ...string) {
	p.t.Helper()
	p.h.await(fmt.Sprintf("%s is %s with %q", name, state, words), func() error { return p.shows(name, state, words...) })
}

// awaitReady waits until a pod is ready: its startup probes have succeeded, and a failure of others counts.
func (p *process) awaitReady(id string) {
	p.t.Helper()
	p.h.await(id+" is ready", func() error {
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
func (p *process) source(name string) (sourceStatus, error) {
	var list struct{ Items []sourceStatus }
	err := p.askJSON("/sources", &list)
	for _, s := range list.Items {
		if s.Source == name {
			return s, err
		}
	}
	return sourceStatus{}, fmt.Errorf("there is no source %s: %v", name, err)
}

// awaitSource waits until a source fails with some words, or, without any, does not
// fail.
func (p *process) awaitSource(name string, words ...string) {
	p.t.Helper()
	p.h.await(fmt.Sprintf("source %s fails with %q", name, words), func() error {
		s, err := p.source(name)
		if err == nil && s.FailingSince.IsZero() == (len(words) > 0) {
			err = fmt.Errorf("it is %+v", s)
		}
		if err == nil {
			err = hasWords(s.LastError, words)
		}
		return err
	})
}

// metrics is a page of /metrics.
type metrics string

func (p *process) metrics() (metrics, error) {
	a, err := p.ask("GET", "/metrics")
	return metrics(a.body), err
}

// sum adds the samples whose name and labels hold all words.
func (m metrics) sum(words ...string) (sum float64) {
	for line := range strings.Lines(string(m)) {
		if strings.HasPrefix(line, "#") || hasWords(line, words) != nil {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64); err == nil {
			sum += value
		}
	}
	return sum
}

// dockerCalls returns how many requests the kubelet has made to Docker.
func (m metrics) dockerCalls() float64 { return m.sum("kubelet_docker_request", "_count{") }

package e2e

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

func TestIntegrationLogsOfAContainer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("web", strings.Replace(hosttest.Job("web", `/hello, flood, -lines, "1000", -every, 10ms`), "never", "onFailure", 1))
	p := h.Start()
	const path = "/containerLogs/default/web/main"
	h.Await("it prints", func() error {
		log, err := p.Ask("GET", path)
		if err == nil && (log.Status != 200 || log.Body == "") {
			err = fmt.Errorf("%+v", log)
		}
		return err
	})

	// Many follow a log, over a restart of its container.
	got := make([]string, 20)
	var all, following sync.WaitGroup
	for i := range got {
		following.Add(1)
		all.Go(func() {
			first := make([]byte, 1)
			resp, err := h.Client().Get("http://localhost" + path + "?follow=1")
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadFull(resp.Body, first)
			}
			following.Done()
			if err != nil {
				t.Error(err)
				return
			}
			rest, err := io.ReadAll(resp.Body)
			if got[i] = string(first) + string(rest); err != nil {
				t.Error(err)
			}
		})
	}
	following.Wait() // each has read something of the first attempt
	h.Kill("web", "main")
	all.Wait() // they end by themselves, since the second attempt succeeds
	attempts := h.Of("web", "main")
	if len(attempts) != 2 {
		t.Fatalf("there are the attempts %v, want two", attempts)
	}
	killed, complete := h.Logs(attempts[0].ID), h.Logs(attempts[1].ID)
	if strings.Count(complete, "\n") != 1000 || strings.Count(killed, "\n") >= 1000 {
		t.Fatalf("the attempts have printed %d and %d lines", strings.Count(killed, "\n"), strings.Count(complete, "\n"))
	}
	for i, log := range got {
		if log != killed+complete {
			t.Errorf("follower %d got %d lines instead of %d, or other lines", i, strings.Count(log, "\n"), strings.Count(killed+complete, "\n"))
		}
	}
	if previous := p.MustAsk("GET", path+"?previous=1"); previous.Body != killed {
		t.Errorf("the log of the previous attempt is %q", previous.Body)
	}
}

// The table is printed to standard output, and problems to standard error. /metrics has the same numbers.
func TestIntegrationStatusAndMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	await := func(exit int, wrong string, words ...string) {
		t.Helper()
		h.Await(fmt.Sprintf("-status exits with %d and prints %q", exit, words), func() error {
			r := h.Run("-status")
			if err := errors.Join(unittest.HasWords(r.Stdout, words...), unittest.HasWords(r.Stderr, wrong)); r.Exit != exit || err != nil {
				return fmt.Errorf("exit %d, %v", r.Exit, err)
			}
			return nil
		})
	}
	h.Run("-status").MustExit(t, 1, "unix:"+h.Socket, "no kubelet answers")
	h.WriteSleepers("good")
	p := h.Start()
	p.AwaitUp("good")
	await(0, "", "good.default.file", "running", "main")
	h.Write("bad", hosttest.Job("bad", `/hello, exit, "3"`))
	await(1, "1 of 2 pods", "bad.default.file", "failed", "terminated", "Error (exit code 3)")
	h.Mend("good")
	h.Await("the metrics", func() error {
		page, err := p.Metrics()
		for words, want := range map[string]float64{
			`kubelet_pods{ source="file" phase="running"`: 1,
			`kubelet_pods{ source="file" phase="failed"`:  1,
			`kubelet_containers{ state="running"`:         2, // with the network container
			`kubelet_container_restarts_total{`:           1,
			`kubelet_docker_up `:                          1,
		} {
			if got := page.Sum(strings.Fields(words)...); err == nil && got != want {
				err = fmt.Errorf("%s: %v, want %v", words, got, want)
			}
		}
		if page.Sum(`kubelet_pod_sync_duration_seconds_count{outcome="ok"`) < 3 {
			err = errors.Join(err, errors.New("no work of the pods is counted"))
		}
		return err
	})
}

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// printer is a pod that prints numbered lines and is done; when it is killed before, it
// begins anew.
func printer(id, flood string) string {
	return "version: v1beta1\nid: " + id + "\nrestartPolicy: {onFailure: {}}\ncontainers:\n  - {name: main, image: HELLO, command: [/hello, flood, " + flood + "]}\n"
}

const lines300 = `-lines, "300", -every, 10ms`

// attemptLogs is what each attempt of a container has printed, the oldest first.
func (h *host) attemptLogs(pod, name string) (logs []string) {
	h.t.Helper()
	for _, c := range h.containers() { // by name, which ends with the number of the attempt
		if c.pod == fullName(pod) && c.of == name {
			logs = append(logs, h.logs(c.id))
		}
	}
	return logs
}

// started waits until a container of a pod has printed something.
func (h *host) started(pod string) {
	h.t.Helper()
	h.eventually("it prints", func() error {
		c, err := h.one(pod, "main")
		if err == nil && h.logs(c.id) == "" {
			err = fmt.Errorf("%s has printed nothing", c)
		}
		return err
	})
}

func (h *host) killMain(pod string) {
	h.t.Helper()
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: h.live(pod, "main").id, Signal: docker.SIGKILL}); err != nil {
		h.t.Fatal(err)
	}
}

func TestIntegrationLogsOfAContainer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", job("web", `/hello, flood, -lines, "3", -bytes, "8"`))
	w := h.startServing()
	const path = "/containerLogs/default/web/main"
	h.eventually("the log is complete", func() error {
		if a := w.mustAsk("GET", path); a.status != http.StatusOK || a.body != "1 xxxxx\n2 xxxxx\n3 xxxxx\n" {
			return fmt.Errorf("%d, %q", a.status, a.body)
		}
		return nil
	})
	for _, test := range []struct {
		query  string
		status int
		body   string
	}{
		{"?tail=2", http.StatusOK, "2 xxxxx\n3 xxxxx\n"},
		{"?tail=0", http.StatusOK, ""},
		{"?stdout=0", http.StatusOK, ""},
		{"?follow=1", http.StatusOK, "1 xxxxx\n2 xxxxx\n3 xxxxx\n"}, // it never runs again
	} {
		if a := w.mustAsk("GET", path+test.query); a.status != test.status || a.body != test.body {
			t.Errorf("%s: %d, %q; want %d, %q", test.query, a.status, a.body, test.status, test.body)
		}
	}
	if a := w.mustAsk("GET", path+"?previous=1"); a.status != http.StatusNotFound || !strings.Contains(a.body, "before the newest") {
		t.Errorf("the attempt before the first: %d, %q", a.status, a.body)
	}
	stamped := w.mustAsk("GET", path+"?timestamps=1&tail=1")
	stamp, rest, _ := strings.Cut(stamped.body, " ")
	if at, err := time.Parse(time.RFC3339Nano, stamp); err != nil || time.Since(at) > patience || rest != "3 xxxxx\n" {
		t.Errorf("with its time a line is %q", stamped.body)
	}
}

func TestIntegrationFiftyFollowALogThroughARestart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", printer("web", lines300))
	w := h.startServing()
	h.started("web")
	const path = "/containerLogs/default/web/main?follow=1"
	got := make([]reply, 50)
	var all, following sync.WaitGroup
	for i := range got {
		following.Add(1)
		all.Go(func() {
			first := make([]byte, 1)
			resp, err := w.request(t.Context(), "GET", path)
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadFull(resp.Body, first)
			}
			following.Done()
			if err != nil {
				got[i].body = err.Error()
				return
			}
			rest, err := io.ReadAll(resp.Body)
			got[i] = reply{status: resp.StatusCode, body: string(first) + string(rest)}
			if err != nil {
				got[i].body += err.Error()
			}
		})
	}
	following.Wait() // each has got something of the first attempt
	h.killMain("web")
	all.Wait() // they end by themselves, since the second attempt succeeds

	logs := h.attemptLogs("web", "main")
	if len(logs) != 2 || strings.Count(logs[1], "\n") != 300 || strings.Count(logs[0], "\n") >= 300 {
		t.Fatalf("Docker has %d attempts, want one that was killed, and one of 300 lines", len(logs))
	}
	want := logs[0] + logs[1]
	for i, a := range got {
		if a.status != http.StatusOK || a.body != want {
			t.Errorf("follower %d: status %d, and %d lines instead of %d, or not the same:\n%s",
				i, a.status, strings.Count(a.body, "\n"), strings.Count(want, "\n"), firstDifference(a.body, want))
		}
	}
	if previous := w.mustAsk("GET", "/containerLogs/default/web/main?previous=1"); previous.body != logs[0] {
		t.Errorf("the previous attempt's log differs:\n%s", firstDifference(previous.body, logs[0]))
	}
}

// firstDifference shows the first line in which two logs differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is %q, want %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("one has %d lines, the other %d", len(g), len(w))
}

func TestIntegrationAClientThatStopsReadingHarmsNobody(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	// More than all buffers on the way hold, in one file of the log.
	h.write("web.yaml", printer("web", `-lines, "8000", -bytes, "4000", -every, 100us`))
	w := h.startServing("-container_log_max_size=100m")
	h.started("web")

	stuck, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.p.infoPort()))
	if err != nil {
		t.Fatal(err)
	}
	defer stuck.Close()
	stuck.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprintf(stuck, "GET /containerLogs/default/web/main?follow=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", w.token)
	if _, err := stuck.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the client that stops reading has got nothing: %v", err)
	}

	a := w.mustAsk("GET", "/containerLogs/default/web/main?follow=1")
	logs := h.attemptLogs("web", "main")
	if len(logs) != 1 || strings.Count(logs[0], "\n") != 8000 {
		t.Fatalf("beside a client that does not read, the container has not printed all: %d attempts\n%s", len(logs), h.describe())
	}
	if a.body != logs[0] {
		t.Errorf("beside a client that does not read, another one has not got every line: %s", firstDifference(a.body, logs[0]))
	}
}

// Nothing stays behind of those who follow a log and go away.
func TestIntegrationFollowersLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", sleeper("web"))
	w := h.startServing()
	h.eventually("the pod is up", func() error { return h.sleepersAre("web") })
	w.leavesNothing("followers that go away", func() {
		for range 20 {
			resp, err := w.request(t.Context(), "GET", "/containerLogs/default/web/main?follow=1")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
		}
	})
}

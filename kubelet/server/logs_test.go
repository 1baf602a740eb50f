package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"kubelet14/api"
)

func TestALogHasWhatIsAskedFor(t *testing.T) {
	k := withContainers()
	k.logs = func(_ context.Context, pod, container string, opts api.LogOptions, out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s %s %+v", pod, container, opts)
		return err
	}
	s := serve(t, k)
	all := api.LogOptions{Tail: -1, Stdout: true, Stderr: true}
	but := func(change func(*api.LogOptions)) api.LogOptions {
		opts := all
		change(&opts)
		return opts
	}
	for path, want := range map[string]string{
		"web/app":                     fmt.Sprintf("web.default.file app %+v", all),
		"web/helper?tail=&follow=":    fmt.Sprintf("web.default.file helper %+v", all),
		"web/net":                     fmt.Sprintf("web.default.file net %+v", all),
		"twin.default.etcd/app":       fmt.Sprintf("twin.default.etcd app %+v", all),
		"web/app?tail=0":              fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Tail = 0 })),
		"web/app?tail=17":             fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Tail = 17 })),
		"web/app?follow=1":            fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Follow = true })),
		"web/app?follow=0":            fmt.Sprintf("web.default.file app %+v", all),
		"web/app?timestamps=true":     fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Timestamps = true })),
		"web/app?previous=1":          fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Previous = true })),
		"web/app?stdout=0":            fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Stdout = false })),
		"web/app?stderr=0&stdout=1":   fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Stderr = false })),
		"web/app?follow=1&tail=5":     fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Follow, o.Tail = true, 5 })),
		"web.default.file/app?tail=3": fmt.Sprintf("web.default.file app %+v", but(func(o *api.LogOptions) { o.Tail = 3 })),
	} {
		got := ask(t, s, "GET /containerLogs/default/"+path, withToken)
		if got.status != http.StatusOK || got.body != want {
			t.Errorf("%s: %d %q, want 200 %q", path, got.status, got.body, want)
		}
		if kind := got.header.Get("Content-Type"); kind != "text/plain; charset=utf-8" {
			t.Errorf("%s: Content-Type %q", path, kind)
		}
	}
}

func TestAnEmptyLogIsNoError(t *testing.T) {
	got := ask(t, serve(t, withContainers()), "GET /containerLogs/default/web/app", withToken)
	if got.status != http.StatusOK || got.body != "" || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("it answers %d %q %v", got.status, got.body, got.header)
	}
}

func TestTheHeadOfALogAsksForNoLog(t *testing.T) {
	k := withContainers()
	k.logs = func(context.Context, string, string, api.LogOptions, io.Writer) error {
		t.Error("the kubelet is asked for the log")
		return nil
	}
	s := serve(t, k)
	got := ask(t, s, "HEAD /containerLogs/default/web/app?follow=1", withToken)
	if got.status != http.StatusOK || got.body != "" || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("it answers %d %q %v", got.status, got.body, got.header)
	}
	if got := ask(t, s, "HEAD /containerLogs/default/web/none", withToken); got.status != http.StatusNotFound {
		t.Errorf("of a container that is not there: %d, want 404", got.status)
	}
}

func TestALogThatCannotBeHad(t *testing.T) {
	k := withContainers()
	k.logs = func(_ context.Context, _, container string, _ api.LogOptions, _ io.Writer) error {
		if container == "helper" {
			return fmt.Errorf("container helper has not been created yet: %w", api.ErrNotFound)
		}
		return errors.New("Docker does not answer")
	}
	s := serve(t, k)
	for _, row := range []struct {
		request string
		status  int
		says    string
	}{
		{"GET /containerLogs/default/none/app", http.StatusNotFound, `no pod "none" in namespace "default"`},
		{"GET /containerLogs/other/web/app", http.StatusNotFound, `no pod "web" in namespace "other"`},
		{"GET /containerLogs/default/web/none", http.StatusNotFound, `no container "none": it has app, helper, net`},
		{"GET /containerLogs/default/web/", http.StatusNotFound, "not found"},
		{"GET /containerLogs/default/web/app/more", http.StatusNotFound, "not found"},
		{"GET /containerLogs/default/twin/app", http.StatusConflict, "twin.default.etcd, twin.default.file"},
		{"GET /containerLogs/default/web/helper", http.StatusNotFound, "has not been created yet"},
		{"GET /containerLogs/default/web/app", http.StatusInternalServerError, "Docker does not answer"},
		{"POST /containerLogs/default/web/app", http.StatusMethodNotAllowed, "Not Allowed"},
		{"GET /containerLogs/default/web/app?tail=many", http.StatusBadRequest, `tail="many"`},
		{"GET /containerLogs/default/web/app?tail=-1", http.StatusBadRequest, `tail="-1"`},
		{"GET /containerLogs/default/web/app?tail=99999999999999999999", http.StatusBadRequest, "tail="},
		{"GET /containerLogs/default/web/app?follow=yes", http.StatusBadRequest, `follow="yes"`},
		{"GET /containerLogs/default/web/app?timestamps=2", http.StatusBadRequest, `timestamps="2"`},
		{"GET /containerLogs/default/web/app?previous=x", http.StatusBadRequest, `previous="x"`},
		{"GET /containerLogs/default/web/app?stdout=x", http.StatusBadRequest, `stdout="x"`},
		{"GET /containerLogs/default/web/app?stderr=x", http.StatusBadRequest, `stderr="x"`},
		{"GET /containerLogs/default/web/app?stdout=0&stderr=0", http.StatusBadRequest, "stdout=0 and stderr=0"},
		{"GET /containerLogs/default/web/app?previous=1&follow=1", http.StatusBadRequest, "previous=1 and follow=1"},
	} {
		got := ask(t, s, row.request, withToken)
		if got.status != row.status || !strings.Contains(got.body, row.says) {
			t.Errorf("%s: %d %q, want %d %q", row.request, got.status, got.body, row.status, row.says)
		}
		if lines := strings.Count(got.body, "\n"); lines != 1 {
			t.Errorf("%s: the reason has %d lines", row.request, lines)
		}
	}
}

// TestAFollowerSeesEachLineAsItComes lets the container print a line when the client has
// seen what was before it: first the status alone.
func TestAFollowerSeesEachLineAsItComes(t *testing.T) {
	k, lines := withContainers(), make(chan string)
	k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		for line := range lines {
			if _, err := io.WriteString(out, line); err != nil {
				return err
			}
		}
		return nil
	}
	answer, _ := open(t, serve(t, k), "GET", "/containerLogs/default/web/app?follow=1")
	body := bufio.NewReader(answer.Body)
	for _, line := range []string{"one\n", "two\n", "three\n"} {
		lines <- line
		if got, err := body.ReadString('\n'); got != line {
			t.Fatalf("the client sees %q, %v, want %q", got, err, line)
		}
	}
	close(lines)
	if rest, err := io.ReadAll(body); len(rest) > 0 || err != nil {
		t.Errorf("and then %q, %v, want the end", rest, err)
	}
}

func TestAnErrorInALogIsItsLastLine(t *testing.T) {
	for _, row := range []struct{ query, printed, want string }{
		{"", "one\n", "one\nkubelet14: Docker has; gone away\n"},
		{"", "half", "half\nkubelet14: Docker has; gone away\n"},
		{"?follow=1", "one\n", "one\nkubelet14: Docker has; gone away\n"},
		{"?follow=1", "", "kubelet14: Docker has; gone away\n"},
	} {
		k := withContainers()
		k.logs = func(_ context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
			io.WriteString(out, row.printed)
			return errors.New("Docker has\ngone away")
		}
		got := ask(t, serve(t, k), "GET /containerLogs/default/web/app"+row.query, withToken)
		if got.status != http.StatusOK || got.body != row.want {
			t.Errorf("%s after %q: %d %q, want 200 %q", row.query, row.printed, got.status, got.body, row.want)
		}
	}
}

func TestWithoutDebuggingNothingIsToldOfContainersAndNothingRuns(t *testing.T) {
	k := withContainers()
	k.run = func(context.Context, string, string, []string, io.Writer) (int, error) {
		t.Error("a command runs")
		return 0, nil
	}
	s := serve(t, k, func(o *Options) { o.Debugging, o.LogDir = false, t.TempDir() })
	for _, request := range []string{
		"GET /containerLogs/default/web/app", "POST /run/default/web/app?cmd=ls", "POST /run/default/web/web-uid/app?cmd=ls", "GET /logs/",
	} {
		if got := ask(t, s, request, withToken); got.status != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", request, got.status)
		}
	}
}

func TestLogsAndCommandsNeedTheToken(t *testing.T) {
	k := withContainers()
	k.run = func(context.Context, string, string, []string, io.Writer) (int, error) {
		t.Error("a command runs")
		return 0, nil
	}
	s := serve(t, k, func(o *Options) { o.LogDir = t.TempDir() })
	cookie := with("Cookie", cookieName+"="+s.token.cookie())
	for request, byCookie := range map[string]int{
		"GET /containerLogs/default/web/app":         http.StatusOK,
		"GET /logs/":                                 http.StatusOK,
		"POST /run/default/web/app?cmd=ls":           http.StatusUnauthorized,
		"POST /run/default/web/web-uid/app?cmd=date": http.StatusUnauthorized,
	} {
		if got := ask(t, s, request); got.status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d, want 401", request, got.status)
		}
		if got := ask(t, s, request, cookie); got.status != byCookie {
			t.Errorf("%s with the cookie: %d, want %d", request, got.status, byCookie)
		}
	}
}

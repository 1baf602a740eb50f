package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

const (
	logOf = "GET /containerLogs/default/"
	runIn = "POST /run/default/"
)

// printing is a kubelet whose logs and commands are written by print.
func printing(print func(ctx context.Context, asked string, out io.Writer) (exitCode int, err error)) *fakeKubelet {
	k := withContainers()
	k.print = print
	return k
}

// echoing is a kubelet that prints its arguments.
func echoing() *fakeKubelet {
	return printing(func(_ context.Context, asked string, out io.Writer) (int, error) {
		_, err := io.WriteString(out, asked)
		return 0, err
	})
}

func TestALogHasWhatIsAskedFor(t *testing.T) {
	k := echoing()
	s := serve(t, k)
	for path, change := range map[string]func(*api.LogOptions){
		"web/app":                            func(*api.LogOptions) {},
		"web/helper?tail=&follow=":           func(*api.LogOptions) {},
		"twin.default.etcd/app?follow=0":     func(*api.LogOptions) {},
		"web/net?follow=1&tail=0":            func(o *api.LogOptions) { o.Follow, o.Tail = true, 0 },
		"web/app?timestamps=true":            func(o *api.LogOptions) { o.Timestamps = true },
		"web/app?tail=all":                   func(*api.LogOptions) {},
		"web/app?since=2014-10-23T12:00:00Z": func(o *api.LogOptions) { o.Since = noon },
		"web/app?previous=1":                 func(o *api.LogOptions) { o.Previous = true },
		"web/app?stdout=0":                   func(o *api.LogOptions) { o.Stdout = false },
		"web.default.file/app?stderr=0":      func(o *api.LogOptions) { o.Stderr = false },
	} {
		opts := api.LogOptions{Tail: -1, Stdout: true, Stderr: true}
		change(&opts)
		name, _, _ := strings.Cut(path, "?")
		pod, container, _ := strings.Cut(name, "/")
		if pod == "web" {
			pod = "web.default.file"
		}
		want := fmt.Sprintf("%s %s [%q]", pod, container, fmt.Sprintf("%+v", opts))
		got := s.ask(t, logOf+path, withToken)
		if got.status != http.StatusOK || got.body != want || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %q %v, want %s", path, got.status, got.body, got.header, want)
		}
	}
	before := k.usedTimes()
	if got := s.ask(t, "HEAD /containerLogs/default/web/app?follow=1", withToken); got.status != http.StatusOK || k.usedTimes() > before {
		t.Errorf("HEAD answers %d, and reads the log", got.status)
	}
}

func TestACommandRunsWordByWord(t *testing.T) {
	s := serve(t, echoing())
	for _, row := range []struct{ path, contentType, body, want string }{
		{"web/app?cmd=ls&cmd=-l&cmd=a+b", "", "", `web.default.file app ["ls" "-l" "a b"]`},
		{"web/app?cmd=printf&cmd=&cmd=%3B", "", "", `web.default.file app ["printf" "" ";"]`},
		{"web/web-uid/helper?cmd=date", "", "", `web.default.file helper ["date"]`},
		{"twin/twin-of-etcd/app?cmd=date", "", "", `twin.default.etcd app ["date"]`},
		{"web/app", formType, "cmd=ls&cmd=%2Fa%20b", `web.default.file app ["ls" "/a b"]`},
		{"web/app", jsonType + "; charset=utf-8", `["ls", "/a b", ""]`, `web.default.file app ["ls" "/a b" ""]`},
	} {
		got := s.ask(t, runIn+row.path, withToken, withBody(row.contentType, row.body))
		if got.status != http.StatusOK || got.body != row.want || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %q, want 200 %q", row.path, row.body, got.status, got.body, row.want)
		}
	}
}

// Logs and commands that succeed, fail, print nothing, or end with an error.
func TestHowAStreamEnds(t *testing.T) {
	gone := errors.New("Docker has\ngone away")
	for _, tt := range []struct {
		request, printed string
		exitCode         int
		err              error
		body, code, text string // of the answer, and of its trailer
	}{
		{runIn + "web/app?cmd=x", "out\n", 0, nil, "out\n", "0", ""},
		{runIn + "web/app?cmd=x", "out", 7, nil, "out", "7", ""},
		{runIn + "web/app?cmd=x", "half", 0, gone, "half\nkubelet14: Docker has; gone away\n", "", "Docker has; gone away"},
		{logOf + "web/app", "", 0, nil, "", "", ""},
		{logOf + "web/app", "one\n", 0, gone, "one\n\nkubelet14: Docker has; gone away\n", "", "Docker has; gone away"},
		{logOf + "web/app?follow=1", "", 0, gone, "\nkubelet14: Docker has; gone away\n", "", "Docker has; gone away"}, // the status was sent at once
	} {
		s := serve(t, printing(func(_ context.Context, _ string, out io.Writer) (int, error) {
			io.WriteString(out, tt.printed)
			return tt.exitCode, tt.err
		}))
		got := s.ask(t, tt.request, withToken)
		if got.status != http.StatusOK || got.body != tt.body || got.trailer.Get("Exit-Code") != tt.code || got.trailer.Get("Error") != tt.text ||
			got.header.Get("Exit-Code")+got.header.Get("Error") != "" {
			t.Errorf("%+v: %d %q, header %v, trailer %v", tt, got.status, got.body, got.header, got.trailer)
		}
		got = s.ask(t, tt.request, withToken, func(r *http.Request) { r.Header.Set("TE", "trailers") })
		if got.body != tt.printed || got.trailer.Get("Error") != tt.text {
			t.Errorf("%+v: a client that asks for trailers gets %q, and the trailer %v", tt, got.body, got.trailer)
		}
	}
}

func TestRequestsThatCannotBeAnswered(t *testing.T) {
	k := printing(func(_ context.Context, asked string, _ io.Writer) (int, error) {
		switch strings.Fields(asked)[1] {
		case "helper":
			return 0, fmt.Errorf("container helper does not run: %w", api.ErrNotFound)
		case "net":
			return 0, errors.New("Docker does not answer")
		}
		t.Error("the kubelet is asked for a container")
		return 0, nil
	})
	k.stats = func(pod, container string) (api.ContainerStats, error) {
		_, err := k.print(t.Context(), pod+" "+container, nil)
		return api.ContainerStats{}, err
	}
	s := serve(t, k)
	for _, tt := range []struct {
		request, contentType, body string
		status                     int
		text                       string
	}{
		{logOf + "web/app?tail=99999999999999999999", "", "", 400, "tail="},
		{logOf + "web/app?follow=yes", "", "", 400, `follow="yes"`},
		{logOf + "web/app?stdout=0&stderr=0", "", "", 400, "stdout=0 and stderr=0"},
		{logOf + "web/app?since=yesterday", "", "", 400, "such as 5m"},
		{logOf + "web/app?previous=1&follow=1", "", "", 400, "previous=1 and follow=1"},
		{runIn + "web/app", "", "", 400, "?cmd=ls&cmd=-l"},
		{runIn + "web/app?cmd=&cmd=ls", "", "", 400, "there is no command"},
		{runIn + "web/app", formType, "cmd=a&cmd=b;c", 400, "the command is not well encoded"},
		{runIn + "web/app", jsonType, `["ls", 1]`, 400, "list of words in JSON"},
		{runIn + "web/app?cmd=ls", jsonType, `["ls"]`, 400, "give it once"},
		{runIn + "web/app", "text/plain", "ls", 415, `Content-Type "text/plain"`},
		{runIn + "web/app", formType, "cmd=" + strings.Repeat("x", maxBodyBytes), 413, "1048576 bytes"},
		{runIn + "web/other-uid/app?cmd=ls", "", "", 404, `no pod "web" (namespace "default", UID "other-uid")`},
		{"GET /stats/?pretty=very", "", "", 400, `pretty="very"`},
		{"GET /stats/?num_stats=-1", "", "", 400, "num_stats=60"},
		{"GET /stats/web/app?num_stats=x", "", "", 400, "num_stats=60"},
		{"POST /stats/web/app", jsonType, `{"num_stats": "x"}`, 400, "num_stats=60"},
	} {
		got := s.ask(t, tt.request, withToken, withBody(tt.contentType, tt.body))
		if got.status != tt.status || !strings.Contains(got.body, tt.text) || len(got.trailer) > 0 {
			t.Errorf("%s %.40s: %d %q %v, want %d %q", tt.request, tt.body, got.status, got.body, got.trailer, tt.status, tt.text)
		}
	}
	for _, path := range []string{logOf, runIn, "GET /containerLogs/", "POST /run/", "GET /stats/"} {
		for container, want := range map[string]struct {
			status int
			text   string
		}{
			"none/app":   {404, `there is no pod "none"`},
			"twin/app":   {409, "twin.default.etcd, twin.default.file"},
			"web/none":   {404, `no container "none": it has app, helper, net`},
			"web/helper": {404, "container helper does not run"},
			"web/net":    {500, "Docker does not answer"},
		} {
			if got := s.ask(t, path+container+"?cmd=ls", withToken); got.status != want.status || !got.isOneLine(want.text) || len(got.trailer) > 0 {
				t.Errorf("%s%s: %d %q %v, want %d %q", path, container, got.status, got.body, got.trailer, want.status, want.text)
			}
		}
	}
}

const longTime = time.Hour // longer than every time limit of the server

// A stream may be quiet for long. A follower sees the status before the first line.
func TestEachLineIsSeenAsItComes(t *testing.T) {
	lines := []string{"one\n", "two\n", "three\n"}
	k := printing(func(ctx context.Context, _ string, out io.Writer) (int, error) {
		for _, line := range lines {
			time.Sleep(longTime)
			if _, err := io.WriteString(out, line); err != nil {
				return 0, err
			}
		}
		return 0, ctx.Err()
	})
	for request, command := range map[string]string{
		logOf + "web/app?follow=1": "", logOf + "web/app": "", runIn + "web/app?cmd=x": "", runIn + "web/app": "cmd=x",
	} {
		inBubble(t, k, func(t *testing.T, s *testServer) {
			began := time.Now()
			answer := s.open(t, t.Context(), request, withToken, withBody(formType, command))
			if atOnce := time.Since(began) == 0; atOnce != strings.Contains(request, "follow") {
				t.Errorf("%s: the status comes at once: %v", request, atOnce)
			}
			body := bufio.NewReader(answer.Body)
			for i, line := range lines {
				got, err := body.ReadString('\n')
				if got != line || time.Since(began) != time.Duration(i+1)*longTime {
					t.Fatalf("%s: after %v the client sees %q, %v, want %q", request, time.Since(began), got, err, line)
				}
			}
		})
	}
}

// When a client disconnects, its log or command ends, and nothing is logged. Anyone may read the metrics and
// disconnect; each of about 40 metrics could then be a line of the log.
func TestStreamsEndWhenTheirClientGoes(t *testing.T) {
	for request, lines := range map[string]int{logOf + "web/app?follow=1": 0, runIn + "web/app?cmd=cat": 0, "GET /metrics": 1, "GET /": 0} {
		text := unittest.Logged(t, "0", func() {
			inBubble(t, printing(func(ctx context.Context, _ string, out io.Writer) (int, error) {
				io.WriteString(out, "begun\n")
				<-ctx.Done()
				return 0, ctx.Err()
			}), func(t *testing.T, s *testServer) {
				ctx, leave := context.WithCancel(t.Context())
				s.open(t, ctx, request, withToken, with("Accept-Encoding", "identity")) // more than buffers hold
				leave()
				synctest.Wait()
			})
		})
		if strings.Count(text, "\n") > lines {
			t.Errorf("%s: the log is\n%s", request, text)
		}
	}
}

// A kubelet that stops must kill commands before it ends. A client that does not read its output must not delay that.
func TestAClientThatDoesNotReadKeepsNoCommandAlive(t *testing.T) {
	k := printing(func(ctx context.Context, _ string, out io.Writer) (int, error) {
		for {
			if _, err := io.WriteString(out, "a line\n"); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() == nil {
					t.Errorf("its output ends with %v, and its context with %v", err, ctx.Err())
				}
				return 0, err
			}
		}
	})
	inBubble(t, k, func(t *testing.T, s *testServer) {
		fmt.Fprintf(s.dial(t), "POST /run/default/web/app?cmd=flood HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
		time.Sleep(longTime)
	})
}

func TestTheKubeletsOwnLogFiles(t *testing.T) {
	k, options := withEverything(t)
	s := serve(t, k, options, func(o *Options) {
		unittest.Must(t, os.Chtimes(filepath.Join(o.LogDir, logFile), time.Time{}, noon))
	})
	at := func(dir string) *testServer { return serve(t, k, func(o *Options) { o.LogDir = dir }) }
	gone := at("/gone")
	for _, tt := range []struct {
		of      *testServer
		request string
		ranges  string
		status  int
		text    string
	}{
		{s, "GET /logs/", "", 200, `<a href="/logs/` + logFile + `?key=` + s.key + `">` + logFile + `</a>, 18 bytes, last changed 2014-10-23T12:00:00Z`},
		{s, "GET /logs/" + logFile, "", 200, "a line of the log\n"},
		{s, "GET /logs/" + logFile, "bytes=2-5", 206, "line"},
		{at(t.TempDir()), "GET /logs/", "", 200, "There are none"},
		{at(""), "GET /logs/", "", 400, "-log_query_units"},
		{at(""), "GET /logs/" + logFile, "", 404, ""},
		{gone, "GET /logs/", "", 500, "/gone"},
		{gone, "GET /logs/" + logFile, "", 404, "/logs/ lists them"},
	} {
		got := tt.of.ask(t, tt.request, withToken, with("Range", tt.ranges))
		isPlain := got.header.Get("Content-Type") == "text/plain; charset=utf-8"
		if got.status != tt.status || !strings.Contains(got.body, tt.text) || isPlain != (tt.request != "GET /logs/" || tt.status != 200) {
			t.Errorf("%s %s: %d %q %v, want %d %q", tt.request, tt.ranges, got.status, got.body, got.header, tt.status, tt.text)
		}
	}
}

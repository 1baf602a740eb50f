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
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

const (
	logOf = "GET /containerLogs/default/"
	runIn = "POST /run/default/"
)

// printing is a kubelet whose logs and commands are what print writes.
func printing(print func(ctx context.Context, out io.Writer) (exitCode int, err error)) *fakeKubelet {
	k := withContainers()
	k.run = func(ctx context.Context, _, _ string, _ []string, out io.Writer) (int, error) { return print(ctx, out) }
	k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		_, err := print(ctx, out)
		return err
	}
	return k
}

func TestALogHasWhatIsAskedFor(t *testing.T) {
	k := withContainers()
	k.logs = func(_ context.Context, pod, container string, opts api.LogOptions, out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s %s %+v", pod, container, opts)
		return err
	}
	s := serve(t, k)
	for path, change := range map[string]func(*api.LogOptions){
		"web/app":                          func(*api.LogOptions) {},
		"web/helper?tail=&follow=":         func(*api.LogOptions) {},
		"web/net":                          func(*api.LogOptions) {},
		"twin.default.etcd/app?follow=0":   func(*api.LogOptions) {},
		"web/app?tail=0":                   func(o *api.LogOptions) { o.Tail = 0 },
		"web/app?follow=1&tail=5":          func(o *api.LogOptions) { o.Follow, o.Tail = true, 5 },
		"web/app?timestamps=true":          func(o *api.LogOptions) { o.Timestamps = true },
		"web/app?previous=1":               func(o *api.LogOptions) { o.Previous = true },
		"web/app?stdout=0":                 func(o *api.LogOptions) { o.Stdout = false },
		"web.default.file/app?stderr=0":    func(o *api.LogOptions) { o.Stderr = false },
		"web/app?stderr=0&stdout=1&tail=3": func(o *api.LogOptions) { o.Stderr, o.Tail = false, 3 },
	} {
		opts := api.LogOptions{Tail: -1, Stdout: true, Stderr: true}
		change(&opts)
		name, _, _ := strings.Cut(path, "?")
		pod, container, _ := strings.Cut(name, "/")
		if pod == "web" {
			pod = "web.default.file"
		}
		want := fmt.Sprintf("%s %s %+v", pod, container, opts)
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
	k := withContainers()
	k.run = func(_ context.Context, pod, container string, command []string, out io.Writer) (int, error) {
		_, err := fmt.Fprintf(out, "%s %s %q", pod, container, command)
		return 0, err
	}
	s := serve(t, k)
	for _, row := range []struct{ path, contentType, body, want string }{
		{"web/app?cmd=ls&cmd=-l&cmd=a+b", "", "", `web.default.file app ["ls" "-l" "a b"]`},
		{"web/app?cmd=printf&cmd=&cmd=%3B", "", "", `web.default.file app ["printf" "" ";"]`},
		{"web/web-uid/helper?cmd=date", "", "", `web.default.file helper ["date"]`},
		{"twin/twin-of-etcd/app?cmd=date", "", "", `twin.default.etcd app ["date"]`},
		{"twin.default.file/app?cmd=date", "", "", `twin.default.file app ["date"]`},
		{"web/app", formType, "cmd=ls&cmd=%2Fa%20b", `web.default.file app ["ls" "/a b"]`},
		{"web/app", jsonType + "; charset=utf-8", `["ls", "/a b", ""]`, `web.default.file app ["ls" "/a b" ""]`},
	} {
		got := s.ask(t, runIn+row.path, withToken, withBody(row.contentType, row.body))
		if got.status != http.StatusOK || got.body != row.want || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %q, want 200 %q", row.path, row.body, got.status, got.body, row.want)
		}
	}
}

// Logs and commands that end well, badly, without output, and by an error.
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
		{runIn + "web/app?cmd=x", "", 137, nil, "", "137", ""},
		{runIn + "web/app?cmd=x", "half", 0, gone, "half\nkubelet14: Docker has; gone away\n", "", "Docker has; gone away"},
		{logOf + "web/app", "", 0, nil, "", "", ""},
		{logOf + "web/app", "one\n", 0, gone, "one\n\nkubelet14: Docker has; gone away\n", "", ""},
		{logOf + "web/app?follow=1", "", 0, gone, "\nkubelet14: Docker has; gone away\n", "", ""},
	} {
		s := serve(t, printing(func(_ context.Context, out io.Writer) (int, error) {
			io.WriteString(out, tt.printed)
			return tt.exitCode, tt.err
		}))
		got := s.ask(t, tt.request, withToken)
		if got.status != http.StatusOK || got.body != tt.body || got.trailer.Get("Exit-Code") != tt.code || got.trailer.Get("Error") != tt.text ||
			got.header.Get("Exit-Code")+got.header.Get("Error") != "" {
			t.Errorf("%+v: %d %q, header %v, trailer %v", tt, got.status, got.body, got.header, got.trailer)
		}
	}
}

func TestRequestsThatCannotBeAnswered(t *testing.T) {
	k := withContainers()
	k.stats = func(_, container string) (api.ContainerStats, error) {
		switch container {
		case "helper":
			return api.ContainerStats{}, fmt.Errorf("container helper does not run: %w", api.ErrNotFound)
		case "net":
			return api.ContainerStats{}, errors.New("Docker does not answer")
		}
		t.Error("the kubelet is asked for a container")
		return api.ContainerStats{}, nil
	}
	k.logs = func(_ context.Context, pod, container string, _ api.LogOptions, _ io.Writer) error {
		_, err := k.stats(pod, container)
		return err
	}
	k.run = func(_ context.Context, pod, container string, _ []string, _ io.Writer) (int, error) {
		_, err := k.stats(pod, container)
		return 0, err
	}
	s := serve(t, k)
	for _, tt := range []struct {
		request, contentType, body string
		status                     int
		text                       string
	}{
		{logOf + "web/", "", "", 404, "not found"},
		{logOf + "web/app/more", "", "", 404, "not found"},
		{"HEAD /containerLogs/default/web/none", "", "", 404, ""},
		{logOf + "web/app?tail=many", "", "", 400, `tail="many"`},
		{logOf + "web/app?tail=-1", "", "", 400, `tail="-1"`},
		{logOf + "web/app?tail=99999999999999999999", "", "", 400, "tail="},
		{logOf + "web/app?follow=yes", "", "", 400, `follow="yes"`},
		{logOf + "web/app?timestamps=2", "", "", 400, `timestamps="2"`},
		{logOf + "web/app?previous=x", "", "", 400, `previous="x"`},
		{logOf + "web/app?stdout=x", "", "", 400, `stdout="x"`},
		{logOf + "web/app?stderr=x", "", "", 400, `stderr="x"`},
		{logOf + "web/app?stdout=0&stderr=0", "", "", 400, "stdout=0 and stderr=0"},
		{logOf + "web/app?previous=1&follow=1", "", "", 400, "previous=1 and follow=1"},
		{runIn + "web/app", "", "", 400, "?cmd=ls&cmd=-l"},
		{runIn + "web/app?cmd=&cmd=ls", "", "", 400, "there is no command"},
		{runIn + "web/app?cmd=sh&cmd=-c&cmd=a;b", "", "", 400, "the command is not well encoded"},
		{runIn + "web/app?cmd=%zz", "", "", 400, "the command is not well encoded"},
		{runIn + "web/app", formType, "cmd=a&cmd=b;c", 400, "the command is not well encoded"},
		{runIn + "web/app", formType, "ls -l", 400, "there is no command"},
		{runIn + "web/app", jsonType, `["ls"`, 400, "list of words in JSON"},
		{runIn + "web/app", jsonType, `["ls", 1]`, 400, "list of words in JSON"},
		{runIn + "web/app", jsonType, `[]`, 400, "there is no command"},
		{runIn + "web/app?cmd=ls", jsonType, `["ls"]`, 400, "give it once"},
		{runIn + "web/app", "text/plain", "ls", 415, `Content-Type "text/plain"`},
		{runIn + "web/app", "", "ls", 415, "application/json"},
		{runIn + "web/app", formType, "cmd=" + strings.Repeat("x", maxBodyBytes), 413, "1048576 bytes"},
		{runIn + "web/other-uid/app?cmd=ls", "", "", 404, `no pod "web" with UID "other-uid"`},
		{"POST /run/web/app?cmd=ls", "", "", 404, "not found"},
		{"GET /stats/default/web/other-uid/app", "", "", 404, `with UID "other-uid"`},
		{"GET /stats/other/web/web-uid/app", "", "", 404, `in namespace "other"`},
		{"GET /stats/web", "", "", 404, "not found"},
		{"GET /stats/default/web/app", "", "", 404, "not found"},
		{"GET /stats/a/b/c/d/e", "", "", 404, "not found"},
		{"GET /stats/?pretty=very", "", "", 400, `pretty="very"`},
		{"GET /spec/more", "", "", 404, "not found"},
	} {
		got := s.ask(t, tt.request, withToken, withBody(tt.contentType, tt.body))
		if got.status != tt.status || !strings.Contains(got.body, tt.text) || len(got.trailer) > 0 {
			t.Errorf("%s %.40s: %d %q %v, want %d %q", tt.request, tt.body, got.status, got.body, got.trailer, tt.status, tt.text)
		}
	}
	for _, path := range []string{logOf, runIn, "GET /stats/"} {
		for container, want := range map[string]struct {
			status int
			text   string
		}{
			"none/app":   {404, `no pod "none" in namespace "default"`},
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

// The container prints a line when the client has seen what was before it. A follower sees the status first.
func TestEachLineIsSeenAsItComes(t *testing.T) {
	for _, request := range []string{logOf + "web/app?follow=1", runIn + "web/app?cmd=x"} {
		lines := make(chan string, 1)
		s := serve(t, printing(func(_ context.Context, out io.Writer) (int, error) {
			for line := range lines {
				if _, err := io.WriteString(out, line); err != nil {
					return 0, err
				}
			}
			return 3, nil
		}))
		if strings.HasPrefix(request, "POST") {
			lines <- "one\n"
		}
		answer := s.open(t, t.Context(), request, withToken)
		body := bufio.NewReader(answer.Body)
		for _, line := range []string{"one\n", "two\n", "three\n"} {
			if line != "one\n" || strings.HasPrefix(request, "GET") {
				lines <- line
			}
			if got, err := body.ReadString('\n'); got != line {
				t.Fatalf("%s: the client sees %q, %v, want %q", request, got, err, line)
			}
		}
		close(lines)
		if rest, err := io.ReadAll(body); len(rest) > 0 || err != nil {
			t.Errorf("%s: and then %q, %v, want the end", request, rest, err)
		}
	}
}

const longTime = time.Hour // longer than every time limit of the server

// A stream may be quiet, and its client may pause.
func TestStreamsHaveNoTimeLimit(t *testing.T) {
	k := printing(func(ctx context.Context, out io.Writer) (int, error) {
		select {
		case <-ctx.Done():
			return 0, errors.New("it was canceled")
		case <-time.After(longTime):
		}
		_, err := io.WriteString(out, "at last\n")
		return 0, errors.Join(err, ctx.Err())
	})
	for request, body := range map[string]string{
		logOf + "web/app?follow=1": "", logOf + "web/app": "", runIn + "web/app?cmd=sleep": "", runIn + "web/app": "cmd=sleep",
	} {
		inBubble(t, k, func(t *testing.T, s *testServer) {
			answer := s.open(t, t.Context(), request, withToken, withBody(formType, body))
			time.Sleep(longTime)
			if text, err := io.ReadAll(answer.Body); string(text) != "at last\n" || err != nil {
				t.Errorf("%s: it is %q, %v, want at last", request, text, err)
			}
		})
	}
}

func TestStreamsEndWhenTheirClientGoes(t *testing.T) {
	for _, request := range []string{logOf + "web/app?follow=1", runIn + "web/app?cmd=cat"} {
		ended := make(chan struct{})
		k := printing(func(ctx context.Context, out io.Writer) (int, error) {
			io.WriteString(out, "begun\n")
			<-ctx.Done()
			close(ended)
			return 0, nil
		})
		ctx, leave := context.WithCancel(t.Context())
		serve(t, k).open(t, ctx, request, withToken)
		leave()
		<-ended
	}
}

// A kubelet that stops must kill commands before it ends. A client that does not read its output must not delay that.
func TestAClientThatDoesNotReadKeepsNoCommandAlive(t *testing.T) {
	k := printing(func(ctx context.Context, out io.Writer) (int, error) {
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
		conn, err := s.transport.DialContext(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /run/default/web/app?cmd=flood HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
		time.Sleep(longTime)
	})
}

func TestTheKubeletsOwnLogFiles(t *testing.T) {
	k, options := withEverything(t)
	s := serve(t, k, options, func(o *Options) {
		if err := os.Chtimes(filepath.Join(o.LogDir, logFile), time.Time{}, noon); err != nil {
			t.Fatal(err)
		}
	})
	got := s.ask(t, "GET /logs/", withToken)
	want := `<a href="/logs/` + logFile + `">` + logFile + `</a>, 18 bytes, last changed 2014-10-23T12:00:00Z`
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(got.body, want) {
		t.Errorf("the list is %d %v\n%s", got.status, got.header, got.body)
	}
	for _, tt := range []struct {
		method, ranges string
		status         int
		body           string
	}{
		{"GET", "", http.StatusOK, "a line of the log\n"},
		{"GET", "bytes=-4", http.StatusPartialContent, "log\n"},
		{"GET", "bytes=2-5", http.StatusPartialContent, "line"},
		{"HEAD", "", http.StatusOK, ""},
	} {
		got := s.ask(t, tt.method+" /logs/"+logFile, withToken, with("Range", tt.ranges))
		if got.status != tt.status || got.body != tt.body || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %q %v", tt.method, tt.ranges, got.status, got.body, got.header)
		}
	}

	glog.Info("a line for this test")
	files, err := glog.Names("INFO")
	if err != nil {
		t.Fatal(err)
	}
	dir, file := filepath.Split(files[0])
	if got := serve(t, k, func(o *Options) { o.LogDir = dir }).ask(t, "GET /logs/"+file, withToken); !strings.Contains(got.body, "a line for this test") {
		t.Errorf("glog's newest line is not in the log: %d %q", got.status, got.body)
	}
	if got := serve(t, k, func(o *Options) { o.LogDir = t.TempDir() }).ask(t, "GET /logs/", withToken); !strings.Contains(got.body, "There are none") {
		t.Errorf("without files it answers %d %q", got.status, got.body)
	}
	if got := serve(t, k).ask(t, "GET /logs/", withToken); got.status != http.StatusNotFound {
		t.Errorf("without a directory it answers %d %q", got.status, got.body)
	}
	s = serve(t, k, func(o *Options) { o.LogDir = "/gone" })
	for _, path := range []string{"/logs/", "/logs/any"} {
		if got := s.ask(t, "GET "+path, withToken); got.status != http.StatusInternalServerError || !got.isOneLine("/gone") {
			t.Errorf("%s of a directory that is gone: %d %q", path, got.status, got.body)
		}
	}
}

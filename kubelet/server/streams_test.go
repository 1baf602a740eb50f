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

const logOf = "GET /containerLogs/default/"

func TestALogHasWhatIsAskedFor(t *testing.T) {
	k := withContainers()
	k.logs = func(_ context.Context, pod, container string, opts api.LogOptions, out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s %s %+v", pod, container, opts)
		return err
	}
	s := serve(t, k)
	all := api.LogOptions{Tail: -1, Stdout: true, Stderr: true}
	for path, change := range map[string]func(*api.LogOptions){
		"web/app":                     func(*api.LogOptions) {},
		"web/helper?tail=&follow=":    func(*api.LogOptions) {},
		"web/net":                     func(*api.LogOptions) {},
		"twin.default.etcd/app":       func(*api.LogOptions) {},
		"web/app?tail=0":              func(o *api.LogOptions) { o.Tail = 0 },
		"web/app?tail=17":             func(o *api.LogOptions) { o.Tail = 17 },
		"web/app?follow=1":            func(o *api.LogOptions) { o.Follow = true },
		"web/app?follow=0":            func(*api.LogOptions) {},
		"web/app?timestamps=true":     func(o *api.LogOptions) { o.Timestamps = true },
		"web/app?previous=1":          func(o *api.LogOptions) { o.Previous = true },
		"web/app?stdout=0":            func(o *api.LogOptions) { o.Stdout = false },
		"web/app?stderr=0&stdout=1":   func(o *api.LogOptions) { o.Stderr = false },
		"web/app?follow=1&tail=5":     func(o *api.LogOptions) { o.Follow, o.Tail = true, 5 },
		"web.default.file/app?tail=3": func(o *api.LogOptions) { o.Tail = 3 },
	} {
		want := all
		change(&want)
		name, _, _ := strings.Cut(path, "?")
		pod, container, _ := strings.Cut(name, "/")
		if pod == "web" {
			pod = "web.default.file"
		}
		got := s.ask(t, logOf+path, withToken)
		if got.status != http.StatusOK || got.body != fmt.Sprintf("%s %s %+v", pod, container, want) || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %q %v, want %+v", path, got.status, got.body, got.header, want)
		}
	}
	if got := serve(t, withContainers()).ask(t, logOf+"web/app", withToken); got.status != http.StatusOK || got.body != "" {
		t.Errorf("an empty log: %d %q", got.status, got.body)
	}
}

func TestTheHeadOfALogAsksForNoLog(t *testing.T) {
	k := withContainers()
	s := serve(t, k)
	got := s.ask(t, "HEAD /containerLogs/default/web/app?follow=1", withToken)
	if got.status != http.StatusOK || got.body != "" || got.header.Get("Content-Type") != "text/plain; charset=utf-8" || k.usedTimes() > 0 {
		t.Errorf("it answers %d %q %v", got.status, got.body, got.header)
	}
	if got := s.ask(t, "HEAD /containerLogs/default/web/none", withToken); got.status != http.StatusNotFound {
		t.Errorf("of a container that is not there: %d, want 404", got.status)
	}
}

func TestALogThatCannotBeRead(t *testing.T) {
	k := withContainers()
	k.logs = func(_ context.Context, _, container string, _ api.LogOptions, _ io.Writer) error {
		if container == "helper" {
			return fmt.Errorf("container helper has not been created yet: %w", api.ErrNotFound)
		}
		return errors.New("Docker does not answer")
	}
	s := serve(t, k)
	for _, tt := range []struct {
		path   string
		status int
		text   string
	}{
		{"none/app", http.StatusNotFound, `no pod "none" in namespace "default"`},
		{"web/none", http.StatusNotFound, `no container "none": it has app, helper, net`},
		{"web/", http.StatusNotFound, "not found"},
		{"web/app/more", http.StatusNotFound, "not found"},
		{"twin/app", http.StatusConflict, "twin.default.etcd, twin.default.file"},
		{"web/helper", http.StatusNotFound, "has not been created yet"},
		{"web/app", http.StatusInternalServerError, "Docker does not answer"},
		{"web/app?tail=many", http.StatusBadRequest, `tail="many"`},
		{"web/app?tail=-1", http.StatusBadRequest, `tail="-1"`},
		{"web/app?tail=99999999999999999999", http.StatusBadRequest, "tail="},
		{"web/app?follow=yes", http.StatusBadRequest, `follow="yes"`},
		{"web/app?timestamps=2", http.StatusBadRequest, `timestamps="2"`},
		{"web/app?previous=x", http.StatusBadRequest, `previous="x"`},
		{"web/app?stdout=x", http.StatusBadRequest, `stdout="x"`},
		{"web/app?stderr=x", http.StatusBadRequest, `stderr="x"`},
		{"web/app?stdout=0&stderr=0", http.StatusBadRequest, "stdout=0 and stderr=0"},
		{"web/app?previous=1&follow=1", http.StatusBadRequest, "previous=1 and follow=1"},
	} {
		if got := s.ask(t, logOf+tt.path, withToken); got.status != tt.status || !got.isOneLine(tt.text) {
			t.Errorf("%s: %d %q, want %d %q", tt.path, got.status, got.body, tt.status, tt.text)
		}
	}
}

// The container prints a line when the client has seen what was before it: first the status alone.
func TestAFollowerSeesEachLineAsItComes(t *testing.T) {
	k, lines := withContainers(), make(chan string)
	k.logs = func(_ context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		for line := range lines {
			if _, err := io.WriteString(out, line); err != nil {
				return err
			}
		}
		return nil
	}
	answer := serve(t, k).open(t, t.Context(), logOf+"web/app?follow=1", withToken)
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
	for _, tt := range []struct{ query, printed, want string }{
		{"", "one\n", "one\n\nkubelet14: Docker has; gone away\n"},
		{"", "half", "half\nkubelet14: Docker has; gone away\n"},
		{"?follow=1", "", "\nkubelet14: Docker has; gone away\n"},
	} {
		k := withContainers()
		k.logs = func(_ context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
			io.WriteString(out, tt.printed)
			return errors.New("Docker has\ngone away")
		}
		got := serve(t, k).ask(t, logOf+"web/app"+tt.query, withToken)
		if got.status != http.StatusOK || got.body != tt.want {
			t.Errorf("%s after %q: %d %q, want 200 %q", tt.query, tt.printed, got.status, got.body, tt.want)
		}
	}
}

const longTime = time.Hour // longer than every time limit of the server

// A stream may be quiet, and its client may pause.
func TestStreamsHaveNoTimeLimit(t *testing.T) {
	k := withContainers()
	k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		select {
		case <-ctx.Done():
			return errors.New("it was canceled")
		case <-time.After(longTime):
		}
		_, err := io.WriteString(out, "at last\n")
		return errors.Join(err, ctx.Err())
	}
	k.run = func(ctx context.Context, pod, container string, _ []string, out io.Writer) (int, error) {
		return 0, k.logs(ctx, pod, container, api.LogOptions{}, out)
	}
	for request, body := range map[string]string{
		logOf + "web/app?follow=1": "", logOf + "web/app": "", "POST /run/default/web/app?cmd=sleep": "", "POST /run/default/web/app": "cmd=sleep",
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
	for _, request := range []string{logOf + "web/app?follow=1", "POST /run/default/web/app?cmd=cat"} {
		k, ended := withContainers(), make(chan struct{})
		k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
			io.WriteString(out, "begun\n")
			<-ctx.Done()
			close(ended)
			return nil
		}
		k.run = func(ctx context.Context, pod, container string, _ []string, out io.Writer) (int, error) {
			return 0, k.logs(ctx, pod, container, api.LogOptions{}, out)
		}
		ctx, leave := context.WithCancel(t.Context())
		answer := serve(t, k).open(t, ctx, request, withToken)
		if line, err := bufio.NewReader(answer.Body).ReadString('\n'); line != "begun\n" {
			t.Fatalf("%s: its first line is %q, %v", request, line, err)
		}
		leave()
		<-ended
	}
}

// A kubelet that stops must kill commands before it ends. A client that does not read its output must not delay that.
func TestAClientThatDoesNotReadKeepsNoCommandAlive(t *testing.T) {
	k := withContainers()
	k.run = func(ctx context.Context, _, _ string, _ []string, out io.Writer) (int, error) {
		for {
			if _, err := io.WriteString(out, "a line\n"); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() == nil {
					t.Errorf("its output ends with %v, and its context with %v", err, ctx.Err())
				}
				return 0, err
			}
		}
	}
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

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

func TestACommandRunsWordByWord(t *testing.T) {
	k := withContainers()
	k.run = func(_ context.Context, pod, container string, command []string, out io.Writer) (int, error) {
		_, err := fmt.Fprintf(out, "%s %s %q", pod, container, command)
		return 0, err
	}
	s := serve(t, k)
	for _, row := range []struct {
		path              string
		contentType, body string
		want              string
	}{
		{"web/app?cmd=ls", "", "", `web.default.file app ["ls"]`},
		{"web/app?cmd=ls&cmd=-l&cmd=a+b", "", "", `web.default.file app ["ls" "-l" "a b"]`},
		{"web/app?cmd=printf&cmd=&cmd=%3B", "", "", `web.default.file app ["printf" "" ";"]`},
		{"web/web-uid/helper?cmd=date", "", "", `web.default.file helper ["date"]`},
		{"twin/twin-of-etcd/app?cmd=date", "", "", `twin.default.etcd app ["date"]`},
		{"twin.default.file/app?cmd=date", "", "", `twin.default.file app ["date"]`},
		{"web/app", formType, "cmd=ls&cmd=%2Fa%20b", `web.default.file app ["ls" "/a b"]`},
		{"web/app", jsonType, `["ls", "/a b", ""]`, `web.default.file app ["ls" "/a b" ""]`},
		{"web/app", jsonType + "; charset=utf-8", `["ls"]`, `web.default.file app ["ls"]`},
	} {
		got := s.ask(t, "POST /run/default/"+row.path, withToken, withBody(row.contentType, row.body))
		if got.status != http.StatusOK || got.body != row.want || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %q, want 200 %q", row.path, row.body, got.status, got.body, row.want)
		}
	}
}

// Commands that end well, badly, without output, and by an error.
func TestHowACommandEndedIsInTheTrailer(t *testing.T) {
	for _, row := range []struct {
		printed  string
		exitCode int
		err      error
		want     string // body
		trailer  http.Header
	}{
		{"out\n", 0, nil, "out\n", http.Header{"Exit-Code": {"0"}}},
		{"out", 7, nil, "out", http.Header{"Exit-Code": {"7"}}},
		{"", 137, nil, "", http.Header{"Exit-Code": {"137"}}},
		{"half", 0, errors.New("Docker has\ngone"), "half\nkubelet14: Docker has; gone\n", http.Header{"Error": {"Docker has; gone"}}},
	} {
		k := withContainers()
		k.run = func(_ context.Context, _, _ string, _ []string, out io.Writer) (int, error) {
			io.WriteString(out, row.printed)
			return row.exitCode, row.err
		}
		got := serve(t, k).ask(t, "POST /run/default/web/app?cmd=x", withToken)
		if got.status != http.StatusOK || got.body != row.want {
			t.Errorf("%+v: %d %q, want 200 %q", row, got.status, got.body, row.want)
		}
		for _, name := range []string{"Exit-Code", "Error"} {
			if values := got.header.Values(name); len(values) > 0 {
				t.Errorf("%+v: %s: %q is in the header, before the command has ended", row, name, values)
			}
			if got, want := got.trailer.Get(name), row.trailer.Get(name); got != want {
				t.Errorf("%+v: the trailer has %s: %q, want %q", row, name, got, want)
			}
		}
	}
}

func TestACommandThatCannotBeRun(t *testing.T) {
	k := withContainers()
	k.run = func(_ context.Context, _, container string, _ []string, _ io.Writer) (int, error) {
		switch container {
		case "helper":
			return 0, fmt.Errorf("container helper does not run: %w", api.ErrNotFound)
		case "net":
			return 0, errors.New("Docker does not answer")
		}
		t.Error("a command runs")
		return 0, nil
	}
	s := serve(t, k)
	for _, row := range []struct {
		request           string
		contentType, body string
		status            int
		says              string
	}{
		{"POST /run/default/web/app", "", "", http.StatusBadRequest, "?cmd=ls&cmd=-l"},
		{"POST /run/default/web/app?cmd=", "", "", http.StatusBadRequest, "there is no command"},
		{"POST /run/default/web/app?cmd=&cmd=ls", "", "", http.StatusBadRequest, "there is no command"},
		{"POST /run/default/web/app?cmd=sh&cmd=-c&cmd=a;b", "", "", http.StatusBadRequest, "the command is not well encoded"},
		{"POST /run/default/web/app?cmd=%zz", "", "", http.StatusBadRequest, "the command is not well encoded"},
		{"POST /run/default/web/app", formType, "cmd=a&cmd=b;c", http.StatusBadRequest, "the command is not well encoded"},
		{"POST /run/default/web/app", formType, "ls -l", http.StatusBadRequest, "there is no command"},
		{"POST /run/default/web/app", jsonType, `["ls"`, http.StatusBadRequest, "list of words in JSON"},
		{"POST /run/default/web/app", jsonType, `["ls", 1]`, http.StatusBadRequest, "list of words in JSON"},
		{"POST /run/default/web/app", jsonType, `{"cmd": "ls"}`, http.StatusBadRequest, "list of words in JSON"},
		{"POST /run/default/web/app", jsonType, `[]`, http.StatusBadRequest, "there is no command"},
		{"POST /run/default/web/app?cmd=ls", jsonType, `["ls"]`, http.StatusBadRequest, "give it once"},
		{"POST /run/default/web/app", "text/plain", "ls", http.StatusUnsupportedMediaType, `Content-Type "text/plain"`},
		{"POST /run/default/web/app", "", "ls", http.StatusUnsupportedMediaType, "application/json"},
		{"POST /run/default/web/app", formType, "cmd=" + strings.Repeat("x", maxBodyBytes), http.StatusRequestEntityTooLarge, "1048576 bytes"},
		{"POST /run/default/none/app?cmd=ls", "", "", http.StatusNotFound, `no pod "none"`},
		{"POST /run/default/web/other-uid/app?cmd=ls", "", "", http.StatusNotFound, `no pod "web" with UID "other-uid"`},
		{"POST /run/default/web/none?cmd=ls", "", "", http.StatusNotFound, `no container "none"`},
		{"POST /run/default/twin/app?cmd=ls", "", "", http.StatusConflict, "twin.default.etcd, twin.default.file"},
		{"POST /run/web/app?cmd=ls", "", "", http.StatusNotFound, "not found"},
		{"POST /run/default/web/helper?cmd=ls", "", "", http.StatusNotFound, "container helper does not run"},
		{"POST /run/default/web/net?cmd=ls", "", "", http.StatusInternalServerError, "Docker does not answer"},
	} {
		got := s.ask(t, row.request, withToken, withBody(row.contentType, row.body))
		if got.status != row.status || !strings.Contains(got.body, row.says) {
			t.Errorf("%s %.40s: %d %q, want %d %q", row.request, row.body, got.status, got.body, row.status, row.says)
		}
		if len(got.trailer) > 0 {
			t.Errorf("%s: the trailer %v is announced for a command that never ran", row.request, got.trailer)
		}
	}
}

func TestWhatACommandPrintsIsSeenAsItComes(t *testing.T) {
	k, pieces := withContainers(), make(chan string)
	k.run = func(_ context.Context, _, _ string, _ []string, out io.Writer) (int, error) {
		for piece := range pieces {
			if _, err := io.WriteString(out, piece); err != nil {
				return 0, err
			}
		}
		return 3, nil
	}
	s := serve(t, k)
	go func() { pieces <- "first\n" }()
	answer := s.open(t, t.Context(), "POST /run/default/web/app?cmd=x", withToken)
	out := bufio.NewReader(answer.Body)
	for i, want := range []string{"first\n", "second\n"} {
		if i > 0 {
			pieces <- want
		}
		if got, err := out.ReadString('\n'); got != want {
			t.Fatalf("the client sees %q, %v, want %q", got, err, want)
		}
	}
	close(pieces)
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil || answer.Trailer.Get("Exit-Code") != "3" {
		t.Errorf("and then %q, %v, exit code %q, want the end and 3", rest, err, answer.Trailer.Get("Exit-Code"))
	}
}

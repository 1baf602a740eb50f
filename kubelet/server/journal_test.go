package server

import (
	"bufio"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
)

// journalctl puts a shell script of this name on the PATH.
func journalctl(t testing.TB, script string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "journalctl"), "#!/bin/sh\n"+script, 0o755)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

const printArguments = `printf '%s ' "$@"; echo`

func withUnits(o *Options) { o.LogUnits = "docker,kubelet14,a,b,c,getty@tty1" }

func TestTheJournalIsAskedForWhatIsListedAndNoMore(t *testing.T) {
	journalctl(t, printArguments)
	s := serve(t, &fakeKubelet{}, withUnits)
	const begin = "--utc --no-pager --output=short-precise "
	for query, want := range map[string]string{
		"query=kubelet14":                       begin + "--unit=kubelet14.service --lines=10000 \n",
		"query=getty@tty1&tailLines=7":          begin + "--unit=getty@tty1.service --lines=7 \n",
		"query=a&query=b&query=c&tailLines=0":   begin + "--unit=a.service --unit=b.service --unit=c.service --lines=0 \n",
		"query=docker&tailLines=100&sinceTime=": begin + "--identifier=dockerd --lines=100 \n",
		"query=docker&query=a&query=docker":     begin + "--unit=a.service --lines=10000 \n" + begin + "--identifier=dockerd --lines=10000 \n",
		"query=a&sinceTime=2014-10-23T14:00:00%2B02:00&untilTime=2014-10-23T12:00:01Z": begin +
			"--unit=a.service --lines=10000 --since=@1414065600 --until=@1414065601 \n",
	} {
		got := s.ask(t, "GET /logs/?"+query, withKey(s.key))
		if got.status != 200 || got.body != want || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %v\n%s, want\n%s", query, got.status, got.header, got.body, want)
		}
	}
}

// Of a request only numbers, times and units that the flag lists reach journalctl.
func TestAttacksOnTheJournal(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	journalctl(t, "echo \"$@\" >>"+ran)
	s, none := serve(t, &fakeKubelet{}, withUnits), serve(t, &fakeKubelet{})
	for query, want := range map[string]int{
		"query=ssh": 404, "query=": 404, "query=a,b": 404, "query=docker,": 404, "query=*": 404, "query=dock*": 404, "query=a.service": 404,
		"query=--file=/etc/passwd": 404, "query=a%20--root=/": 404, "query=a%0a--root=/": 404, "query=a%00": 404, "query=../a": 404,
		"query=a;id": 400, "query=$(id)": 404, "query=A": 404, "query=docker&query=ssh": 404,
		"query=a&query=b&query=c&query=docker&query=kubelet14": 400, "tailLines=1": 400, "": 400,
		"query=a&tailLines=10001": 400, "query=a&tailLines=-1": 400, "query=a&tailLines=+1": 400, "query=a&tailLines=all": 400,
		"query=a&tailLines=1&tailLines=2": 400, "query=a&tailLines=1%20--file=/x": 400, "query=a&tailLines=0x10": 400,
		"query=a&sinceTime=yesterday": 400, "query=a&sinceTime=@1": 400, "query=a&untilTime=1969-12-31T00:00:00Z": 400,
		"query=a&sinceTime=2014-10-23T12:00:00Z%0a--file=/x": 400, "query=a&pattern=x": 400,
		"query=a&sinceTime=2014-10-23T12:00:01Z&untilTime=2014-10-23T12:00:00Z": 400, "query=a&boot=0": 400, "query=a&lines=1": 400,
	} {
		if got := s.ask(t, "GET /logs/?"+query, withToken); got.status != want || strings.Count(got.body, "\n") != 1 {
			t.Errorf("%s: %d %q, want %d", query, got.status, got.body, want)
		}
	}
	if got := none.ask(t, "GET /logs/?query=docker", withToken); got.status != 404 || !got.isOneLine("-log_query_units") {
		t.Errorf("without units: %d %q", got.status, got.body)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("journalctl has run with %s", text)
	}
}

func TestHowTheJournalEnds(t *testing.T) {
	logOfA := "GET /logs/?query=a"
	s := serve(t, &fakeKubelet{}, withUnits)
	for script, want := range map[string]struct {
		status int
		body   string
	}{
		"echo a line; echo a hint >&2":       {200, "a line\n"},
		"echo no access >&2; exit 1":         {500, "journalctl: exit status 1: no access\n"},
		"echo a line; echo bad >&2; kill $$": {200, "a line\n\nkubelet14: journalctl: signal: terminated: bad\n"},
	} {
		journalctl(t, script)
		if got := s.ask(t, logOfA, withToken); got.status != want.status || got.body != want.body {
			t.Errorf("%s: %d %q, want %v", script, got.status, got.body, want)
		}
	}

	journalctl(t, "echo hangs; exec sleep 1000")
	late, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	err := s.serveUnitLogs(httptest.NewRecorder(), httptest.NewRequestWithContext(late, "GET", "/logs/?query=a", nil))
	if answer, _ := err.(*httpError); answer == nil || answer.status != 504 {
		t.Errorf("after its time: %v, want 504", err)
	}

	t.Setenv("PATH", t.TempDir())
	if got := s.ask(t, logOfA, withToken); got.status != 501 || !got.isOneLine("this host has no journalctl") {
		t.Errorf("without journalctl: %d %q", got.status, got.body)
	}
}

// The pipe is closed when its last writer, journalctl, is gone.
func TestJournalctlEndsWithItsClient(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	unittest.Must(t, syscall.Mkfifo(pipe, 0o600))
	journalctl(t, "echo begun; exec sleep 1000 >"+pipe)
	s := serve(t, &fakeKubelet{}, withUnits)
	ctx, leave := context.WithCancel(t.Context())
	answer := s.open(t, ctx, "GET /logs/?query=a", withToken)
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); line != "begun\n" {
		t.Fatalf("it prints %q, %v", line, err)
	}
	end, err := os.Open(pipe)
	unittest.Must(t, err)
	defer end.Close()
	leave()
	if _, err := io.ReadAll(end); err != nil {
		t.Error(err)
	}
}

package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golang/glog"
)

// logDir is a log directory with two logs, and all that must not be had: links, a
// directory, a pipe, and the token; and a secret beside it.
func logDir(t *testing.T) (dir, tokenFile string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "logs")
	tokenFile = filepath.Join(dir, "token")
	steps := []error{
		os.MkdirAll(filepath.Join(dir, "sub"), 0o700),
		os.WriteFile(filepath.Join(top, "secret"), []byte("a secret"), 0o600),
		os.WriteFile(filepath.Join(dir, "sub", "deep.log"), []byte("a secret"), 0o600),
		os.WriteFile(filepath.Join(dir, logFile), []byte("line one\nline two\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "<odd> #1?.log"), []byte("<html>"), 0o600),
		os.WriteFile(tokenFile, []byte("a secret"), 0o600),
		os.WriteFile(filepath.Join(dir, ".dockercfg"), []byte("a secret"), 0o600),
		os.Symlink(filepath.Join(top, "secret"), filepath.Join(dir, "link-out")),
		os.Symlink(logFile, filepath.Join(dir, "kubelet14.INFO")),
		os.Symlink("..", filepath.Join(dir, "link-up")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.Chtimes(filepath.Join(dir, logFile), time.Time{}, time.Unix(1400000000, 0)),
	}
	for _, err := range steps {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, tokenFile
}

func serveLogDir(t *testing.T) *Server {
	t.Helper()
	dir, tokenFile := logDir(t)
	return serve(t, &fakeKubelet{}, func(o *Options) { o.LogDir, o.TokenFile = dir, tokenFile })
}

func TestTheLogDirectoryListsItsPlainFiles(t *testing.T) {
	got := ask(t, serveLogDir(t), "GET /logs/", withToken)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("it answers %d %v", got.status, got.header)
	}
	for _, want := range []string{
		`<a href="/logs/` + logFile + `">` + logFile + `</a>, 18 bytes, last changed 2014-05-13T16:53:20Z`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if n := strings.Count(got.body, "<a "); n != 1 {
		t.Errorf("it lists %d files, want 1", n)
	}
	if t.Failed() {
		t.Log(got.body)
	}
}

func TestAnEmptyLogDirectorySaysSo(t *testing.T) {
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.LogDir = t.TempDir() })
	if got := ask(t, s, "GET /logs/", withToken); got.status != http.StatusOK || !strings.Contains(got.body, "There are none") {
		t.Errorf("it answers %d %q", got.status, got.body)
	}
}

func TestALogFileIsServedAsText(t *testing.T) {
	s := serveLogDir(t)
	for _, row := range []struct {
		request, ranges string
		status          int
		body            string
	}{
		{"GET /logs/" + logFile, "", http.StatusOK, "line one\nline two\n"},
		{"GET /logs/" + logFile, "bytes=-9", http.StatusPartialContent, "line two\n"},
		{"GET /logs/" + logFile, "bytes=5-7", http.StatusPartialContent, "one"},
		{"HEAD /logs/" + logFile, "", http.StatusOK, ""},
	} {
		got := ask(t, s, row.request, withToken, with("Range", row.ranges))
		if got.status != row.status || got.body != row.body || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %q %v, want %d %q", row.request, row.ranges, got.status, got.body, got.header, row.status, row.body)
		}
	}
}

// TestTheNewestLineOfTheLogIsThere asks for what glog itself has written.
func TestTheNewestLineOfTheLogIsThere(t *testing.T) {
	line := "a line for " + t.Name()
	glog.Info(line)
	files, err := glog.Names("INFO")
	if err != nil {
		t.Fatal(err)
	}
	dir, file := filepath.Split(files[0])
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.LogDir = dir })
	if got := ask(t, s, "GET /logs/"+file, withToken); got.status != http.StatusOK || !strings.Contains(got.body, line) {
		t.Errorf("it answers %d %q, without %q", got.status, got.body, line)
	}
}

func TestNothingElseIsServedFromTheLogDirectory(t *testing.T) {
	s := serveLogDir(t)
	for _, path := range []string{
		"/logs/none.log", "/logs/link-out", "/logs/kubelet14.INFO", "/logs/link-up", "/logs/link-up/secret", "/logs/link-up%2Fsecret",
		"/logs/sub", "/logs/sub/", "/logs/sub/deep.log", "/logs/sub%2Fdeep.log", "/logs/pipe", "/logs/token", "/logs/.dockercfg", "/logs/%2edockercfg",
		"/logs/%2e%2e/secret", "/logs/..%2Fsecret", "/logs/%2e%2e%2fsecret", "/logs/%2e%2e", "/logs/%2e", "/logs/..%5Csecret",
		"/logs/%2Fetc%2Fpasswd", "/logs/" + logFile + "%00", "/logs/" + logFile + "/",
	} {
		if got := ask(t, s, "GET "+path, withToken); got.status != http.StatusNotFound || strings.Contains(got.body, "a secret") {
			t.Errorf("%s: %d %q, want 404", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/logs", "/logs/../secret", "/logs//" + logFile, "/logs/./"} {
		if got := ask(t, s, "GET "+path, withToken); got.status != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d %q, want a redirect to the path it means", path, got.status, got.body)
		}
	}
	if got := ask(t, s, "POST /logs/"+logFile, withToken); got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, want 405", got.status)
	}
}

func TestWithoutALogDirectoryThereIsNoPathToIt(t *testing.T) {
	if got := ask(t, serve(t, &fakeKubelet{}), "GET /logs/", withToken); got.status != http.StatusNotFound {
		t.Errorf("it answers %d, want 404", got.status)
	}
}

func TestALogDirectoryThatIsGoneIsAnErrorThatNamesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.LogDir = dir })
	for _, path := range []string{"/logs/", "/logs/any"} {
		if got := ask(t, s, "GET "+path, withToken); got.status != http.StatusInternalServerError || !strings.Contains(got.body, dir) {
			t.Errorf("%s: %d %q, want 500 and the directory", path, got.status, got.body)
		}
	}
}

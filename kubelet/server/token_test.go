package server

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestATokenIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	made, err := MakeToken(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || len(made) < 32 || !tokenForm.MatchString(made) {
		t.Errorf("%q was made in a file of mode %v, %v", made, info.Mode(), err)
	}
	for name, read := range map[string]func(string) (string, error){"made again": MakeToken, "read": ReadToken} {
		if again, err := read(path); err != nil || again != made {
			t.Errorf("%s: it is %q, %v; want %q", name, again, err, made)
		}
	}
	other, err := MakeToken(filepath.Join(t.TempDir(), "token"))
	if err != nil || other == made {
		t.Errorf("two kubelets have the tokens %q and %q, %v", made, other, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v beside it, %v", entries, err)
	}
}

// A kubelet that is killed while it makes its token leaves no half of one.
func TestATokenIsNeverThereInPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	var made atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !made.Load() {
				if _, err := ReadToken(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it was seen in part: %v", err)
					return
				}
			}
		})
	}
	for range 50 {
		if _, err := MakeToken(path); err != nil {
			t.Error(err)
		}
		os.Remove(path)
	}
	made.Store(true)
	readers.Wait()
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const good = "0123456789abcdef"
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
		want string // the error; empty: none
	}{
		"good":            {good + "\n", 0o600, ""},
		"read only":       {good, 0o400, ""},
		"base64":          {"abcDEF0123-._~+/==\n", 0o600, ""},
		"spaces around":   {"\n  " + good + " \r\n", 0o600, ""},
		"empty":           {"", 0o600, "must hold one word of 16 characters"},
		"short":           {good[1:], 0o600, "must hold one word of 16 characters"},
		"two words":       {good + " " + good, 0o600, "must hold one word"},
		"two lines":       {good + "\n" + good, 0o600, "must hold one word"},
		"no header":       {good + "\x00", 0o600, "of letters, digits and -._~+/="},
		"not ASCII":       {good + "é", 0o600, "of letters, digits and -._~+/="},
		"endless":         {strings.Repeat(good, 1000), 0o600, "must hold one word"},
		"for its group":   {good, 0o640, "other users have access to " + at("for its group") + ": chmod 600 " + at("for its group")},
		"for the world":   {good, 0o604, "chmod 600"},
		"group may write": {good, 0o620, "chmod 600"},
		"pipe":            {"", 0, at("pipe") + " is not a regular file"},
		"directory":       {"", 0, at("directory") + " is not a regular file"},
	} {
		switch {
		case name == "pipe":
			if err := syscall.Mkfifo(at(name), 0o600); err != nil {
				t.Fatal(err)
			}
		case name == "directory":
			if err := os.Mkdir(at(name), 0o700); err != nil {
				t.Fatal(err)
			}
		default:
			writeFile(t, at(name), file.text, file.mode)
		}
		for what, read := range map[string]func(string) (string, error){"read": ReadToken, "make": MakeToken} {
			got, err := read(at(name))
			switch {
			case file.want == "" && (err != nil || got != strings.TrimSpace(file.text)):
				t.Errorf("%s, %s: it is %q, %v", name, what, got, err)
			case file.want != "" && (err == nil || got != "" || !strings.Contains(err.Error(), file.want) || !strings.Contains(err.Error(), at(name))):
				t.Errorf("%s, %s: it is %q, %v", name, what, got, err)
			case file.want != "" && strings.Contains(err.Error(), good[1:]):
				t.Errorf("%s, %s: the error holds the token: %v", name, what, err)
			}
		}
	}
	if got, err := MakeToken(at("no/token")); err == nil || !strings.Contains(err.Error(), "make a token: ") {
		t.Errorf("without a directory: it is %q, %v", got, err)
	}
}

func TestTheLinkSetsTheCookieAndLeadsToThePage(t *testing.T) {
	for name, s := range map[string]*testServer{"without TLS": serve(t, &fakeKubelet{}), "with TLS": serve(t, &fakeKubelet{}, withTLS(t))} {
		if want := s.URL() + "?token=" + testToken; s.Link() != want {
			t.Errorf("%s: the link is %s, want %s", name, s.Link(), want)
		}
		got := s.ask(t, "GET /?token="+testToken)
		cookies := (&http.Response{Header: got.header}).Cookies()
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || len(cookies) != 1 {
			t.Fatalf("%s: it answers %d, to %q, with %v", name, got.status, got.header.Get("Location"), cookies)
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != (name == "with TLS") || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 ||
			strings.Contains(c.String(), testToken) {
			t.Errorf("%s: its cookie is %v", name, c)
		}
		for request, want := range map[string]int{
			"GET /": 200, "GET /pods": 200, "POST /run/default/web/c?cmd=id": 401, "GET /boundPods?env=1": 401, "GET /containerLogs/default/web/c": 404,
		} {
			if got := s.ask(t, request, with("Cookie", c.Name+"="+c.Value)); got.status != want {
				t.Errorf("%s: %s with the cookie: it answers %d %s", name, request, got.status, got.body)
			}
		}
	}
	for name, s := range map[string]*testServer{"over TCP": serve(t, &fakeKubelet{}), "on a socket": serve(t, &fakeKubelet{}, onSocket(t))} {
		wrong := []string{"another-token-1234", testToken + "0", testToken[1:], "%00", token(testToken).cookie()}
		for _, given := range wrong {
			got := s.ask(t, "GET /?token="+given)
			if got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" || !got.isOneLine("the token of this link is wrong: the right one is in /root-dir/token") {
				t.Errorf("%s, %s: it answers %d %s, with the cookie %q", name, given, got.status, got.body, got.header.Get("Set-Cookie"))
			}
		}
		s.counts(t, "token", len(wrong))
	}
}

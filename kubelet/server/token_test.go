package server

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || len(made) < 32 || !tokenForm.MatchString(made) {
		t.Errorf("%q was made in a file of mode %v", made, info.Mode())
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

// A kubelet that is killed while it makes its token leaves none, and not half of one.
func TestATokenIsNeverThereInPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				if _, err := ReadToken(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it was seen in part: %v", err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 50 {
		if _, err := MakeToken(path); err != nil {
			t.Error(err)
			break
		}
		os.Remove(path)
	}
	close(done)
	wg.Wait()
}

func TestATokenThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const good = "0123456789abcdef"
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
		want string // empty: it can be
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
	} {
		writeFile(t, at(name), file.text, file.mode)
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
}

// To open a pipe waits for who writes into it, and a directory has nothing to read.
func TestATokenFileIsAPlainFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, filepath.Join(dir, "directory")} {
		if got, err := ReadToken(path); err == nil || !strings.Contains(err.Error(), path+" is not a regular file") {
			t.Errorf("%s: it is %q, %v", path, got, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "no", "token"), ""} {
		if got, err := MakeToken(path); err == nil || !strings.Contains(err.Error(), "make a token: ") {
			t.Errorf("%s: it is %q, %v", path, got, err)
		}
	}
}

func TestTheLinkGivesTheCookieAndLeadsToThePage(t *testing.T) {
	certFile, tls := withTLS(t)
	for name, tt := range map[string]struct {
		d      *door
		secure bool
	}{
		"without TLS": {doorOf(t, serve(t, &fakeKubelet{}), ""), false},
		"with TLS":    {doorOf(t, serve(t, &fakeKubelet{}, tls), certFile), true},
	} {
		got := tt.d.ask(t, "GET /?token="+testToken+"&part=live")
		cookies := (&http.Response{Header: got.header}).Cookies()
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || len(cookies) != 1 {
			t.Fatalf("%s: it answers %d, to %q, with %v", name, got.status, got.header.Get("Location"), cookies)
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != tt.secure || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 {
			t.Errorf("%s: its cookie is %v", name, c)
		}
		if strings.Contains(c.String(), testToken) || !token(testToken).matchesCookie(c.Value) {
			t.Errorf("%s: its cookie is %v", name, c)
		}
		logIn := with("Cookie", c.Name+"="+c.Value)
		for request, want := range map[string]int{
			"GET /": 200, "GET /pods": 200, "POST /run/default/web/c?cmd=id": 401, "GET /boundPods?env=1": 401, "GET /containerLogs/default/web/c": 404,
		} {
			if got := tt.d.ask(t, request, logIn); got.status != want {
				t.Errorf("%s: %s with the cookie: it answers %d %s", name, request, got.status, got.body)
			}
		}
	}
}

func TestALinkWithAnotherTokenGivesNothing(t *testing.T) {
	for name, d := range map[string]*door{
		"over TCP":    doorOf(t, serve(t, &fakeKubelet{}), ""),
		"on a socket": doorOf(t, serve(t, &fakeKubelet{}, onSocket(t)), ""), // it has none at all
	} {
		for _, given := range []string{"another-token-1234", testToken + "0", testToken[1:], "%00", token(testToken).cookie()} {
			got := d.ask(t, "GET /?token="+given)
			if got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" || !got.says("the token of this link is wrong: the right one is in /root-dir/token") {
				t.Errorf("%s, %s: it answers %d %s, with the cookie %q", name, given, got.status, got.body, got.header.Get("Set-Cookie"))
			}
		}
		if n := d.refusals(t, "token"); n != 5 {
			t.Errorf("%s: %d were counted", name, n)
		}
	}
}

// A server that was made without a token lets nobody in, and not everybody.
func TestNoTokenIsNotAnEmptyOne(t *testing.T) {
	k, used, options := fullKubelet(t)
	s := serve(t, k, options, func(o *Options) { o.Token = "" })
	for name, set := range map[string]func(*http.Request){
		"an empty token": with("Authorization", "Bearer "), "no word": with("Authorization", "Bearer"), "its cookie": withCookie(""), "an empty cookie": with("Cookie", cookieName+"="),
	} {
		for _, route := range everyRoute {
			if route.need < logs {
				continue
			}
			if got := ask(t, s, route.request, set); got.status != http.StatusUnauthorized {
				t.Errorf("%s with %s: it answers %d %s", route.request, name, got.status, got.body)
			}
		}
	}
	if used.Load() > 0 {
		t.Errorf("%d have been served", used.Load())
	}
}

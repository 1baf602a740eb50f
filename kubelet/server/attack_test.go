package server

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// survives fails the test unless the server still answers and nothing was done.
func survives(t *testing.T, d *door, used *atomic.Int64) {
	t.Helper()
	d.transport.CloseIdleConnections() // as a new client
	if got := d.ask(t, "GET /healthz"); got.status != http.StatusOK {
		t.Errorf("the server answers %d %s", got.status, got.body)
	}
	if n := used.Load(); n != 0 {
		t.Errorf("%d commands were run or logs read", n)
	}
}

// What a page of another origin can make a browser ask, and what anybody can who has no
// token.
func TestAttacksByRequest(t *testing.T) {
	type h = map[string]string
	k, used, options := fullKubelet(t)
	s := serve(t, k, options)
	form := func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader("cmd=rm&cmd=-rf&cmd=/"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	const run = "/run/default/web/c?cmd=id"
	for name, tt := range map[string]struct {
		request string
		set     func(*http.Request)
		want    int
	}{
		"the attack of 2014: an image":      {"GET " + run, headers(h{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}), 403},
		"the same by an old browser":        {"GET " + run, headers(h{"Referer": "http://evil.example/"}), 405},
		"the same with the cookie":          {"GET " + run, withCookie(testToken), 405},
		"a form":                            {"POST /run/default/web/c", func(r *http.Request) { form(r); headers(h{"Origin": "http://evil.example"})(r) }, 403},
		"a form by an old browser":          {"POST /run/default/web/c", form, 401},
		"a form with the cookie":            {"POST /run/default/web/c", func(r *http.Request) { form(r); withCookie(testToken)(r) }, 401},
		"a form in a frame without origin":  {"POST /run/default/web/c", func(r *http.Request) { form(r); headers(h{"Origin": "null"})(r) }, 403},
		"a page on another port":            {"POST " + run, headers(h{"Origin": "http://127.0.0.1:8080", "Sec-Fetch-Site": "same-site"}), 403},
		"a script's question":               {"OPTIONS " + run, headers(h{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}), 403},
		"a name that was made to lead here": {"GET /pods", headers(h{"Host": "evil.example", "Sec-Fetch-Site": "same-origin"}), 421},
		"the same, with what it asks for":   {"POST " + run, headers(h{"Host": "evil.example:10250", "Origin": "http://evil.example:10250"}), 421},
		"another method in a header":        {"GET " + run, headers(h{"X-HTTP-Method-Override": "POST"}), 405},
		"a websocket":                       {"GET /stream", headers(h{"Connection": "Upgrade", "Upgrade": "websocket", "Origin": "http://evil.example"}), 403},
		"no token":                          {"POST " + run, nil, 401},
		"another token":                     {"POST " + run, with("Authorization", "Bearer another-token-1234"), 401},
		"no token for logs":                 {"GET /containerLogs/default/web/c", nil, 401},
		"the token in the address":          {"POST " + run + "&token=" + testToken, nil, 401},
	} {
		if got := ask(t, s, tt.request, func(r *http.Request) {
			if tt.set != nil {
				tt.set(r)
			}
		}); got.status != tt.want {
			t.Errorf("%s: it answers %d %s, want %d", name, got.status, got.body, tt.want)
		}
	}
	survives(t, doorOf(t, s, ""), used)
}

// The kubelet's log directory holds what else is there, and links to what is not.
func TestAttacksOnTheLogDirectory(t *testing.T) {
	const secret = "the secret of another directory"
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, outside, secret, 0o644)
	k, used, options := fullKubelet(t)
	var dir string
	s := serve(t, k, options, func(o *Options) {
		dir = o.LogDir
		o.TokenFile = filepath.Join(dir, "token")
		writeFile(t, o.TokenFile, testToken, 0o600)
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Symlink(outside, at("link")), os.Symlink(filepath.Dir(outside), at("directory-link")), os.Symlink("/dev/zero", at("device-link")),
		os.Mkdir(at("directory"), 0o755), syscall.Mkfifo(at("pipe"), 0o600), os.Link(at("token"), at("hard-link-to-the-token")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, at("directory/inside"), secret, 0o644)
	relative, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"link", "directory-link", "directory-link/", "directory-link/outside", "device-link", "directory", "directory/", "directory/inside", "pipe", "token", "hard-link-to-the-token",
		"..", "../", ".", "%2e%2e", "%2e%2e%2foutside", "..%2foutside", "..%2f..%2f..%2f..%2fetc%2fpasswd", "../../../../etc/passwd", "....//etc/passwd", "..%5coutside",
		"%2fetc%2fpasswd", "/etc/passwd", "//etc/passwd", outside, relative, strings.ReplaceAll(relative, "/", "%2f"), "directory%2finside", "link%00", logFile + "%00.txt", logFile + "/", "%",
	} {
		conn, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		// As it is: a client would tidy up the path.
		fmt.Fprintf(conn, "GET /logs/%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, testToken)
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		conn.Close()
		if strings.HasPrefix(string(answer), "HTTP/1.0 200") && path != "." && path != "../" && path != ".." {
			t.Errorf("%s: it answers\n%s", path, answer)
		}
		for _, held := range []string{secret, testToken, "root:"} {
			if strings.Contains(string(answer), held) {
				t.Errorf("%s: it answers\n%s", path, answer)
			}
		}
	}
	if got := ask(t, s, "GET /logs/", withToken); got.status != 200 || strings.Count(got.body, "<a ") != 1 || !strings.Contains(got.body, logFile) {
		t.Errorf("of all these one is a log, and the list is\n%s", got.body)
	}
	survives(t, doorOf(t, s, ""), used)
}

// logged is what is logged while do runs, by the kubelet or by net/http.
func logged(t *testing.T, do func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, value := range map[string]string{"logtostderr": "true", "v": "9"} {
		old := flag.Lookup(name).Value.String()
		defer flag.Set(name, old)
		flag.Set(name, value)
	}
	stderr := os.Stderr
	defer func() { os.Stderr = stderr; log.SetOutput(stderr) }()
	os.Stderr = file
	log.SetOutput(file)
	do()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Wherever a client puts the token, rightly or by mistake, it is not told again.
func TestTheTokenIsInNoLogAndNoAnswer(t *testing.T) {
	places := map[string]func(r *http.Request, token string){
		"header":         func(r *http.Request, token string) { r.Header.Set("Authorization", "Bearer "+token) },
		"another scheme": func(r *http.Request, token string) { r.Header.Set("Authorization", "Basic "+token) },
		"no scheme":      func(r *http.Request, token string) { r.Header.Set("Authorization", token) },
		"user":           func(r *http.Request, token string) { r.SetBasicAuth(token, token) },
		"cookie":         func(r *http.Request, token string) { r.Header.Set("Cookie", cookieName+"="+token) },
		"other headers": func(r *http.Request, token string) {
			for _, name := range []string{"X-Token", "Referer", "User-Agent", "X-Request-Id", "Accept", "Last-Event-Id", "If-None-Match", "Range", "Content-Type"} {
				r.Header.Set(name, token)
			}
		},
		"query": func(r *http.Request, token string) {
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&token="+token, "&")
		},
		"link":     func(r *http.Request, token string) { r.URL.Path, r.URL.RawQuery = "/", "token="+token },
		"body":     func(r *http.Request, token string) { r.Body = io.NopCloser(strings.NewReader("token=" + token)) },
		"fragment": func(r *http.Request, token string) { r.URL.Fragment = token },
	}
	token, err := MakeToken(filepath.Join(t.TempDir(), "token"))
	if err != nil {
		t.Fatal(err)
	}
	most := token[:len(token)-1] // is as good as all of it
	well, _, options := fullKubelet(t)
	ill := &fakeKubelet{err: errors.New("Docker is away"), health: errors.New("Docker is away")}
	text := logged(t, func() {
		for _, k := range []*fakeKubelet{well, ill} {
			s := serve(t, k, options, func(o *Options) {
				o.Token = token
				if k == ill {
					o.LogDir = "/nothing" // which is logged when it is asked for
				}
			})
			for place, put := range places {
				for _, route := range everyRoute {
					for _, given := range []string{token, most} {
						got := ask(t, s, route.request, func(r *http.Request) { put(r, given) })
						if all := fmt.Sprint(got); strings.Contains(all, most) {
							t.Errorf("%s, the token in %s: the answer is %s", route.request, place, all)
						}
					}
				}
			}
			// What is asked for by name is told again, but not to the log.
			for _, request := range []string{
				"GET /" + token, "GET /containerLogs/default/" + token + "/c", "GET /logs/" + token, "GET /static/" + token, "POST /run/default/web/" + token + "?cmd=" + token,
				"GET /events?after=" + token, "GET /stats/" + token + "/" + token, token + " /",
			} {
				ask(t, s, request, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
			}
			ask(t, s, "GET /pods", with("Host", token))
			ask(t, s, "GET /pods", with("Origin", token))
		}
	})
	if strings.Contains(text, most) || !strings.Contains(text, "open the log directory") {
		t.Errorf("the log is\n%s", text)
	}
}

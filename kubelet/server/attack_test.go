package server

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestAttacksByRequest(t *testing.T) {
	k, options := withEverything(t)
	s := serve(t, k, options)
	const run, evil = "/run/default/web/app?cmd=id", "http://evil.example:10250"
	type set = func(*http.Request)
	for name, tt := range map[string]struct {
		request string
		want    int
		set     []set
	}{
		"the attack of 2014 by an old browser": {"GET " + run, 405, []set{withCookie, with("Referer", evil)}},
		"a form by an old browser":             {"POST /run/default/web/app", 401, []set{withCookie, withBody(formType, "cmd=id")}},
		"a preflight request":                  {"OPTIONS " + run, 403, []set{with("Origin", evil, "Access-Control-Request-Method", "POST")}},
		"a page with its own name":             {"POST " + run, 421, []set{with("Host", "evil.example:10250", "Origin", evil)}},
		"another method in a header":           {"GET " + run, 405, []set{withToken, with("X-HTTP-Method-Override", "POST")}},
		"a websocket":                          {"GET /stream", 403, []set{with("Upgrade", "websocket", "Origin", evil)}},
		"the token in the address":             {"POST " + run + "&token=" + testToken, 401, nil},
	} {
		if got := s.ask(t, tt.request, tt.set...); got.status != tt.want || k.usedTimes() != 0 {
			t.Errorf("%s: it answers %d %s, want %d", name, got.status, got.body, tt.want)
		}
	}
}

// The log directory may hold other files, and links to files elsewhere.
func TestAttacksOnTheLogDirectory(t *testing.T) {
	const secret = "the secret of another directory"
	outside := writeFile(t, filepath.Join(t.TempDir(), "outside"), secret, 0o644)
	k, options := withEverything(t)
	var dir string
	s := serve(t, k, options, func(o *Options) { dir = o.LogDir })
	at := func(name string) string { return filepath.Join(dir, name) }
	linkName, pipeName, dirName := logFile+"1", logFile+"2", logFile+"3"
	if err := errors.Join(os.Symlink(outside, at(linkName)), os.Symlink(logFile, at("kubelet14.INFO")), os.Symlink("..", at("up")),
		os.Mkdir(at(dirName), 0o755), syscall.Mkfifo(at(pipeName), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dirName + "/" + logFile, "token", ".dockercfg"} {
		writeFile(t, at(name), secret, 0o644)
	}
	for _, path := range []string{
		linkName, "kubelet14.INFO", pipeName, dirName, dirName + "/", dirName + "/" + logFile, dirName + "%2f" + logFile,
		"token", ".dockercfg", "%2edockercfg", "%2e%2e", "..%2foutside", "..%2f..%2f..%2f..%2fetc%2fpasswd", "../../../../etc/passwd",
		"up", "up/outside", "up%2foutside", "%2fetc%2fpasswd", "/etc/passwd", outside, logFile + "%00", logFile + "/", "%",
	} {
		// As it is: a client would tidy up the path.
		answer := s.raw(t, "GET /logs/%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, testToken)
		if !strings.HasPrefix(answer, "HTTP/1.0 ") && !strings.HasPrefix(answer, "HTTP/1.1 400") || strings.HasPrefix(answer, "HTTP/1.0 200") ||
			strings.Contains(answer, secret) || strings.Contains(answer, "root:") {
			t.Errorf("%s: it answers\n%s", path, answer)
		}
	}
	if got := s.ask(t, "GET /logs/", withToken); strings.Count(got.body, "<a ") != 1 || !strings.Contains(got.body, logFile) {
		t.Errorf("one of all these is a log, and the list is\n%s", got.body)
	}
}

func TestHeadersAreLimited(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	long := strings.Repeat("x", 1<<20)
	many := strings.Repeat("\r\nX: y", 200_000)
	for _, request := range []string{"pods HTTP/1.1\r\nX: " + long, "pods HTTP/1.1" + many, long + " HTTP/1.1"} {
		if got := s.raw(t, "GET /%s\r\nHost: localhost\r\n\r\n", request); got != "" && !strings.HasPrefix(got, "HTTP/1.1 431 ") {
			t.Errorf("%.30s…: it answers %q", request, got)
		}
	}
}

const (
	getHealth  = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	getPods    = "GET /pods HTTP/1.1\r\nHost: localhost\r\n\r\n"
	halfHeader = "GET /pods HTTP/1.1\r\nHost: localhost\r\nX: "
	postRun    = "POST /run/default/web/app HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	deniedBody = postRun + "Transfer-Encoding: chunked\r\n\r\n1"
	halfBody   = postRun + "Authorization: Bearer " + testToken + "\r\nContent-Length: 1000\r\n\r\n"
)

// A slow client is cut off at each step of a request.
func TestSlowClientsAreCutOff(t *testing.T) {
	for name, tt := range map[string]struct {
		sends  string
		goesOn bool // with a byte a second
		within time.Duration
	}{
		"sends nothing":                   {"", false, readHeaderTimeout},
		"sends a header slowly":           {halfHeader, true, readHeaderTimeout},
		"sends a body slowly":             {halfBody, true, readTimeout},
		"sends a denied body":             {deniedBody, false, readTimeout},
		"does not read its answer":        {getPods, false, writeTimeout},
		"sends one request, then nothing": {getHealth, false, readTimeout},
	} {
		k := withContainers()
		k.statuses[0].Message = strings.Repeat("x", 1<<20) // more than fits into any buffer
		inBubble(t, k, func(t *testing.T, s *testServer) {
			conn, err := s.transport.DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			var client sync.WaitGroup
			client.Go(func() {
				_, err := io.WriteString(conn, tt.sends)
				for tt.goesOn && err == nil {
					time.Sleep(time.Second)
					_, err = io.WriteString(conn, "x")
				}
			})
			began := time.Now()
			if tt.sends == getPods {
				time.Sleep(tt.within + time.Second)
			} else if io.Copy(io.Discard, conn); time.Since(began) > tt.within {
				t.Errorf("a client that %s is cut off after %v, want %v", name, time.Since(began), tt.within)
			}
			if _, err := io.WriteString(conn, "x"); err == nil {
				t.Errorf("a client that %s is not cut off", name)
			}
			conn.Close()
			client.Wait()
		})
	}
}

// A client beyond the limit waits until another goes, so that the kubelet does not run out of files.
func TestConnectionsAreLimited(t *testing.T) {
	for name, listen := range map[string]func(*Options){"TCP": func(*Options) {}, "socket": onSocket(t)} {
		s := serve(t, &fakeKubelet{}, listen)
		var conns []net.Conn
		for range maxConnections + 1 {
			conn, err := s.transport.DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conns = append(conns, conn)
		}
		ask := func(i int, within time.Duration) error {
			conns[i].SetDeadline(time.Now().Add(within))
			io.WriteString(conns[i], getHealth)
			_, err := http.ReadResponse(bufio.NewReader(conns[i]), nil)
			return err
		}
		for i := range maxConnections {
			if err := ask(i, time.Minute); err != nil {
				t.Fatalf("%s: connection %d: %v", name, i, err)
			}
		}
		if err := ask(maxConnections, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: beyond the limit: %v, want no answer", name, err)
		}
		conns[0].Close()
		if err := ask(maxConnections, time.Minute); err != nil {
			t.Errorf("%s: when another has gone: %v", name, err)
		}
	}
}

// Wherever a client puts the token, rightly or by mistake, no answer and no log repeats it.
func TestTheTokenIsInNoLogAndNoAnswer(t *testing.T) {
	const most = "secret-token-of-this-tes" // is as good as all of it
	well, options := withEverything(t)
	ill := &fakeKubelet{err: errors.New("Docker is away"), health: errors.New("Docker is away")}
	withoutDir := func(o *Options) { o.LogDir = "/nothing" } // an error that is logged
	secret := func(o *Options) { o.Token = most + "t" }
	text := logged(t, "9", func() {
		for _, s := range []*testServer{serve(t, well, options, secret), serve(t, ill, withoutDir, secret)} {
			for _, token := range []string{most, most + "t"} {
				var requests []string
				for _, route := range everyRoute {
					separator := map[bool]string{true: "&", false: "?"}[strings.Contains(route.request, "?")]
					requests = append(requests, route.request, route.request+separator+"token="+token)
				}
				// A name in the path is in the answer, but not in the log.
				named := []string{
					"GET /" + token, logOf + token + "/c", "GET /logs/" + token, "GET /events?after=" + token, token + " /",
				}
				for _, request := range append(requests, named...) {
					for _, set := range []func(*http.Request){
						with("Authorization", "Bearer "+token), with("Authorization", "Basic "+token), with("Cookie", cookieName+"="+token),
						func(r *http.Request) { r.SetBasicAuth(token, token) }, withBody("", "token="+token), with("Content-Type", token),
						with("X-Token", token, "Referer", token, "User-Agent", token, "Accept", token, "If-None-Match", token, "Range", token),
					} {
						if got := fmt.Sprint(s.ask(t, request, set)); strings.Contains(got, most) && !slices.Contains(named, request) {
							t.Errorf("%s: the answer is %s", request, got)
						}
					}
				}
				s.ask(t, "GET /pods", with("Host", token))
				s.ask(t, "GET /pods", with("Origin", token))
			}
		}
	})
	if strings.Contains(text, most) || !strings.Contains(text, "list the log directory") {
		t.Errorf("the log is\n%s", text)
	}
}

func untilDone(ctx context.Context, _ string, _ io.Writer) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// A panic of a handler is logged, and a client that breaks off on one line at most.
func TestWhatIsLogged(t *testing.T) {
	k := withContainers()
	s := serve(t, k)
	const log = "GET /containerLogs/default/web/app?follow=1"
	for name, tt := range map[string]struct {
		logs func(context.Context, string, io.Writer) (int, error)
		do   func()
		want string
	}{
		"a panic": {func(context.Context, string, io.Writer) (int, error) { panic("a bug") }, func() {
			io.Copy(io.Discard, s.open(t, t.Context(), log, withToken).Body)
		}, "http: panic serving"},
		"a client that leaves": {untilDone, func() {
			ctx, leave := context.WithCancel(t.Context())
			s.open(t, ctx, log, withToken)
			leave()
			s.transport.CloseIdleConnections()
			s.ask(t, "GET /healthz")
		}, ""},
	} {
		k.print = tt.logs
		text := logged(t, "0", tt.do)
		if !strings.Contains(text, tt.want) || tt.want == "" && strings.Count(text, "\n") > 1 {
			t.Errorf("%s is in the log as\n%s", name, text)
		}
	}
}

// logged returns what is logged while do runs, with -v.
func logged(t *testing.T, verbosity string, do func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer flag.Set("v", flag.Lookup("v").Value.String())
	flag.Set("v", verbosity)
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr = file
	do()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

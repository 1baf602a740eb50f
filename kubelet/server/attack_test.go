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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
)

// survives fails the test unless the server answers a new client and nothing was done.
func (s *testServer) survives(t *testing.T, k *fakeKubelet) {
	t.Helper()
	s.transport.CloseIdleConnections()
	if got := s.ask(t, "GET /healthz"); got.status != http.StatusOK || k.usedTimes() != 0 {
		t.Errorf("the server answers %d %s; %d commands were run or logs read", got.status, got.body, k.usedTimes())
	}
}

// What a page of another origin can make a browser send, and what a client without the token can.
func TestAttacksByRequest(t *testing.T) {
	k, options := withEverything(t)
	s := serve(t, k, options)
	form := func(headers ...string) func(*http.Request) {
		return func(r *http.Request) {
			withBody(formType, "cmd=rm&cmd=-rf&cmd=/")(r)
			with(headers...)(r)
		}
	}
	const run = "/run/default/web/app?cmd=id"
	for name, tt := range map[string]struct {
		request string
		set     func(*http.Request)
		want    int
	}{
		"the attack of 2014: an image":     {"GET " + run, with("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"), 403},
		"the same by an old browser":       {"GET " + run, with("Referer", "http://evil.example/"), 405},
		"the same with the cookie":         {"GET " + run, withCookie, 405},
		"a form":                           {"POST /run/default/web/app", form("Origin", "http://evil.example"), 403},
		"a form by an old browser":         {"POST /run/default/web/app", form(), 401},
		"a form with the cookie":           {"POST /run/default/web/app", form("Cookie", cookieName+"="+token(testToken).cookie()), 401},
		"a form in a frame without origin": {"POST /run/default/web/app", form("Origin", "null"), 403},
		"a page on another port":           {"POST " + run, with("Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-site"), 403},
		"a preflight request":              {"OPTIONS " + run, with("Origin", "http://evil.example", "Access-Control-Request-Method", "POST"), 403},
		"DNS rebinding":                    {"GET /pods", with("Host", "evil.example", "Sec-Fetch-Site", "same-origin"), 421},
		"DNS rebinding with a port":        {"POST " + run, with("Host", "evil.example:10250", "Origin", "http://evil.example:10250"), 421},
		"another method in a header":       {"GET " + run, with("X-HTTP-Method-Override", "POST"), 405},
		"a websocket":                      {"GET /stream", with("Connection", "Upgrade", "Upgrade", "websocket", "Origin", "http://evil.example"), 403},
		"no token":                         {"POST " + run, nil, 401},
		"another token":                    {"POST " + run, with("Authorization", "Bearer another-token-1234"), 401},
		"no token for logs":                {"GET /containerLogs/default/web/app", nil, 401},
		"the token in the address":         {"POST " + run + "&token=" + testToken, nil, 401},
	} {
		if got := s.ask(t, tt.request, tt.set); got.status != tt.want {
			t.Errorf("%s: it answers %d %s, want %d", name, got.status, got.body, tt.want)
		}
	}
	s.survives(t, k)
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
	for _, err := range []error{
		os.Symlink(outside, at(linkName)), os.Symlink(logFile, at("kubelet14.INFO")), os.Symlink("..", at("up")), os.Mkdir(at(dirName), 0o755), syscall.Mkfifo(at(pipeName), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, at(dirName+"/"+logFile), secret, 0o644)
	writeFile(t, at("token"), secret, 0o600)
	writeFile(t, at(".dockercfg"), secret, 0o600)
	for _, path := range []string{
		linkName, "kubelet14.INFO", pipeName, dirName, dirName + "/", dirName + "/" + logFile, dirName + "%2f" + logFile, "token", ".dockercfg", "%2edockercfg",
		"%2e%2e", "%2e%2e%2foutside", "..%2foutside", "..%2f..%2f..%2f..%2fetc%2fpasswd", "../../../../etc/passwd", "....//etc/passwd", "..%5coutside",
		"up", "up/outside", "up%2foutside", "%2fetc%2fpasswd", "/etc/passwd", outside, logFile + "%00", logFile + "/", "%",
	} {
		// As it is: a client would tidy up the path.
		answer := s.raw(t, "GET /logs/%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, testToken)
		if !strings.HasPrefix(answer, "HTTP/1.") || strings.HasPrefix(answer, "HTTP/1.0 200") || strings.Contains(answer, secret) || strings.Contains(answer, "root:") {
			t.Errorf("%s: it answers\n%s", path, answer)
		}
	}
	if got := s.ask(t, "GET /logs/", withToken); got.status != 200 || strings.Count(got.body, "<a ") != 1 || !strings.Contains(got.body, logFile) {
		t.Errorf("one of all these is a log, and the list is\n%s", got.body)
	}
	s.survives(t, k)
}

// endless is a body of zeros that counts how many are read.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(b []byte) (int, error) {
	clear(b)
	e.read.Add(int64(len(b)))
	return len(b), nil
}

func TestAttacksBySize(t *testing.T) {
	const gigabyte, buffers = 1 << 30, 32 << 20 // of sockets, at most
	k, options := withEverything(t)
	s := serve(t, k, options)
	for name, tt := range map[string]struct {
		request string
		set     func(*http.Request)
		length  int64
		want    int
	}{
		"a command":                   {"POST /run/default/web/app", withToken, gigabyte, 413},
		"a command of unknown length": {"POST /run/default/web/app", withToken, -1, 413},
		"without a token":             {"POST /run/default/web/app", nil, gigabyte, 401},
		"to read":                     {"GET /pods", nil, gigabyte, 200},
		"to nowhere":                  {"PUT /nothing", nil, -1, 404},
	} {
		body := new(endless)
		method, path, _ := strings.Cut(tt.request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, io.LimitReader(body, gigabyte))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = tt.length
		r.Header.Set("Content-Type", jsonType)
		if tt.set != nil {
			tt.set(r)
		}
		// The server may close while the client still sends, and then there is no answer.
		if resp, err := s.transport.RoundTrip(r); err == nil {
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("a gigabyte, %s: it answers %s, want %d", name, resp.Status, tt.want)
			}
		}
		s.transport.CloseIdleConnections()
		if n := body.read.Load(); n > maxBodyBytes+buffers {
			t.Errorf("a gigabyte, %s: the server takes %d bytes", name, n)
		}
	}
	for name, tt := range map[string]struct{ path, header string }{
		"a long line":    {"/pods", "X: " + strings.Repeat("x", 1<<20)},
		"many lines":     {"/pods", strings.Repeat("X: y\r\n", 200_000) + "X: y"},
		"a long address": {"/" + strings.Repeat("x", 1<<20), "X: y"},
	} {
		if got := s.raw(t, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", tt.path, tt.header); got != "" && !strings.HasPrefix(got, "HTTP/1.1 431 ") {
			t.Errorf("%s: it answers %q", name, got)
		}
	}
	s.survives(t, k)
}

const (
	getHealth    = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	postCommand  = "POST /run/default/web/app HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + testToken + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	unwantedBody = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n0"
	deniedBody   = "POST /run/default/web/app HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1"
	getPods      = "GET /pods HTTP/1.1\r\nHost: localhost\r\n\r\n"
	halfHeader   = "GET /pods HTTP/1.1\r\nHost: localhost\r\nX: "
)

// A slow client is cut off at each step of a request.
func TestSlowClientsAreCutOff(t *testing.T) {
	endless := strings.Repeat("x", 10_000)
	all, nothing := time.Duration(0), time.Hour // pauses before each byte that is read
	for name, tt := range map[string]struct {
		sends, slowly string // at once, and then a byte a second
		reads         time.Duration
		within        time.Duration
	}{
		"sends nothing":                    {"", "", all, readHeaderTimeout},
		"sends a header slowly":            {"", halfHeader + endless, all, readHeaderTimeout},
		"does not end its header":          {halfHeader, "", all, readHeaderTimeout},
		"sends a body slowly":              {postCommand, endless, all, readTimeout},
		"does not send its body":           {postCommand, "", all, readTimeout},
		"sends an unwanted body":           {unwantedBody, "", all, readTimeout},
		"sends a denied body":              {deniedBody, "", all, readTimeout},
		"does not read its answer":         {getPods, "", nothing, writeTimeout},
		"reads its answer slowly":          {getPods, "", time.Second, writeTimeout},
		"sends one request, then nothing":  {getHealth, "", all, readTimeout},
		"sends one request, then half one": {getHealth + "GET ", "", all, readHeaderTimeout},
	} {
		k := withContainers()
		k.statuses[0].Message = strings.Repeat("x", 1<<20) // more than fits into any buffer
		inBubble(t, k, func(t *testing.T, s *testServer) {
			conn, err := s.transport.DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			var client sync.WaitGroup
			client.Go(func() {
				_, err := io.WriteString(conn, tt.sends)
				for i := 0; i < len(tt.slowly) && err == nil; i++ {
					_, err = io.WriteString(conn, tt.slowly[i:i+1])
					time.Sleep(time.Second)
				}
			})
			client.Go(func() {
				reader := bufio.NewReaderSize(conn, 16)
				for {
					time.Sleep(tt.reads)
					if _, err := reader.ReadByte(); err != nil {
						break
					}
				}
				if took := time.Since(began); tt.reads == all && took > tt.within {
					t.Errorf("a client that %s is cut off after %v, want %v", name, took, tt.within)
				}
			})
			if tt.reads != all { // the server has closed its end when nothing can be written
				time.Sleep(tt.within + 2*time.Second)
				if _, err := io.WriteString(conn, "x"); err == nil {
					t.Errorf("a client that %s is not cut off", name)
				}
			}
			time.Sleep(tt.within + time.Minute)
			conn.Close()
			client.Wait()
		})
	}
}

// A client beyond the limit waits until another goes, so that the kubelet does not run out of files.
func TestConnectionsAreLimited(t *testing.T) {
	k, options := withEverything(t)
	for name, listen := range map[string]func(*Options){"TCP": func(*Options) {}, "socket": onSocket(t)} {
		s := serve(t, k, options, listen)
		ask := func(conn net.Conn, within time.Duration) error {
			conn.SetDeadline(time.Now().Add(within))
			io.WriteString(conn, getHealth)
			_, err := http.ReadResponse(bufio.NewReader(conn), nil)
			return err
		}
		var conns []net.Conn
		for range maxConnections + 1 {
			conn, err := s.transport.DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conns = append(conns, conn)
		}
		for _, conn := range conns[:maxConnections] {
			if err := ask(conn, time.Minute); err != nil {
				t.Fatalf("%s: within the limit: %v", name, err)
			}
		}
		last := conns[maxConnections]
		if err := ask(last, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: beyond the limit: %v, want no answer", name, err)
		}
		conns[0].Close()
		if err := ask(last, time.Minute); err != nil {
			t.Errorf("%s: when another has gone: %v", name, err)
		}
		for _, conn := range conns {
			conn.Close()
		}
		s.survives(t, k)
	}
}

// Wherever a client puts the token, rightly or by mistake, no answer and no log repeats it.
func TestTheTokenIsInNoLogAndNoAnswer(t *testing.T) {
	places := map[string]func(r *http.Request, token string){
		"header":         func(r *http.Request, token string) { r.Header.Set("Authorization", "Bearer "+token) },
		"another scheme": func(r *http.Request, token string) { r.Header.Set("Authorization", "Basic "+token) },
		"user":           func(r *http.Request, token string) { r.SetBasicAuth(token, token) },
		"cookie":         func(r *http.Request, token string) { r.Header.Set("Cookie", cookieName+"="+token) },
		"other headers": func(r *http.Request, token string) {
			for _, name := range []string{"X-Token", "Referer", "User-Agent", "X-Request-Id", "Accept", "If-None-Match", "Range", "Content-Type"} {
				r.Header.Set(name, token)
			}
		},
		"query": func(r *http.Request, token string) {
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&token="+token, "&")
		},
		"body": func(r *http.Request, token string) { withBody("", "token="+token)(r) },
	}
	token, err := MakeToken(filepath.Join(t.TempDir(), "token"))
	if err != nil {
		t.Fatal(err)
	}
	most := token[:len(token)-1] // is as good as all of it
	well, options := withEverything(t)
	ill := &fakeKubelet{err: errors.New("Docker is away"), health: errors.New("Docker is away")}
	text := logged(t, "9", func() {
		for _, k := range []*fakeKubelet{well, ill} {
			s := serve(t, k, options, func(o *Options) {
				o.Token = token
				if k == ill {
					o.LogDir = "/nothing" // an error that is logged
				}
			})
			for place, put := range places {
				for _, route := range everyRoute {
					for _, given := range []string{token, most} {
						if got := fmt.Sprint(s.ask(t, route.request, func(r *http.Request) { put(r, given) })); strings.Contains(got, most) {
							t.Errorf("%s, the token in the %s: the answer is %s", route.request, place, got)
						}
					}
				}
			}
			// A name in the path is in the answer, but not in the log.
			for _, request := range []string{"GET /" + token, "GET /containerLogs/default/" + token + "/c", "GET /logs/" + token, "GET /events?after=" + token, token + " /"} {
				s.ask(t, request, with("Authorization", "Bearer "+token))
			}
			s.ask(t, "GET /pods", with("Host", token))
			s.ask(t, "GET /pods", with("Origin", token))
		}
	})
	if strings.Contains(text, most) || !strings.Contains(text, "open the log directory") {
		t.Errorf("the log is\n%s", text)
	}
}

// A panic of a handler is logged, and a client that breaks off on one line at most.
func TestWhatIsLogged(t *testing.T) {
	k := withContainers()
	k.logs = func(context.Context, string, string, api.LogOptions, io.Writer) error { panic("a bug") }
	s := serve(t, k, withTLS(t))
	text := logged(t, "0", func() {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.base+"/containerLogs/default/web/app", nil)
		if err != nil {
			t.Fatal(err)
		}
		withToken(r)
		if resp, err := s.transport.RoundTrip(r); err == nil {
			resp.Body.Close()
			t.Errorf("the handler panics, and the answer is %s", resp.Status)
		}
	})
	if !strings.Contains(text, "http: panic serving") || !strings.Contains(text, "a bug") {
		t.Errorf("the panic is not in the log:\n%s", text)
	}
	if text := logged(t, "0", func() { s.raw(t, "no TLS") }); strings.Count(text, "\n") > 1 {
		t.Errorf("a client that breaks off is in the log as\n%s", text)
	}
	k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		io.WriteString(out, "begun\n")
		<-ctx.Done()
		return ctx.Err()
	}
	text = logged(t, "0", func() {
		ctx, leave := context.WithCancel(t.Context())
		s.open(t, ctx, "GET /containerLogs/default/web/app?follow=1", withToken)
		leave()
		s.transport.CloseIdleConnections()
		s.ask(t, "GET /healthz")
	})
	if strings.Count(text, "\n") > 1 {
		t.Errorf("a client that leaves a log is in the log as\n%s", text)
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
	for name, value := range map[string]string{"logtostderr": "true", "v": verbosity} {
		old := flag.Lookup(name).Value.String()
		defer flag.Set(name, old)
		flag.Set(name, value)
	}
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr = file
	do()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

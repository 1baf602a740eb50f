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

func TestAttacksByRequest(t *testing.T) {
	k, options := withEverything(t)
	s := serve(t, k, options)
	const run = "/run/default/web/app?cmd=id"
	form := withBody(formType, "cmd=rm&cmd=-rf&cmd=/")
	for name, tt := range map[string]struct {
		request string
		want    int
		set     []func(*http.Request)
	}{
		"the attack of 2014 by an old browser": {"GET " + run, 405, []func(*http.Request){withCookie, with("Referer", "http://evil.example/")}},
		"a form by an old browser":             {"POST /run/default/web/app", 401, []func(*http.Request){withCookie, form}},
		"a preflight request":                  {"OPTIONS " + run, 403, []func(*http.Request){with("Origin", "http://evil.example", "Access-Control-Request-Method", "POST")}},
		"a page with its own name":             {"POST " + run, 421, []func(*http.Request){with("Host", "evil.example:10250", "Origin", "http://evil.example:10250")}},
		"another method in a header":           {"GET " + run, 405, []func(*http.Request){withToken, with("X-HTTP-Method-Override", "POST")}},
		"a websocket":                          {"GET /stream", 403, []func(*http.Request){with("Connection", "Upgrade", "Upgrade", "websocket", "Origin", "http://evil.example")}},
		"the token in the address":             {"POST " + run + "&token=" + testToken, 401, nil},
	} {
		if got := s.ask(t, tt.request, tt.set...); got.status != tt.want {
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
	const gigabyte, sockets = 1 << 30, 32 << 20 // what is in the buffers of sockets, at most
	k, options := withEverything(t)
	s := serve(t, k, options)
	for _, tt := range []struct {
		request, token string
		length         int64 // -1: unknown
		want           int
	}{
		{"POST /run/default/web/app", testToken, gigabyte, 413}, {"POST /run/default/web/app", testToken, -1, 413},
		{"POST /run/default/web/app", "", gigabyte, 401}, {"GET /pods", "", gigabyte, 200}, {"PUT /nothing", "", -1, 404},
	} {
		body := new(endless)
		method, path, _ := strings.Cut(tt.request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, io.LimitReader(body, gigabyte))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = tt.length
		with("Content-Type", jsonType, "Authorization", "Bearer "+tt.token)(r)
		resp, err := s.transport.RoundTrip(r) // fails when the server closes while the client still sends
		if err == nil {
			resp.Body.Close()
		}
		s.transport.CloseIdleConnections()
		if n := body.read.Load(); n > maxBodyBytes+sockets || err == nil && resp.StatusCode != tt.want {
			t.Errorf("%+v: the server takes %d bytes and answers %+v", tt, n, resp)
		}
	}
	long := strings.Repeat("x", 1<<20)
	for _, request := range []string{"/pods HTTP/1.1\r\nX: " + long, "/pods HTTP/1.1" + strings.Repeat("\r\nX: y", 200_000), "/" + long + " HTTP/1.1"} {
		if got := s.raw(t, "GET %s\r\nHost: localhost\r\n\r\n", request); got != "" && !strings.HasPrefix(got, "HTTP/1.1 431 ") {
			t.Errorf("%.30s…: it answers %q", request, got)
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
	for name, listen := range map[string]func(*Options){"TCP": func(*Options) {}, "socket": onSocket(t)} {
		s := serve(t, &fakeKubelet{}, listen)
		var conns []net.Conn
		ask := func(i int, within time.Duration) error {
			conns[i].SetDeadline(time.Now().Add(within))
			io.WriteString(conns[i], getHealth)
			_, err := http.ReadResponse(bufio.NewReader(conns[i]), nil)
			return err
		}
		for i := range maxConnections + 1 {
			conn, err := s.transport.DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conns = append(conns, conn)
			if i == maxConnections {
				break
			}
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
	text := logged(t, "9", func() {
		for _, k := range []*fakeKubelet{well, ill} {
			s := serve(t, k, options, func(o *Options) {
				o.Token = most + "t"
				if k == ill {
					o.LogDir = "/nothing" // an error that is logged
				}
			})
			for _, token := range []string{most, most + "t"} {
				var requests []string
				for _, route := range everyRoute {
					requests = append(requests, route.request, route.request+map[bool]string{true: "&", false: "?"}[strings.Contains(route.request, "?")]+"token="+token)
				}
				// A name in the path is in the answer, but not in the log.
				named := []string{"GET /" + token, "GET /containerLogs/default/" + token + "/c", "GET /logs/" + token, "GET /events?after=" + token, token + " /"}
				for _, request := range append(requests, named...) {
					for _, set := range []func(*http.Request){
						with("Authorization", "Bearer "+token), with("Authorization", "Basic "+token), with("Cookie", cookieName+"="+token),
						func(r *http.Request) { r.SetBasicAuth(token, token) }, withBody("", "token="+token), with("Content-Type", token),
						with("X-Token", token, "Referer", token, "User-Agent", token, "X-Request-Id", token, "Accept", token, "If-None-Match", token, "Range", token),
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
	if strings.Contains(text, most) || !strings.Contains(text, "open the log directory") {
		t.Errorf("the log is\n%s", text)
	}
}

// A panic of a handler is logged, and a client that breaks off on one line at most.
func TestWhatIsLogged(t *testing.T) {
	k := withContainers()
	s := serve(t, k, withTLS(t))
	k.logs = func(context.Context, string, string, api.LogOptions, io.Writer) error { panic("a bug") }
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
	k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, leave := range map[string]func(){
		"speaks no TLS": func() { s.raw(t, "no TLS") },
		"leaves a log": func() {
			ctx, leave := context.WithCancel(t.Context())
			s.open(t, ctx, "GET /containerLogs/default/web/app?follow=1", withToken)
			leave()
			s.transport.CloseIdleConnections()
			s.ask(t, "GET /healthz")
		},
	} {
		if text := logged(t, "0", leave); strings.Count(text, "\n") > 1 {
			t.Errorf("a client that %s is in the log as\n%s", name, text)
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

package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// The log directory may hold other files, and links to files elsewhere.
func TestAttacksOnTheLogDirectory(t *testing.T) {
	const secret = "the secret of another directory"
	outside := writeFile(t, filepath.Join(t.TempDir(), "outside"), secret, 0o644)
	k, options := withEverything(t)
	var dir string
	s := serve(t, k, options, func(o *Options) { dir = o.LogDir })
	at := func(name string) string { return filepath.Join(dir, name) }
	linkName, pipeName, dirName := logFile+"1", logFile+"2", logFile+"3"
	unittest.Must(t, os.Symlink(outside, at(linkName)), os.Symlink(logFile, at("kubelet14.INFO")), os.Symlink("..", at("up")),
		os.Mkdir(at(dirName), 0o755), syscall.Mkfifo(at(pipeName), 0o600))
	for _, name := range []string{dirName + "/" + logFile, "token", ".dockercfg"} {
		writeFile(t, at(name), secret, 0o644)
	}
	for _, path := range []string{
		linkName, "kubelet14.INFO", pipeName, dirName, dirName + "/", dirName + "/" + logFile, dirName + "%2f" + logFile,
		"token", ".dockercfg", "%2edockercfg", "%2e%2e", "..%2foutside", "..%2f..%2f..%2f..%2fetc%2fpasswd", "../../../../etc/passwd",
		"up", "up/outside", "up%2foutside", "%2fetc%2fpasswd", "/etc/passwd", outside, logFile + "%00", logFile + "/", "%",
	} {
		// The path is sent unchanged: a client would clean it.
		answer := s.raw(t, "GET /logs/%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, testToken)
		if !strings.HasPrefix(answer, "HTTP/1.0 ") && !strings.HasPrefix(answer, "HTTP/1.1 400") || strings.HasPrefix(answer, "HTTP/1.0 200") ||
			strings.Contains(answer, secret) || strings.Contains(answer, "root:") {
			t.Errorf("%s: it answers\n%s", path, answer)
		}
	}
	if got := s.ask(t, "GET /logs/", withToken); strings.Count(got.body, "<a ") != 1 || !strings.Contains(got.body, logFile) {
		t.Errorf("only one of these files is a log, and the list is\n%s", got.body)
	}
}

func TestHeadersAreLimited(t *testing.T) {
	got := serve(t, &fakeKubelet{}).raw(t, "GET /pods HTTP/1.1\r\nX: %s\r\nConnection: close\r\nHost: localhost\r\n\r\n", strings.Repeat("x", 2*maxHeaderBytes))
	if !strings.HasPrefix(got, "HTTP/1.1 431 ") {
		t.Errorf("it answers %q", got)
	}
}

const (
	getAsOwner = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + testToken + "\r\n\r\n"
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
		"sends one request, then nothing": {getAsOwner, false, readTimeout},
	} {
		k := withContainers()
		k.statuses[0].Message = strings.Repeat("x", 1<<20) // more than any buffer holds
		inBubble(t, k, func(t *testing.T, s *testServer) {
			conn := s.dial(t)
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

// A client beyond the limit waits until another one is gone, so that the kubelet does not run out of files.
func TestConnectionsAreLimited(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	var conns []net.Conn
	ask := func(i int, within time.Duration) error {
		if i == len(conns) {
			conns = append(conns, s.dial(t))
			t.Cleanup(func() { conns[i].Close() })
		}
		conns[i].SetDeadline(time.Now().Add(within))
		io.WriteString(conns[i], getAsOwner)
		_, err := http.ReadResponse(bufio.NewReader(conns[i]), nil)
		return err
	}
	for again := true; again; {
		began := time.Now()
		for i := range maxConnections {
			if err := ask(i, unittest.Limit()); err != nil {
				t.Fatalf("connection %d: %v", i, err)
			}
		}
		err := ask(maxConnections, 50*time.Millisecond)
		if again = time.Since(began) > readTimeout; again { // the first may have been cut off
			for _, conn := range conns {
				conn.Close()
			}
			conns = nil
		} else if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("beyond the limit: %v, want no answer", err)
		}
	}
	conns[0].Close()
	if err := ask(maxConnections, unittest.Limit()); err != nil {
		t.Errorf("after another client has gone: %v", err)
	}
}

// Wherever a client puts the token, no answer and no log repeats it.
func TestTheTokenIsInNoLogAndNoAnswer(t *testing.T) {
	const secret = "secret-token-of-this-test"
	well, options := withEverything(t)
	ill := &fakeKubelet{err: errors.New("Docker is away"), health: errors.New("Docker is away")}
	withoutDir := func(o *Options) { o.LogDir = "/nothing" } // an error that is logged
	isSecret := func(o *Options) { o.Token = secret }
	text := unittest.Logged(t, "9", func() {
		for _, s := range []*testServer{serve(t, well, options, isSecret), serve(t, ill, withoutDir, isSecret)} {
			for _, set := range []func(*http.Request){
				with("Authorization", "Bearer "+secret), with("Authorization", "Basic "+secret, "Cookie", "key="+secret),
				withBody(secret, "token="+secret), with("X-Token", secret, "Referer", secret, "User-Agent", secret, "If-None-Match", secret, "Range", secret),
			} {
				for _, route := range everyRoute {
					separator := map[bool]string{true: "&", false: "?"}[strings.Contains(route.request, "?")]
					for _, request := range []string{route.request, route.request + separator + "token=" + secret} {
						if got := fmt.Sprint(s.ask(t, request, set)); strings.Contains(got, secret) {
							t.Errorf("%s: the answer is %s", request, got)
						}
					}
				}
				// The answer may repeat a name of the path, but the log does not.
				for _, request := range []string{"GET /" + secret, logOf + secret + "/c", "GET /logs/" + secret, "GET /events?after=" + secret, secret + " /"} {
					s.ask(t, request, set)
				}
			}
			s.ask(t, "GET /pods", with("Host", secret))
			s.ask(t, "GET /pods", with("Origin", secret))
		}
	})
	if strings.Contains(text, secret) || !strings.Contains(text, "list the log directory") {
		t.Errorf("the log is\n%s", text)
	}
}

// A panic of a handler is logged.
func TestAPanicIsLogged(t *testing.T) {
	s := serve(t, printing(func(context.Context, string, io.Writer) (int, error) { panic("a bug") }))
	text := unittest.Logged(t, "0", func() { io.Copy(io.Discard, s.open(t, t.Context(), logOf+"web/app?follow=1", withToken).Body) })
	if !strings.Contains(text, "http: panic serving") {
		t.Errorf("the log is\n%s", text)
	}
}

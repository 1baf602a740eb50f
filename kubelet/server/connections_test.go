package server

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipe is a connection of which the client knows when the server closes it.
type pipe struct {
	net.Conn // the client's end
	ended    chan struct{}
}

type serversEnd struct {
	net.Conn
	once  sync.Once
	ended chan struct{}
}

func (e *serversEnd) Close() error {
	e.once.Do(func() { close(e.ended) })
	return e.Conn.Close()
}

func (p *pipes) dial() *pipe {
	ours, theirs := net.Pipe()
	ended := make(chan struct{})
	p.conns <- &serversEnd{Conn: theirs, ended: ended}
	return &pipe{ours, ended}
}

func (p *pipe) isOpen() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// inItsOwnTime runs a test against a server for which only the bubble's time passes.
func inItsOwnTime(t *testing.T, k *fakeKubelet, test func(t *testing.T, p *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(testOptions(k))
		if err != nil {
			t.Fatal(err)
		}
		s.listener.Close()
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		s.listener = p
		start(t, s)
		test(t, p)
	})
}

const (
	aRequest     = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	theLast      = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	aCommand     = "POST /run/default/web/c HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + testToken + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	aBody        = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n0"
	aStrangers   = "POST /run/default/web/c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1"
	allLogs      = "GET /containerLogs/default/web/c?follow=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + testToken + "\r\nConnection: close\r\n\r\n"
	manyPods     = "GET /pods HTTP/1.1\r\nHost: localhost\r\n\r\n"
	beforeTheEnd = "GET /pods HTTP/1.1\r\nHost: localhost\r\nX: "
)

// slowly sends a byte each second, until the other end is closed.
func slowly(conn net.Conn, text string) {
	for _, b := range []byte(text) {
		if _, err := conn.Write([]byte{b}); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

func TestWhoTakesTooLongIsCutOff(t *testing.T) {
	k, _, _ := fullKubelet(t)
	k.statuses[0].Message = strings.Repeat("x", 1<<20) // more than fits into any buffer
	endless := strings.Repeat("x", 10_000)
	for name, tt := range map[string]struct {
		client func(conn net.Conn)
		takes  func(conn net.Conn) // nil: nothing
		within time.Duration
	}{
		"says nothing":              {func(net.Conn) {}, takeAll, readHeaderTimeout},
		"sends a header slowly":     {func(conn net.Conn) { slowly(conn, beforeTheEnd+endless) }, takeAll, readHeaderTimeout},
		"does not end its header":   {func(conn net.Conn) { io.WriteString(conn, beforeTheEnd) }, takeAll, readHeaderTimeout},
		"sends a body slowly":       {func(conn net.Conn) { io.WriteString(conn, aCommand); slowly(conn, endless) }, takeAll, readTimeout},
		"does not send its body":    {func(conn net.Conn) { io.WriteString(conn, aCommand) }, takeAll, readTimeout},
		"sends what nobody wants":   {func(conn net.Conn) { io.WriteString(conn, aBody) }, takeAll, readTimeout},
		"may not send it":           {func(conn net.Conn) { io.WriteString(conn, aStrangers) }, takeAll, readTimeout},
		"does not take its answer":  {func(conn net.Conn) { io.WriteString(conn, manyPods) }, nil, writeTimeout},
		"takes its answer slowly":   {func(conn net.Conn) { io.WriteString(conn, manyPods) }, takeSlowly, writeTimeout},
		"asks and then nothing":     {func(conn net.Conn) { io.WriteString(conn, aRequest) }, takeAll, idleTimeout},
		"asks and then begins anew": {func(conn net.Conn) { io.WriteString(conn, aRequest+"GET ") }, takeAll, readHeaderTimeout},
	} {
		inItsOwnTime(t, k, func(t *testing.T, p *pipes) {
			conn := p.dial()
			defer conn.Close()
			began := time.Now()
			var client sync.WaitGroup
			client.Go(func() { tt.client(conn) })
			if tt.takes != nil {
				client.Go(func() { tt.takes(conn) })
			}
			<-conn.ended
			if took := time.Since(began); took > tt.within {
				t.Errorf("a client that %s is cut off after %v, want %v", name, took, tt.within)
			}
			conn.Close()
			client.Wait()
		})
	}
}

func takeAll(conn net.Conn) { io.Copy(io.Discard, conn) }

func takeSlowly(conn net.Conn) {
	for {
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// answered asks on a new connection and says what came back, without any time passing.
func answered(t *testing.T, p *pipes) string {
	t.Helper()
	conn := p.dial()
	defer conn.Close()
	before := time.Now()
	io.WriteString(conn, theLast)
	answer, _ := io.ReadAll(conn)
	if took := time.Since(before); took != 0 {
		t.Errorf("a new client waited for %v", took)
	}
	first, _, _ := strings.Cut(string(answer), "\r\n")
	return first
}

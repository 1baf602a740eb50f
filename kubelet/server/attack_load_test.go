package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// counted counts the bytes that a server takes from its clients.
type counted struct {
	net.Listener
	taken *atomic.Int64
}

func (l counted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countedConn{conn, l.taken}, err
}

type countedConn struct {
	net.Conn
	taken *atomic.Int64
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.taken.Add(int64(n))
	return n, err
}

// zeros are as many as anybody takes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestAttackByABodyOfAGigabyte(t *testing.T) {
	t.Parallel()
	const gigabyte = 1 << 30
	k, used, options := fullKubelet(t)
	s, err := New(testOptions(k, options))
	if err != nil {
		t.Fatal(err)
	}
	var taken atomic.Int64
	s.listener = counted{s.listener, &taken}
	start(t, s)
	d := doorOf(t, s, "")
	for name, tt := range map[string]struct {
		request string
		header  string
		length  int64
		want    int
	}{
		"a command":                   {"POST /run/default/web/c", "Bearer " + testToken, gigabyte, 413},
		"a command of unknown length": {"POST /run/default/web/c", "Bearer " + testToken, -1, 413},
		"without a token":             {"POST /run/default/web/c", "", gigabyte, 401},
		"to read":                     {"GET /pods", "", gigabyte, 200},
		"to nowhere":                  {"PUT /nothing", "", -1, 404},
	} {
		taken.Store(0)
		method, path, _ := strings.Cut(tt.request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, d.base+path, io.LimitReader(zeros{}, gigabyte))
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = tt.length
		r.Header.Set("Authorization", tt.header)
		// The server may close while the client still sends, and then there is no answer.
		if resp, err := d.transport.RoundTrip(r); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("%s: it answers %s, want %d", name, resp.Status, tt.want)
			}
		}
		d.transport.CloseIdleConnections()
		if n := taken.Load(); n > 2*maxBodyBytes {
			t.Errorf("%s: the server took %d bytes", name, n)
		}
	}
	survives(t, doorOf(t, s, ""), used)
}

func TestAttackByAHeaderOfAMegabyte(t *testing.T) {
	k, used, options := fullKubelet(t)
	s := serve(t, k, options)
	for name, text := range map[string]string{
		"a long line":    "X: " + strings.Repeat("x", 1<<20) + "\r\n",
		"many lines":     strings.Repeat("X: y\r\n", 200_000),
		"a long cookie":  "Cookie: " + strings.Repeat("a=b; ", 200_000) + "\r\n",
		"a long address": "",
	} {
		path := "/pods"
		if text == "" {
			path = "/" + strings.Repeat("x", 1<<20)
		}
		conn, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		go fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, text) // the server may close before its end
		answer := make([]byte, 512)
		n, err := io.ReadFull(conn, answer)
		if got := string(answer[:n]); !strings.HasPrefix(got, "HTTP/1.1 431 ") && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: it answers %q, %v", name, got, err)
		}
		conn.Close()
	}
	survives(t, doorOf(t, s, ""), used)
}

// Each page makes the kubelet look at its pods twice a second.
func TestAttackByAHundredPages(t *testing.T) {
	k, used, options := fullKubelet(t)
	d := doorOf(t, serve(t, k, options), "")
	statuses := map[int]int{}
	var leave []func()
	for range 100 {
		r, err := http.NewRequestWithContext(t.Context(), "GET", d.base+"/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := d.transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		statuses[resp.StatusCode]++
		leave = append(leave, func() { resp.Body.Close() })
	}
	if statuses[http.StatusOK] != maxPages || statuses[http.StatusServiceUnavailable] != 100-maxPages {
		t.Errorf("they are answered with %v", statuses)
	}
	for _, do := range leave {
		do()
	}
	for deadline := time.Now().Add(time.Minute); d.pages.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d pages that have gone are still counted", d.pages.Load())
		}
	}
	survives(t, d, used)
}

package config

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
)

func TestPlainTextIsWarnedAbout(t *testing.T) {
	for address, warned := range map[string]bool{
		"http://example.com/pods":    true,
		"http://10.0.0.1/pods":       true,
		"http://[fe80::1]:80/pods":   true,
		"http://localhost.evil/pods": true,
		"https://example.com/pods":   false,
		"http://localhost:80/pods":   false,
		"http://127.0.0.1/pods":      false,
		"http://127.3.2.1:8014/pods": false,
		"http://[::1]/pods":          false,
	} {
		logged := captureLog(t)
		if _, err := NewSourceHTTP(address, time.Hour, testParser()); err != nil {
			t.Error(err)
		}
		if text := logged(); strings.Count(text, address) != strings.Count(text, "without TLS") || strings.Contains(text, address) != warned {
			t.Errorf("%s: log:\n%s", address, text)
		}
	}
}

// At each look there would be thousands of it a day.
func TestPlainTextIsWarnedAboutOnce(t *testing.T) {
	logged := captureLog(t)
	h := newHTTPTest(t)
	source, err := NewSourceHTTP("http://me:s3cret@example.com:80/pods", time.Hour, testParser())
	if err != nil {
		t.Fatal(err)
	}
	transport := source.client.Transport.(*http.Transport)
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, h.server.Listener.Addr().String())
	}
	defer source.client.CloseIdleConnections()
	h.SourceHTTP = source
	h.look()
	h.look()
	h.expect("web=1 db=1")
	if text := logged(); strings.Count(text, "without TLS") != 1 || strings.Contains(text, "s3cret") {
		t.Errorf("log:\n%s", text)
	}
}

func TestHTTPRedirectToPlainTextIsRefused(t *testing.T) {
	plain := newHTTPTest(t)
	h := newHTTPTestAt(t, "", (*httptest.Server).StartTLS)
	h.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pods" {
			http.Redirect(w, r, "/more", http.StatusFound) // this one is well
			return
		}
		http.Redirect(w, r, strings.Replace(plain.server.URL, "://", "://me:s3cret@", 1)+"/pods", http.StatusFound)
	})
	h.look()
	h.expect("", h.place, "redirects to http://me:xxxxx@", "not safe")
	if strings.Contains(h.last.Err.Error(), "s3cret") {
		t.Errorf("the error tells the password: %v", h.last.Err)
	}
}

func TestHTTPServerWithAnUnknownCertificateIsAnError(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).StartTLS)
	h.body(manifest("web", "1"))
	h.look()
	h.expect("web=1")
	h.client.CloseIdleConnections()
	h.client.Transport.(*http.Transport).TLSClientConfig.RootCAs = x509.NewCertPool()
	h.look()
	h.expect("web=1", h.place, "certificate")
}

// The password goes to the server alone, whatever happens.
func TestHTTPPasswordIsToldToTheServerAlone(t *testing.T) {
	logged := captureLog(t)
	h := newHTTPTestAt(t, "me:s3cret@", (*httptest.Server).Start)
	told := ""
	for what, step := range map[string]struct {
		answer http.HandlerFunc
		word   string
	}{
		"a good body": {func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			io.WriteString(w, manifest(user, password[:2]))
		}, ""},
		"a body that is bad":   {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "bad: [") }, "YAML"},
		"another status":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "403"},
		"an endless redirect":  {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/pods", http.StatusFound) }, "again and again"},
		"no answer":            {hijack(func(net.Conn) {}), "EOF"},
		"a redirect to no URL": {func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Location", "%zz"); w.WriteHeader(302) }, "%zz"},
	} {
		h.answer(step.answer)
		h.look()
		if err := fmt.Sprint(h.last.Err); !strings.Contains(err, step.word) {
			t.Errorf("%s: no %q in the error: %v", what, step.word, err)
		}
		told += fmt.Sprintf("%+v %+v\n", h.last, h.Status())
	}
	h.server.Close()
	h.look()
	told += fmt.Sprintf("%+v %+v\n", h.last, h.Status()) + logged()
	if got := show(h.last.Pods); got != "me=s3" {
		t.Errorf("the server was told %q", got)
	}
	if strings.Contains(told, "s3cret") || !strings.Contains(told, "me:xxxxx@") {
		t.Errorf("told:\n%s", told)
	}
}

func TestHTTPBadURLIsRefused(t *testing.T) {
	for _, address := range []string{
		"",
		"example.com/pods",
		"/pods",
		"//me:s3cret@example.com/pods",
		"me:s3cret@example.com/pods",
		"ftp://me:s3cret@example.com/pods",
		"file:///pods",
		"http://",
		"http:///pods",
		"http://:80/pods",
		"http:me:s3cret@example.com/pods",
		"https:/me:s3cret@example.com/pods",
		"http://me:s3cret@example.com:http/pods",
		"http://me:s3cret@example.com:80:80/pods",
		"http://me:s3cret@[::1/pods",
		"http://me:s3cret/or-so@example.com/pods",
		"http://me:s3cret%@example.com/pods",
		"http://exa mple.com/pods",
	} {
		_, err := NewSourceHTTP(address, time.Hour, testParser())
		switch {
		case err == nil:
			t.Errorf("%q is taken", address)
		case !strings.Contains(err.Error(), "give"):
			t.Errorf("%q: the error does not say what to do: %v", address, err)
		case strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%q: the error tells the password: %v", address, err)
		}
	}
}

func TestErrorsOfTheNetworkWithoutWhatChanges(t *testing.T) {
	for _, test := range []struct{ from, want string }{
		{"read tcp 127.0.0.1:36924->127.0.0.1:80: read: connection reset by peer", "read tcp 127.0.0.1:80: read: connection reset by peer"},
		{"read tcp [::1]:36924->[::1]:80: i/o timeout", "read tcp [::1]:80: i/o timeout"},
		{"lookup web: read udp 10.0.0.2:36924->10.0.0.1:53: i/o timeout", "lookup web: read udp 10.0.0.1:53: i/o timeout"},
		{"dial tcp 127.0.0.1:80: connect: connection refused", "dial tcp 127.0.0.1:80: connect: connection refused"},
	} {
		if got := inSteadyWords(errors.New(test.from)).Error(); got != test.want {
			t.Errorf("got  %q\nwant %q", got, test.want)
		}
	}
	err := withoutURL(fmt.Errorf("it failed: %w", &url.Error{Op: "Get", URL: "http://me:s3cret@web", Err: io.EOF}))
	if err != io.EOF {
		t.Errorf("got %v", err)
	}
	if err := withoutURL(io.ErrUnexpectedEOF); err != io.ErrUnexpectedEOF {
		t.Errorf("got %v", err)
	}
}

// Each look may use the connection of the last one, and none stays behind.
func TestHTTPLeavesNoConnection(t *testing.T) {
	var open atomic.Int32
	h := newHTTPTestAt(t, "", func(server *httptest.Server) {
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Add(-1)
			}
		}
		server.Start()
	})
	h.answer(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		w.Write(make([]byte, 1<<20)) // which nobody reads
	})
	for range 10 {
		h.look()
	}
	poll(t, func() bool { return open.Load() <= 1 })
	h.body("[]")
	updates := make(chan api.PodUpdate)
	stop := h.start(updates)
	<-updates
	stop()
	poll(t, func() bool { return open.Load() == 0 })
}

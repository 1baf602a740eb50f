package config

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// httpTest is a running source and its server, which answers as the test says.
type httpTest struct {
	*run
	source  *SourceHTTP
	server  *httptest.Server
	handler atomic.Pointer[http.HandlerFunc]
	asked   atomic.Int32
}

// newHTTPTest starts a plain server and a source, which has received two pods.
func newHTTPTest(t *testing.T) *httpTest {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start, nil)
	h.answer(body(goodPods...))
	h.start(t)
	h.await("web=1 db=1")
	return h
}

var goodPods = []string{manifest("web", "1"), manifest("db", "1")}

// newHTTPTestAt starts a server and makes a source, which sends the user information if there is any. It does not start
// the source.
func newHTTPTestAt(t *testing.T, user string, start func(*httptest.Server), answer http.HandlerFunc) *httpTest {
	h := &httpTest{}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.asked.Add(1)
		(*h.handler.Load())(w, r)
	}))
	h.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.answer(answer)
	start(h.server)
	t.Cleanup(func() {
		h.server.CloseClientConnections()
		h.server.Close()
	})
	source, err := NewSourceHTTP(strings.Replace(h.server.URL, "://", "://"+user, 1)+"/pods", time.Millisecond, testParser())
	unittest.Must(t, err)
	h.source = source
	source.client.Transport = h.server.Client().Transport // trusts its certificate
	return h
}

func (h *httpTest) start(t *testing.T) { h.run = runSource(t, h.source) }

// answer sets how the server answers from now on.
func (h *httpTest) answer(handler http.HandlerFunc) { h.handler.Store(&handler) }

// body answers with the documents.
func body(documents ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Join(documents, "\n---\n")) }
}

// quiet checks that several more polls lead to no update.
func (h *httpTest) quiet() {
	h.t.Helper()
	deadline := time.After(unittest.Limit())
	for until := h.asked.Load() + 4; h.asked.Load() < until; {
		select {
		case <-deadline:
			unittest.GiveUp(h.t, "the source does not ask its server any more")
		case update := <-h.updates:
			h.t.Fatalf("an update without news: %s, error %v, before it %v", showUpdate(update), update.Err, h.last.Err)
		case <-time.After(time.Millisecond):
		}
	}
}

func jsonManifest(id, image string) string {
	return fmt.Sprintf(`{"version":"v1beta1","id":%q,"containers":[{"name":"main","image":%q}]}`, id, image)
}

// Each form of a body, with its pods and their places in the body.
func TestHTTPBody(t *testing.T) {
	web, db, nameless := jsonManifest("web", "1"), jsonManifest("db", "1"), jsonManifest("", "1")
	h := newHTTPTest(t)
	for _, test := range []struct {
		body, pods string
		where      []string
	}{
		{web, "web=1", []string{""}},
		{manifest("", "1"), "1=1", []string{""}},
		{manifest("web", "1") + "\n---\n" + manifest("", "1"), "web=1 2=1", []string{" (document 1)", " (document 2)"}},
		{"[" + nameless + "," + db + "]", "1=1 db=1", []string{" (item 1)", " (item 2)"}},
		{listObject(manifest("b", "1"), manifest("", "1")), "b=1 2=1", []string{" (item 1)", " (item 2)"}},
		{"[]", "", nil},
		{withUUID("my-uuid", manifest("uuid", "1")), "uuid=1", []string{""}},
	} {
		h.answer(body(test.body))
		h.await(test.pods)
		for i, pod := range h.last.Pods {
			uid := api.NewUID("host", "http", "default", pod.Name)
			if pod.Name == "uuid" {
				uid = "my-uuid"
			}
			if pod.Origin != h.server.URL+"/pods"+test.where[i] || pod.UID != uid || pod.Source != "http" || pod.Namespace != "default" {
				t.Errorf("got %+v", pod)
			}
		}
		h.awaitThat(func() string {
			if h.last.NoPods != nil {
				return h.last.NoPods.Error()
			}
			return ""
		})
		h.quiet()
	}
}

// What the server says is unchanged is not sent again, and is not an error.
func TestHTTPETag(t *testing.T) {
	h := newHTTPTest(t)
	var unchanged atomic.Int32
	serve := func(etag, body string) {
		h.answer(func(w http.ResponseWriter, r *http.Request) {
			if etag != "" && r.Header.Get("If-None-Match") == etag {
				unchanged.Add(1)
			}
			w.Header().Set("ETag", etag)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body)) // which may answer 304
		})
	}
	serve(`"one"`, manifest("web", "2"))
	h.await("web=2")
	success := h.Status().LastSuccess
	h.quiet()
	if unchanged.Load() == 0 || !h.Status().LastSuccess.After(success) {
		t.Errorf("%d times unchanged, was well at %v and %v", unchanged.Load(), success, h.Status().LastSuccess)
	}
	serve("", manifest("web", "3"))
	h.await("web=3")
	serve(`"one"`, manifest("web", "2")) // not the last one
	h.await("web=2")
	serve(`"bad"`, "bad: [")
	h.await("web=2", "/pods:1:")
	h.quiet() // it is an error each time; in 2014 only once
	if h.Status().FailingSince.IsZero() {
		t.Error("a bad body is not an error the second time")
	}
	serve(`"three"`, manifest("web", "3"))
	h.await("web=3")
	h.answer(hijack(func(net.Conn) {}))
	h.await("web=3", "EOF")
	serve(`"three"`, manifest("web", "3")) // the body is the same, and was good
	h.await("web=3")
}

// Each body or answer is bad in another way. The last good pods stay, and the error names the URL. Its text is the same
// each time, or it would be logged and sent at each poll.
func TestHTTPBadAnswerKeepsTheLastGoodPods(t *testing.T) {
	web := jsonManifest("web", "2")
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, web)
		}
	}
	reset := func(text string) http.HandlerFunc {
		return hijack(func(conn net.Conn) {
			io.WriteString(conn, text)
			conn.(*net.TCPConn).SetLinger(0)
		})
	}
	h := newHTTPTest(t)
	for word, answer := range map[string]http.HandlerFunc{
		"for no pods at all it is []": body(""),
		"version: required":           body("{}"),
		"YAML":                        body(web[:len(web)/2]),
		"v9":                          body("[" + web + `,{"version":"v9"}]`),
		"nothing":                     body("[" + web + ",null]"),
		"items: required":             body(`{"kind":"List","apiVersion":"v1"}`),
		"NOT A NAME":                  body(strings.Replace(web, `"main"`, `"NOT A NAME"`, 1)),
		`pod "web" is in`:             body("[" + web + "," + web + "]"),
		"the limit is 1572864":        body("[]" + strings.Repeat(" ", api.MaxManifestBytes)),
		"too many bytes": func(w http.ResponseWriter, _ *http.Request) {
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			zip.Write(make([]byte, api.MaxManifestBytes/10))
			zip.Close()
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bytes.Repeat(packed.Bytes(), 11))
		},
		`"201 Created", and only 200 OK counts`: status(201),
		"304 Not Modified":                      status(304), // the source has not asked for that
		"redirects too often":                   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/pods", http.StatusFound) },
		"EOF":                                   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"breaks off: read tcp":                  reset("HTTP/1.1 200 OK\r\n\r\n[]"),
		"connection reset":                      reset(""),
	} {
		h.answer(body(goodPods...)) // else the error of the case before may have the same word
		h.await("web=1 db=1")
		h.answer(answer)
		h.await("web=1 db=1", h.server.URL+"/pods", word)
		h.quiet()
	}
	h.answer(body(web))
	h.await("web=2")
	h.server.CloseClientConnections()
	h.server.Close()
	h.await("web=2", "get "+h.server.URL+"/pods: ", "connection refused")
}

// A body without a length that ends after its first document may have lost the second one.
func TestHTTPBodyWhoseEndIsNotKnown(t *testing.T) {
	h := newHTTPTest(t)
	web := manifest("web", "2")
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	io.WriteString(zip, web)
	zip.Close()
	for answer, known := range map[string]bool{
		"HTTP/1.0 200 OK\r\n\r\n" + web + "\n---\n":                                                              false,
		"HTTP/1.1 200 OK\r\n\r\n" + web:                                                                          false,
		fmt.Sprintf("HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(web), web):                            true,
		fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(web), web): true,
		"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed.String():                                    true,
		"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed.String()[:packed.Len()-1]:                   false,
	} {
		h.answer(body(goodPods...))
		h.await("web=1 db=1")
		h.answer(hijack(func(conn net.Conn) { io.WriteString(conn, answer) }))
		switch {
		case known:
			h.await("web=2")
		case strings.Contains(answer, "gzip"):
			h.await("web=1 db=1", "unexpected EOF")
		default:
			h.await("web=1 db=1", "does not say where the body ends", "Content-Length")
		}
	}
}

// hijack answers with what the function writes on the bare connection.
func hijack(answer func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		answer(conn)
	}
}

func TestHTTPSameTLSProblemHasTheSameWords(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).StartTLS, nil)
	now := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) // the certificate has expired
	h.source.client.Transport.(*http.Transport).TLSClientConfig.Time = func() time.Time { now = now.Add(time.Second); return now }
	h.start(t)
	h.await("", h.source.place, "expired")
	seen := h.Status().LastErrorAt
	h.awaitStatus(func(s api.SourceStatus) bool { return s.LastErrorAt.After(seen) })
	if len(h.errs) != 1 {
		t.Errorf("got %q", h.errs)
	}
	for from, want := range map[string]string{
		"lookup web: read udp 10.0.0.2:36924->10.0.0.1:53: i/o timeout": "lookup web: read udp 10.0.0.1:53: i/o timeout",
		"stream error: stream ID 7; INTERNAL_ERROR; received from peer": "stream error: INTERNAL_ERROR; received from peer",
		"dial tcp 127.0.0.1:80: connect: connection refused":            "dial tcp 127.0.0.1:80: connect: connection refused",
	} {
		if got := stableMessage(errors.New(from)).Error(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// A server may stop answering before the headers, in them or in the body.
func TestHTTPServerThatHangs(t *testing.T) {
	for _, text := range []string{"", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\n\r\n[]"} {
		h := newHTTPTest(t)
		asked := make(chan struct{}, 100)
		h.answer(hijack(func(conn net.Conn) {
			asked <- struct{}{}
			io.WriteString(conn, text)
			io.Copy(io.Discard, conn) // until the source gives up
		}))
		unittest.Receive(t, asked, "the source does not ask its server")
		h.stop() // it ends at once, without an error
		if status := h.Status(); status.LastError != "" {
			t.Errorf("the end is taken for an error: %v", status)
		}
		h.source.client.Timeout = 20 * time.Millisecond
		h.start(t)
		h.await("web=1 db=1", h.source.place, "Client.Timeout")
	}
	if s, err := NewSourceHTTP("http://localhost/pods", time.Hour, testParser()); err != nil || s.client.Timeout <= 0 {
		t.Errorf("timeout %v, error %v", s.client.Timeout, err)
	}
}

func TestHTTPRedirects(t *testing.T) {
	plain := newHTTPTest(t)
	paths := http.NewServeMux()
	paths.Handle("/pods", http.RedirectHandler("/new", http.StatusFound))
	paths.Handle("/new", body(manifest("web", "2")))
	plain.answer(paths.ServeHTTP)
	plain.await("web=2")
	if origin, want := plain.last.Pods[0].Origin, plain.server.URL+"/pods"; origin != want {
		t.Errorf("origin %q, want %q", origin, want)
	}
	paths = http.NewServeMux()
	paths.Handle("/pods", http.RedirectHandler("/more", http.StatusFound)) // still TLS
	paths.Handle("/more", http.RedirectHandler(strings.Replace(plain.server.URL, "://", "://me:s3cret@", 1)+"/pods", http.StatusFound))
	h := newHTTPTestAt(t, "", (*httptest.Server).StartTLS, paths.ServeHTTP)
	h.start(t)
	h.await("", h.source.place, "redirects to http://me:xxxxx@", "not safe")
}

// The password is sent to the server and appears nowhere else.
func TestHTTPPasswordIsSecret(t *testing.T) {
	logged := unittest.Log(t, "0")
	good := func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		io.WriteString(w, manifest(user, password[:2]))
	}
	h := newHTTPTestAt(t, "me:s3cret@", (*httptest.Server).Start, good)
	h.start(t)
	h.await("me=s3")
	told := fmt.Sprintf("%+v %+v\n", h.last, h.Status())
	for word, answer := range map[string]http.HandlerFunc{
		"YAML":      body("bad: ["),
		"403":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"too often": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/pods", http.StatusFound) },
		"EOF":       hijack(func(net.Conn) {}),
		"%zz":       func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Location", "%zz"); w.WriteHeader(302) },
	} {
		h.answer(good)
		h.await("me=s3")
		h.answer(answer)
		h.await("me=s3", word)
		told += fmt.Sprintf("%+v %+v\n", h.last, h.Status())
	}
	h.stop()
	if told += logged(); strings.Contains(told, "s3cret") || !strings.Contains(told, "me:xxxxx@") {
		t.Errorf("told:\n%s", told)
	}
}

func TestHTTPBadURLIsRefused(t *testing.T) {
	for _, address := range []string{
		"", "example.com/pods", "/pods", "//me:s3cret@example.com/pods", "me:s3cret@example.com/pods", "ftp://me:s3cret@example.com/pods",
		"file:///pods", "http://", "http:///pods", "http://:80/pods", "http:me:s3cret@example.com/pods", "https:/me:s3cret@example.com/pods",
		"http://me:s3cret@example.com:http/pods", "http://me:s3cret@[::1/pods", "http://me:s3cret/or-so@example.com/pods",
		"http://me:s3cret%@example.com/pods", "http://exa mple.com/pods",
	} {
		_, err := NewSourceHTTP(address, time.Hour, testParser())
		if err == nil || !strings.Contains(err.Error(), "give one such as") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

func TestPlainHTTPIsWarnedAbout(t *testing.T) {
	for address, warned := range map[string]bool{
		"http://example.com/pods":           true,
		"http://me:s3cret@example.com/pods": true,
		"http://[fe80::1]:80/pods":          true,
		"http://localhost.evil/pods":        true,
		"https://example.com/pods":          false,
		"http://localhost:80/pods":          false,
		"http://127.3.2.1:8014/pods":        false,
		"http://[::1]/pods":                 false,
	} {
		logged := unittest.Log(t, "0")
		source, err := NewSourceHTTP(address, time.Hour, testParser())
		unittest.Must(t, err)
		if text := logged(); strings.Contains(text, source.place+" without TLS") != warned || strings.Contains(text, "s3cret") {
			t.Errorf("%s: log:\n%s", address, text)
		}
	}
}

package config

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

// What can be wrong with a body. Whatever it is, the last good pods stay, and the
// error says which URL it is.
func TestHTTPBadBodyKeepsTheLastGoodPods(t *testing.T) {
	web := jsonManifest("web", "2")
	uuid := func(id string) string { return strings.Replace(jsonManifest(id, "2"), "{", `{"uuid":"u",`, 1) }
	for name, test := range map[string]struct{ body, word string }{
		"empty":                       {"", "for no pods at all it is []"},
		"blank":                       {" \n\n", "empty"},
		"an empty object":             {"{}", "version: required"},
		"null":                        {"null", "nothing"},
		"a number":                    {"14", "a number"},
		"HTML in one line":            {"<html><body>It works!</body></html>", "a string"},
		"HTML":                        {"<html>\n<body>\n<p class=\"a: b\">It works!</p>\n</body>\n</html>\n", "YAML syntax"},
		"half a body":                 {web[:len(web)/2], "YAML syntax"},
		"a list with one bad item":    {"[" + web + `,{"version":"v9"}]`, "v9"},
		"a list with null in it":      {"[" + web + ",null]", "nothing"},
		"items without a kind":        {`{"items":[]}`, "ContainerManifestList"},
		"a list without items":        {`{"kind":"ContainerManifestList","apiVersion":"v1beta1"}`, "items: required"},
		"a list of another kind":      {`{"kind":"PodList","apiVersion":"v1beta1","items":[]}`, "PodList"},
		"the first line":              {"version: v1beta1\n", "containers: required"},
		"a list with half an item":    {"[" + web + `,{"version":"v1beta1"}]`, "[1].containers: required"},
		"an unknown field":            {manifest("web", "2") + "\nimgae: x", "imgae"},
		"a field of no allowed value": {strings.Replace(web, `"main"`, `"NOT A NAME"`, 1), "NOT A NAME"},
		"a pod twice":                 {"[" + web + "," + web + "]", `pod "web"`},
		"a uuid twice":                {"[" + uuid("web") + "," + uuid("db") + "]", `uuid "u"`},
		"more than fits":              {"[]" + strings.Repeat(" ", api.MaxManifestBytes), "the server sends more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTPTest(t)
			h.body(test.body)
			h.look()
			h.expect("web=1 db=1", h.server.URL+"/pods", test.word)
			if h.look() {
				t.Errorf("the same error is news: %v", h.last.Err)
			}
			h.body(manifest("web", "3"))
			h.look()
			h.expect("web=3")
		})
	}
}

// What can be wrong with an answer although its body is good.
func TestHTTPBadAnswerKeepsTheLastGoodPods(t *testing.T) {
	good := manifest("web", "2")
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			io.WriteString(w, good)
		}
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		word   string
	}{
		"201":                  {status(201), `"201 Created", and only 200 OK counts`},
		"204":                  {status(204), "204 No Content"},
		"304 though not asked": {status(304), "304 Not Modified"},
		"404":                  {status(404), "404 Not Found"},
		"500":                  {status(500), "500 Internal Server Error"},
		"a redirect to itself": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/pods", http.StatusFound)
		}, "redirects again and again"},
		"none": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"half a body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)+1))
			io.WriteString(w, good)
		}, "unexpected EOF"},
		"more than fits, packed": {func(w http.ResponseWriter, _ *http.Request) {
			var packed bytes.Buffer
			zip := gzip.NewWriter(&packed)
			zip.Write(make([]byte, api.MaxManifestBytes/10))
			zip.Close()
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bytes.Repeat(packed.Bytes(), 11))
		}, "the server sends more than 1048576 bytes"},
		"more than fits, without an end": {func(w http.ResponseWriter, r *http.Request) {
			for range 3 * api.MaxManifestBytes >> 20 {
				w.Write(make([]byte, 1<<20))
			}
			<-r.Context().Done()
		}, "the server sends more than 1048576 bytes"},
		"no HTTP": {hijack(func(conn net.Conn) { io.WriteString(conn, "hello\n") }), "malformed HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTPTest(t)
			h.answer(test.answer)
			h.look()
			h.expect("web=1 db=1", "get "+h.server.URL+"/pods: ", test.word)
			h.body(good)
			h.look()
			h.expect("web=2")
		})
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

func TestHTTPServerThatIsGoneKeepsTheLastGoodPods(t *testing.T) {
	h := newHTTPTest(t)
	h.server.Close()
	h.look()
	h.expect("web=1 db=1", "get "+h.server.URL+"/pods: ", "connection refused")
}

func TestHTTPServerThatWasNeverGoodGivesNoPods(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start)
	h.body("bad: [")
	if h.look(); h.last == nil {
		t.Fatal("nothing was sent")
	}
	h.expect("", "/pods:1:")
}

// 2014 remembered a bad body, but not that it was bad, and told of it once.
func TestHTTPBadBodyIsAnErrorAsLongAsItIsThere(t *testing.T) {
	for name, etag := range map[string]string{"with an ETag": `"bad"`, "without an ETag": ""} {
		t.Run(name, func(t *testing.T) {
			h := newHTTPTest(t)
			bad := strings.Replace(manifest("web", "2"), "main", "NOT A NAME", 1)
			h.answer(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", etag)
				if etag != "" && r.Header.Get("If-None-Match") == etag {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				io.WriteString(w, bad)
			})
			h.look()
			parses := h.parses
			h.look()
			h.expect("web=1 db=1", "NOT A NAME")
			if s := h.Status(); s.FailingSince.IsZero() || !strings.Contains(s.LastError, "NOT A NAME") || h.parses != parses {
				t.Errorf("parsed %d times more, and the status is %v", h.parses-parses, s)
			}
			h.server.CloseClientConnections()
			h.answer(hijack(func(net.Conn) {}))
			h.look()
			h.expect("web=1 db=1", "EOF") // the newest trouble, and then again:
			h.body(bad)
			h.look()
			h.expect("web=1 db=1", "NOT A NAME")
		})
	}
}

// The places where a server can stop to answer.
var hangs = map[string]http.HandlerFunc{
	"before its answer": hijack(hang),
	"in the headers":    hijack(func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-"); hang(conn) }),
	"in the body":       hijack(func(conn net.Conn) { io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n[]"); hang(conn) }),
}

// hang returns when the other side has given up.
func hang(conn net.Conn) { io.Copy(io.Discard, conn) }

func TestHTTPServerThatHangsIsAnError(t *testing.T) {
	for where, answer := range hangs {
		t.Run(where, func(t *testing.T) {
			h := newHTTPTest(t)
			h.answer(answer)
			h.client.Timeout = 20 * time.Millisecond
			h.look()
			h.expect("web=1 db=1", h.place, "Client.Timeout")
		})
	}
}

// Without a timeout nothing but the context ends the waiting.
func TestHTTPRunEndsWhileTheServerHangs(t *testing.T) {
	for where, answer := range hangs {
		t.Run(where, func(t *testing.T) {
			h := newHTTPTestAt(t, "", (*httptest.Server).Start)
			h.client.Timeout = 0
			h.client.Transport.(*http.Transport).ResponseHeaderTimeout = 0
			asked := make(chan struct{})
			h.answer(func(w http.ResponseWriter, r *http.Request) {
				close(asked)
				answer(w, r)
			})
			stop := h.start(nil)
			<-asked
			stop()
			if status := h.Status(); status.LastError != "" {
				t.Errorf("the end is taken for an error: %v", status)
			}
		})
	}
}

func TestHTTPNewSourceHasTimeouts(t *testing.T) {
	s, err := NewSourceHTTP("http://localhost/pods", time.Hour, testParser())
	if err != nil {
		t.Fatal(err)
	}
	if answer := s.client.Transport.(*http.Transport).ResponseHeaderTimeout; answer <= 0 || s.client.Timeout < answer {
		t.Errorf("%v for the answer to begin, %v for it to end", answer, s.client.Timeout)
	}
}

// The same trouble must not be logged and sent at every look.
func TestHTTPSameTroubleHasTheSameWords(t *testing.T) {
	reset := func(text string) http.HandlerFunc {
		return hijack(func(conn net.Conn) {
			io.WriteString(conn, text)
			conn.(*net.TCPConn).SetLinger(0)
		})
	}
	withHTTP2 := func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }
	for name, test := range map[string]struct {
		start  func(*httptest.Server)
		answer http.HandlerFunc
		word   string
	}{
		"a connection that is reset":    {(*httptest.Server).Start, reset(""), "connection reset"},
		"one that is reset in the body": {(*httptest.Server).Start, reset("HTTP/1.1 200 OK\r\n\r\n[]"), "connection reset"},
		"an HTTP/2 stream that is reset": {withHTTP2, func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "INTERNAL_ERROR"},
		"a certificate that has expired": {(*httptest.Server).StartTLS, nil, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTPTestAt(t, "", test.start)
			if test.answer == nil {
				now := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
				h.client.Transport.(*http.Transport).TLSClientConfig.Time = func() time.Time { now = now.Add(time.Second); return now }
			} else {
				h.answer(test.answer)
			}
			h.look()
			h.expect("", h.place, test.word)
			first := h.last.Err
			if h.look() {
				t.Errorf("first it was\n%v\nthen\n%v", first, h.last.Err)
			}
		})
	}
}

package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

// serve starts a web server on 127.0.0.1.
func serve(t *testing.T, handler http.HandlerFunc) (port int) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}

func TestTheHTTPStatusDecides(t *testing.T) {
	followed := false
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		followed = followed || status == 0
		w.Header().Set("Location", "/else")
		w.WriteHeader(status)
	})
	for status, text := range map[int]string{
		200: "", 204: "", 302: "", 304: "", 399: "",
		400: "400 Bad Request", 404: "404 Not Found", 500: "500 Internal Server Error", 600: "600 status code 600", 999: "999 status code 999",
	} {
		probe := httpProbe(fmt.Sprintf("/%d", status), port)
		if text != "" {
			text = fmt.Sprintf("unhealthy: GET http://127.0.0.1:%d/%d: %s", port, status, text)
		}
		want(t, Probe(t.Context(), probe, local), text)
		want(t, RunHandler(t.Context(), &api.Handler{HTTPGet: probe.HTTPGet}, local), text)
	}
	if followed {
		t.Error("a redirect was followed")
	}
}

// atOnce answers before it reads the request.
func atOnce(conn *net.TCPConn) {
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	io.Copy(io.Discard, conn)
}

func reset(conn *net.TCPConn) {
	conn.Read(make([]byte, 4096))
	conn.SetLinger(0)
}

// Each server gets one request, and its whole answer counts.
func TestAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const early = "HTTP/1.1 103 Early Hints\r\n\r\n"
	for name, test := range map[string]struct {
		port int
		want string // the end of the error; empty: healthy
	}{
		"early hints":          {answer(t, early+ok+"\r\n", ""), ""},
		"body that breaks off": {answer(t, ok+"Content-Length: 100\r\n\r\nabc", ""), ""},
		"endless body":         {answer(t, ok+"\r\n", "on and on"), ""},
		"early answer":         {listen(t, atOnce), ""},
		"redirect to nowhere":  {answer(t, "HTTP/1.1 301 Moved Permanently\r\n\r\n", ""), ""},
		"refused connection":   {closedPort, "connection refused"},
		"closed connection":    {answer(t, "", ""), "no complete answer"},
		"reset connection":     {listen(t, reset), "connection reset by peer"},
		"not HTTP":             {answer(t, "SSH-2.0-OpenSSH\x07\r\n", ""), `malformed HTTP response "SSH-2.0-OpenSSH\a"`},
		"half a header":        {answer(t, ok+"A: b", ""), "no complete answer"},
		"huge header":          {answer(t, ok+"A: ", "b"), "no complete answer"},
		"endless early hints":  {answer(t, "", early), "no complete answer"},
		"body":                 {answer(t, "HTTP/1.1 503 Busy\r\n\r\ndown\x1b[2J\n", "é"), "down?[2J " + strings.Repeat("é", 981) + "…"},
		"odd status":           {answer(t, "HTTP/1.1 099 Odd\r\n\r\n", ""), "099 Odd"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Probe(t.Context(), httpProbe("/", test.port), local)
			if _, unhealthy := errors.AsType[Unhealthy](err); unhealthy != (test.want != "") || !strings.HasSuffix(fmt.Sprint(err), test.want) {
				t.Errorf("got %v, want %q at its end", err, test.want)
			}
		})
	}
}

func TestTheRequest(t *testing.T) {
	var got *http.Request
	port := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r })
	for path, uri := range map[string]string{
		"": "/", "/": "/", "live": "/live", "/live": "/live", "//live": "//live", "live?a=b&c=%20": "/live?a=b&c=%20",
		"?a": "/?a", "/a%2Fb": "/a%2Fb", "/a b": "/a%20b", "/a#b": "/a", "/x@y:1/": "/x@y:1/",
	} {
		got = nil
		want(t, Probe(t.Context(), httpProbe(path, port), local), "")
		if got == nil || got.Method != "GET" || got.RequestURI != uri || got.Host != fmt.Sprintf("127.0.0.1:%d", port) ||
			got.UserAgent() != "kubelet14" || !got.Close {
			t.Errorf("path %q: the request is %+v, want GET %s", path, got, uri)
		}
	}
	got = nil
	want(t, Probe(t.Context(), httpProbe("/%zz", port), local),
		fmt.Sprintf(`unknown: parse "http://127.0.0.1:%d/%%zz": invalid URL escape "%%zz"`, port))
	if got != nil {
		t.Errorf("a bad path gives the request %+v", got)
	}
	probe := httpProbe("/", port)
	probe.HTTPGet.Headers = []api.HTTPHeader{
		{Name: "Host", Value: "web.example"}, {Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "User-Agent", Value: "test"},
	}
	want(t, Probe(t.Context(), probe, local), "")
	if got.Host != "web.example" || got.UserAgent() != "test" || !slices.Equal(got.Header["X-A"], []string{"1", "2"}) {
		t.Errorf("with headers the request is %+v", got)
	}
}

// The certificate of a server is not verified.
func TestHTTPS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer server.Close()
	port, plain := server.Listener.Addr().(*net.TCPAddr).Port, serve(t, func(http.ResponseWriter, *http.Request) {})
	for _, test := range []struct {
		path string
		port int
		want string
	}{
		{"/", port, ""},
		{"/pot", port, fmt.Sprintf("unhealthy: GET https://127.0.0.1:%d/pot: 418 I'm a teapot", port)},
		{"/", plain, fmt.Sprintf("unhealthy: GET https://127.0.0.1:%d/: tls: first record does not look like a TLS handshake", plain)},
	} {
		probe := httpProbe(test.path, test.port)
		probe.HTTPGet.Scheme = "HTTPS"
		want(t, Probe(t.Context(), probe, local), test.want)
	}
}

func TestTheHost(t *testing.T) {
	port := serve(t, func(http.ResponseWriter, *http.Request) {})
	t.Setenv("HTTP_PROXY", fmt.Sprintf("http://127.0.0.1:%d", port)) // which would answer for every host
	for _, test := range []struct{ host, podIP, want string }{
		{"", "127.0.0.1", "<nil>"},
		{"127.0.0.1", "", "<nil>"},
		{"127.0.0.1", "192.0.2.1", "<nil>"},
		{"", "", "the pod has no IP yet"},
		{"pod.invalid", "127.0.0.1", "GET http://pod.invalid:"},
		{"::1", "127.0.0.1", "GET http://[::1]:"},
		{"[::1]", "127.0.0.1", "GET http://[::1]:"},
	} {
		probe := httpProbe("/", port)
		probe.HTTPGet.Host = test.host
		err := Probe(t.Context(), probe, Target{PodIP: test.podIP})
		_, unhealthy := errors.AsType[Unhealthy](err)
		if !strings.HasPrefix(fmt.Sprint(err), test.want) || unhealthy && test.host == "pod.invalid" {
			t.Errorf("host %q, pod IP %q: %v, want %s", test.host, test.podIP, err, test.want)
		}
	}
}

func TestNoConnectionStaysOpen(t *testing.T) {
	closed := make(chan error, 2)
	port := listen(t, func(conn *net.TCPConn) {
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok")
		_, err := io.Copy(io.Discard, conn)
		closed <- err
	})
	for _, probe := range []*api.Probe{tcpProbe(port), httpProbe("/", port)} {
		want(t, Probe(t.Context(), probe, local), "")
		<-closed // or the test hangs here
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cancel":
			cancel(errors.New("the kubelet stops"))
		case "/body":
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	})
	url := fmt.Sprintf("GET http://127.0.0.1:%d/", port)
	want(t, Probe(ctx, httpProbe("/cancel", port), local), "unknown: "+url+"cancel: the kubelet stops")
	// A missing body does not matter. The connection and the header may be late on a busy machine.
	limit := time.Millisecond
	for ; Probe(late(t, limit), httpProbe("/body", port), local) != nil; limit *= 2 {
	}
	want(t, Probe(late(t, limit), httpProbe("/", port), local), "unhealthy: "+url+": no answer within 5s")
}

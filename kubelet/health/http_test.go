package health

import (
	"context"
	"errors"
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

// serve starts a web server on 127.0.0.1.
func serve(t *testing.T, handler http.HandlerFunc) (port int) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.Listener.Addr().(*net.TCPAddr).Port
}

// answer starts a server that sends these bytes to everyone who has asked, and
// closes the connection, or resets it.
func answer(t *testing.T, text string, reset bool) (port int) {
	t.Helper()
	return listen(t, func(conn *net.TCPConn) {
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, text)
		if reset {
			conn.SetLinger(0)
		}
	})
}

// endless starts a server that begins its answer so, and then repeats itself for as
// long as anybody listens.
func endless(t *testing.T, start, again string) (port int) {
	t.Helper()
	return listen(t, func(conn *net.TCPConn) {
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, start)
		for again := strings.Repeat(again, 1000); ; {
			if _, err := io.WriteString(conn, again); err != nil {
				return
			}
		}
	})
}

// listen calls serve for each connection to a port of 127.0.0.1, one after another,
// and then closes it.
func listen(t *testing.T, serve func(*net.TCPConn)) (port int) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-ended
	})
	return listener.Addr().(*net.TCPAddr).Port
}

func TestHTTPIsJudgedByTheStatus(t *testing.T) {
	for status, want := range map[int]Status{
		200: Healthy, 204: Healthy, 302: Healthy, 304: Healthy, 399: Healthy,
		400: Unhealthy, 404: Unhealthy, 500: Unhealthy, 502: Unhealthy, 600: Unhealthy, 999: Unhealthy,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			port := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
			})
			words := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
			if http.StatusText(status) == "" {
				words = fmt.Sprintf("%d status code %d", status, status)
			}
			wantResult(t, Probe(t.Context(), httpProbe("/live", port), local), want,
				fmt.Sprintf("GET http://127.0.0.1:%d/live: %s", port, words))
			err := RunHandler(t.Context(), &api.Handler{HTTPGet: httpGet("/live", port)}, local)
			if (err == nil) != (want == Healthy) {
				t.Errorf("as a hook: %v", err)
			}
		})
	}
}

func TestAnUnhealthyAnswerShowsTheStartOfItsBody(t *testing.T) {
	port := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(503)
		io.WriteString(w, "no database\x1b[2J\n"+strings.Repeat("é", 1<<20))
	})
	got := Probe(t.Context(), httpProbe("", port), local)
	start := fmt.Sprintf("GET http://127.0.0.1:%d/: 503 Service Unavailable: no database?[2J é", port)
	if got.Status != Unhealthy || !strings.HasPrefix(got.Output, start) || !strings.HasSuffix(got.Output, "é…") {
		t.Errorf("%v %q, want unhealthy and %q…", got.Status, got.Output, start)
	}
	if len(got.Output) > 1024 {
		t.Errorf("the output has %d bytes, want 1024 at most", len(got.Output))
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var followed bool
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		followed = followed || r.URL.Path == "/else"
		http.Redirect(w, r, "/else", http.StatusFound)
	})
	if got := Probe(t.Context(), httpProbe("/", port), local); got.Status != Healthy || followed {
		t.Errorf("%v %q, followed: %v; want healthy and not followed", got.Status, got.Output, followed)
	}
}

func TestHealthyIsKnownFromTheHeader(t *testing.T) {
	for name, text := range map[string]string{
		"after an announcement":   "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		"a body that breaks off":  "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
		"an old server's":         "HTTP/1.0 200 OK\r\n\r\nok",
		"a redirect to nowhere":   "HTTP/1.1 301 Moved Permanently\r\n\r\n",
		"a body that is no gzip":  "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabc",
		"a status without a text": "HTTP/1.1 200\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := Probe(t.Context(), httpProbe("/", answer(t, text, false)), local); got.Status != Healthy {
				t.Errorf("%v %q, want healthy", got.Status, got.Output)
			}
		})
	}
}

func TestABodyWithoutAnEndIsReadInPart(t *testing.T) {
	port := endless(t, "HTTP/1.1 200 OK\r\n\r\n", "on and on")
	wantResult(t, Probe(t.Context(), httpProbe("/", port), local), Healthy, fmt.Sprintf("GET http://127.0.0.1:%d/: 200 OK", port))
}

func TestABodyThatHangsIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	port := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	wantResult(t, Probe(ctx, httpProbe("/", port), local), Healthy, fmt.Sprintf("GET http://127.0.0.1:%d/: 200 OK", port))
}

func TestAServerThatDoesNotAnswerWellIsUnhealthy(t *testing.T) {
	for name, test := range map[string]struct {
		port int
		want string
	}{
		"refuses":               {closedPort(t), "connection refused"},
		"closes the connection": {answer(t, "", false), "no complete answer"},
		"resets it":             {answer(t, "", true), "connection reset by peer"},
		"speaks no HTTP":        {answer(t, "SSH-2.0-OpenSSH\x07\r\n", false), `malformed HTTP response "SSH-2.0-OpenSSH\a"`},
		"answers in part":       {answer(t, "HTTP/1.1 200 OK\r\nA: b", false), "no complete answer"},
		"has a huge header":     {answer(t, "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("b", 1<<20), false), "no complete answer"},
		"only announces":        {endless(t, "", "HTTP/1.1 103 Early Hints\r\n\r\n"), "no complete answer"},
		"makes up a status":     {answer(t, "HTTP/1.1 099 Odd\r\n\r\n", false), "099 Odd"},
	} {
		t.Run(name, func(t *testing.T) {
			wantResult(t, Probe(t.Context(), httpProbe("/", test.port), local), Unhealthy,
				fmt.Sprintf("GET http://127.0.0.1:%d/: %s", test.port, test.want))
			err := RunHandler(t.Context(), &api.Handler{HTTPGet: httpGet("/", test.port)}, local)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("as a hook: %v, want %s", err, test.want)
			}
		})
	}
}

func TestTheRequest(t *testing.T) {
	var got *http.Request
	port := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r })
	for path, want := range map[string]string{
		"":               "/",
		"/":              "/",
		"live":           "/live",
		"/live":          "/live",
		"//live":         "//live",
		"live?a=b&c=%20": "/live?a=b&c=%20",
		"?a":             "/?a",
		"/a%2Fb":         "/a%2Fb",
		"/a b":           "/a%20b",
		"/a#b":           "/a",
		"/x@y:1/":        "/x@y:1/",
	} {
		got = nil
		if result := Probe(t.Context(), httpProbe(path, port), local); result.Status != Healthy {
			t.Errorf("path %q: %v", path, result)
			continue
		}
		if got.Method != "GET" || got.RequestURI != want || got.Host != fmt.Sprintf("127.0.0.1:%d", port) {
			t.Errorf("path %q asks %s %s of %s, want GET %s", path, got.Method, got.RequestURI, got.Host, want)
		}
		if agent := got.Header.Get("User-Agent"); agent != "kubelet14" || !got.Close {
			t.Errorf("path %q: User-Agent %q, Connection: close: %v", path, agent, got.Close)
		}
	}
}

func TestAPathThatIsNoneIsUnknown(t *testing.T) {
	port := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("there was a request") })
	wantResult(t, Probe(t.Context(), httpProbe("/%zz", port), local), Unknown, `path "/%zz": invalid URL escape "%zz"`)
}

func TestTheHostOfAnHTTPProbe(t *testing.T) {
	port := serve(t, func(http.ResponseWriter, *http.Request) {})
	for _, test := range []struct {
		host, podIP string
		want        Status
	}{
		{"", "127.0.0.1", Healthy},
		{"127.0.0.1", "", Healthy},
		{"127.0.0.1", "192.0.2.1", Healthy},
		{"", "", Unknown},
	} {
		probe := httpProbe("/", port)
		probe.HTTPGet.Host = test.host
		if got := Probe(t.Context(), probe, Target{PodIP: test.podIP}); got.Status != test.want {
			t.Errorf("host %q, pod IP %q: %v, want %v", test.host, test.podIP, got, test.want)
		}
	}
}

func TestAnIPv6HostIsBracketed(t *testing.T) {
	for _, host := range []string{"2001:db8::1", "[2001:db8::1]"} {
		address, err := local.address(host, api.IntOrString{Int: 8080})
		request, _ := newGet(address, "/live")
		if err != nil || request.URL.String() != "http://[2001:db8::1]:8080/live" {
			t.Errorf("host %s: %v, %v", host, request, err)
		}
	}
}

// A proxy would be asked for a name that this host cannot find, and say yes.
func TestNoProxyIsAsked(t *testing.T) {
	port := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	t.Setenv("HTTP_PROXY", fmt.Sprintf("http://127.0.0.1:%d", port))
	t.Setenv("http_proxy", fmt.Sprintf("http://127.0.0.1:%d", port))
	probe := httpProbe("/", 80)
	probe.HTTPGet.Host = "pod.invalid"
	if got := Probe(t.Context(), probe, local); got.Status != Unknown {
		t.Errorf("%v %q, want unknown", got.Status, got.Output)
	}
}

func TestNoConnectionStaysOpen(t *testing.T) {
	closed := make(chan error, 1)
	port := listen(t, func(conn *net.TCPConn) {
		conn.Read(make([]byte, 4096))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok")
		_, err := conn.Read(make([]byte, 1))
		closed <- err
	})
	for range 2 {
		Probe(t.Context(), httpProbe("/", port), local)
		if err := <-closed; err != io.EOF {
			t.Errorf("the server reads %v, want the end of the connection", err)
		}
	}
}

// silent starts a web server that answers nobody, and a context that is done once
// it was asked: its deadline passes, or it is cancelled.
func silent(t *testing.T, cause error) (ctx context.Context, port int) {
	t.Helper()
	if cause != nil {
		ctx, cancel := context.WithCancelCause(t.Context())
		return ctx, serve(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel(cause)
			<-r.Context().Done()
		})
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("no answer within 200ms"))
	t.Cleanup(cancel)
	return ctx, serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

func TestAServerThatIsSilentIsUnhealthy(t *testing.T) {
	ctx, port := silent(t, nil)
	wantResult(t, Probe(ctx, httpProbe("/", port), local), Unhealthy,
		fmt.Sprintf("GET http://127.0.0.1:%d/: no answer within 200ms", port))
}

func TestAProbeThatIsCancelledIsUnknown(t *testing.T) {
	ctx, port := silent(t, errors.New("the kubelet stops"))
	wantResult(t, Probe(ctx, httpProbe("/", port), local), Unknown,
		fmt.Sprintf("GET http://127.0.0.1:%d/: the kubelet stops", port))
}

func TestAHookThatIsCancelledSaysWhy(t *testing.T) {
	cause := errors.New("a newer wish")
	ctx, port := silent(t, cause)
	if err := RunHandler(ctx, &api.Handler{HTTPGet: httpGet("/", port)}, local); !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
}

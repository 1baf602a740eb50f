package client

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// These tests imitate the daemon, and one that does not answer.

// clientOf returns a client of an imitated daemon on a unix socket.
func clientOf(t *testing.T, daemon http.HandlerFunc) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "docker") // t.TempDir can be too long for a socket
	unittest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "sock")
	serve(t, socket, daemon)
	return mustClient(t, "unix://"+socket)
}

func serve(t *testing.T, socket string, daemon http.HandlerFunc) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	unittest.Must(t, err)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: daemon}}
	server.Start()
	t.Cleanup(server.Close)
}

func mustClient(t *testing.T, endpoint string) *Client {
	t.Helper()
	c, err := New(endpoint)
	unittest.Must(t, err)
	return c
}

// answer is a daemon with the same answer to every request.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// transportOf returns a client whose requests a function answers.
func transportOf(t *testing.T, f roundTripper) *Client {
	c := mustClient(t, "tcp://192.0.2.1:2375")
	c.network = f
	return c
}

// hung returns a client of a daemon that never answers.
func hung(t *testing.T) *Client {
	return transportOf(t, func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
}

// refusing returns a client of a daemon that begins to send an error and does not finish.
func refusing(t *testing.T) *Client { return refusals(streamOf(t, 0, false, `{"mess`)) }

// babbling returns a client of a daemon that sends an error for hours.
func babbling(t *testing.T) *Client {
	return refusals(streamOf(t, time.Second, true, slices.Repeat([]string{" "}, 7200)...))
}

// refusals turns all answers of a daemon into errors.
func refusals(c *Client) *Client {
	network := c.network
	c.network = roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := network.RoundTrip(req)
		if err == nil {
			resp.StatusCode = http.StatusInternalServerError
		}
		return resp, err
	})
	return c
}

// streamOf returns a client of a daemon that sends an answer in pieces, each after a pause, and then stays silent or
// ends the answer.
func streamOf(t *testing.T, pause time.Duration, end bool, pieces ...string) *Client {
	return transportOf(t, func(req *http.Request) (*http.Response, error) {
		r, w := io.Pipe()
		context.AfterFunc(req.Context(), func() { r.CloseWithError(req.Context().Err()) })
		go func() {
			for _, piece := range pieces {
				time.Sleep(pause)
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
			if end {
				w.Close()
			}
		}()
		return &http.Response{StatusCode: http.StatusOK, Body: r, Request: req}, nil
	})
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// calls has a call of each method of a Docker; those that take the id of a container get this one.
func calls(c dockertools.Interface, id string) map[string]func(context.Context) error {
	none := strings.NewReader("")
	return map[string]func(context.Context) error{
		"info":    func(ctx context.Context) error { _, err := c.Info(ctx); return err },
		"list":    func(ctx context.Context) error { _, err := c.ListContainers(ctx, nil); return err },
		"inspect": func(ctx context.Context) error { _, err := c.InspectContainer(ctx, id); return err },
		"create": func(ctx context.Context) error {
			_, err := c.CreateContainer(ctx, dockertools.ContainerSpec{Name: "web", Image: "x:1"})
			return err
		},
		"start":   func(ctx context.Context) error { return c.StartContainer(ctx, id) },
		"stop":    func(ctx context.Context) error { return c.StopContainer(ctx, id, 30*time.Second) },
		"remove":  func(ctx context.Context) error { return c.RemoveContainer(ctx, id) },
		"network": func(ctx context.Context) error { return c.MakeNetwork(ctx, "pods") },
		"unmake":  func(ctx context.Context) error { return c.RemoveNetwork(ctx, "pods") },
		"image":   func(ctx context.Context) error { _, _, err := c.InspectImage(ctx, "a/web:1"); return err },
		"layers":  func(ctx context.Context) error { _, err := c.ImageLayers(ctx, "a/web:1"); return err },
		"images":  func(ctx context.Context) error { _, err := c.ListImages(ctx); return err },
		"rmi":     func(ctx context.Context) error { return c.RemoveImage(ctx, "a/web:1") },
		"sizes":   func(ctx context.Context) error { _, err := c.ContainerSizes(ctx, nil); return err },
		"import":  func(ctx context.Context) error { return c.ImportImage(ctx, "web:1", none) },
		"pull":    func(ctx context.Context) error { return c.PullImage(ctx, "web", dockertools.Auth{}, noProgress) },
		"exec":    func(ctx context.Context) error { _, err := c.Exec(ctx, id, []string{"y"}, io.Discard); return err },
		"logs":    func(ctx context.Context) error { return c.Logs(ctx, id, wholeLog, noLine) },
		"stats":   func(ctx context.Context) error { _, err := c.Stats(ctx, id); return err },
		"events":  func(ctx context.Context) error { return c.WatchEvents(ctx, nil, func(dockertools.Event) {}) },
		"pulls":   func(ctx context.Context) error { return c.WatchPulls(ctx, func(string) {}) },
	}
}

func TestADaemonThatHangsIsGivenUp(t *testing.T) {
	limits := map[string]time.Duration{"stop": 30*time.Second + callLimit, "import": importLimit, "pull": pullLimit}
	for what, hangs := range map[string]func(*testing.T) *Client{"without a word": hung, "in the middle of an error": refusing, "in an error without end": babbling} {
		for name := range calls(nil, "") {
			synctest.Test(t, func(t *testing.T) {
				want := max(callLimit, limits[name])
				began := time.Now()
				err := calls(hangs(t), "web")[name](t.Context())
				if took := time.Since(began); took != want {
					t.Errorf("%s %s: came back after %v, want %v", name, what, took, want)
				}
				// Docker has failed; the caller has not given up.
				if err == nil || isContextError(err) || !strings.Contains(err.Error(), "no answer") {
					t.Errorf("%s %s: got %v, want an error about the missing answer", name, what, err)
				}
				time.Sleep(time.Second) // the daemon ends
			})
		}
	}
}

func TestARefusalWithoutWordsNamesItsStatus(t *testing.T) {
	for _, body := range []string{"", "\n", `{"message": ""}`} {
		_, err := clientOf(t, answer(http.StatusBadGateway, body)).ListContainers(t.Context(), nil)
		unittest.Says(t, err, "list containers: 502 Bad Gateway")
	}
}

func TestTheLimitIsForTheSilenceOfAStream(t *testing.T) {
	lines := slices.Repeat([]string{stamped(1, 1, "line\n")}, 5)
	messages := slices.Repeat([]string{`{"status":"Downloading","id":"aaa"}`}, 5)
	logs := func(follow bool, takes time.Duration) func(*Client, func()) error {
		opts := wholeLog
		opts.Follow = follow
		return func(c *Client, got func()) error {
			return c.Logs(context.Background(), "web", opts, func(dockertools.LogLine) error { got(); time.Sleep(takes); return nil })
		}
	}
	pull := func(c *Client, got func()) error {
		return c.PullImage(context.Background(), "web", dockertools.Auth{}, func(dockertools.PullProgress) { got() })
	}
	events := func(c *Client, got func()) error {
		return c.WatchEvents(context.Background(), nil, func(e dockertools.Event) {
			if e.ID != "" {
				got()
			}
		})
	}
	list := func(c *Client, _ func()) error { _, err := c.ListContainers(context.Background(), nil); return err }
	for name, test := range map[string]struct {
		call   func(*Client, func()) error
		pieces []string
		pause  time.Duration
		end    bool
		want   int
		err    string
	}{
		"a long log":             {logs(false, 0), lines, callLimit - time.Second, true, 5, ""},
		"a slow reader":          {logs(false, time.Hour), lines, time.Second, true, 5, ""},
		"a log that hangs":       {logs(false, 0), lines, callLimit + time.Second, true, 0, "no answer"},
		"a log that is followed": {logs(true, 0), lines, 24 * time.Hour, true, 5, ""},
		"a long pull":            {pull, messages, pullLimit - time.Second, true, 5, ""},
		"a pull that hangs":      {pull, messages, time.Second, false, 5, "no answer"},
		"a long list":            {list, []string{"[", "]"}, callLimit - time.Second, true, 0, ""},
		"a list that hangs":      {list, []string{"["}, time.Second, false, 0, "no answer"},
		"events":                 {events, slices.Repeat([]string{`{"Actor":{"ID":"0123"}}`}, 5), 24 * time.Hour, true, 5, "ended the stream"},
	} {
		synctest.Test(t, func(t *testing.T) {
			got := 0
			c := streamOf(t, test.pause, test.end, test.pieces...)
			c.Observe = func(_, _ string, took time.Duration) {
				if took != 0 {
					t.Errorf("%s: the request took %v, want the time until its answer began", name, took)
				}
			}
			err := test.call(c, func() { got++ })
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || isContextError(err) {
				t.Errorf("%s: %d pieces, %v; want %d and %q", name, got, err, test.want, test.err)
			}
			time.Sleep(test.pause) // the daemon ends
		})
	}
}

func TestErrorsHaveTheDaemonsWordsAndTheirKind(t *testing.T) {
	kinds := []error{
		dockertools.ErrLogNotKept, dockertools.ErrNotRunning, dockertools.ErrNoSuchContainer, dockertools.ErrNoSuchImage, dockertools.ErrNoSuchNetwork,
		dockertools.ErrNameTaken, dockertools.ErrImageNotFound, dockertools.ErrUnauthorised,
	}
	for _, tt := range []struct {
		call   string
		status int
		text   string
		want   error // nil: none of the kinds
	}{
		{"create", 404, "No such container: 0123", dockertools.ErrNoSuchContainer}, // the network container
		{"create", 404, "unknown runtime", nil},
		{"create", 409, "the image is being removed", nil},
		{"start", 500, "failed to initialize logging driver: dial tcp 127.0.0.1:514: connect: connection refused", nil}, // the library's own words for that are others
		{"remove", 409, "removal of container web is already in progress", nil},
		{"logs", 501, "configured logging driver does not support reading", dockertools.ErrLogNotKept},
		{"list", 500, "out of cheese", nil},
		{"events", 500, "out of cheese", nil},
		{"import", 500, "out of cheese", nil},
		// The words of Docker 20.10 with real registries, and of newer ones.
		{"pull", 500, "manifest for example.com/unauthorized:2 not found: manifest unknown: Unknown manifest", dockertools.ErrImageNotFound},
		{"pull", 500, "repository example.com/nosuch not found: name unknown: Unknown name", dockertools.ErrImageNotFound},
		{"pull", 500, "pull access denied for web, repository does not exist or may require 'docker login': denied", dockertools.ErrImageNotFound},
		{"pull", 500, `failed to resolve reference "docker.io/library/web:2": docker.io/library/web:2: not found`, dockertools.ErrImageNotFound},
		{"pull", 500, `unknown: {"errors":[{"code":"MANIFEST_UNKNOWN","message":"Unknown manifest"}]}`, dockertools.ErrImageNotFound}, // 26, and a registry that does not say that this is JSON
		{"pull", 500, `failed to resolve reference "example.com/web:1": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials`,
			dockertools.ErrUnauthorised},
		{"pull", 500, `Head "https://example.com/v2/web/manifests/1": no basic auth credentials`, dockertools.ErrUnauthorised},
		{"pull", 500, `Get "https://example.com/v2/library/web/manifests/1": unauthorized: incorrect username or password`, dockertools.ErrUnauthorised},
		{"pull", 500, `Get "http://127.0.0.1:5000/v2/": dial tcp 127.0.0.1:5000: connect: connection refused`, nil},
		{"pull", 500, "toomanyrequests: You have reached your pull rate limit.", nil},
		{"pull", 200, "manifest unknown", dockertools.ErrImageNotFound}, // inside the stream
		{"pull", 200, "download failed: unexpected EOF", nil},
		{"pull", 500, "no\nI0101 a line of its own", nil},
	} {
		body, _ := json.Marshal(map[string]any{"message": tt.text, "errorDetail": map[string]string{"message": tt.text}})
		// The error of a pull begins with the image, so Docker's words need not name it.
		tt.text = strings.NewReplacer(" for example.com/unauthorized:2", "", " example.com/nosuch", "", "denied for web", "denied", "\n", "; ").Replace(tt.text)
		c := clientOf(t, answer(tt.status, string(body)))
		var outcomes []string
		c.Observe = func(_, outcome string, _ time.Duration) { outcomes = append(outcomes, outcome) }
		err := calls(c, "web")[tt.call](t.Context())
		if err == nil || !strings.HasSuffix(err.Error(), ": "+tt.text) || strings.Contains(err.Error(), "API error") {
			t.Errorf("%s: got %v, want what was done and the daemon's own words %q", tt.call, err, tt.text)
		}
		for _, kind := range kinds {
			if got := errors.Is(err, kind); got != (kind == tt.want) {
				t.Errorf("%s: errors.Is(%v, %v) is %v", tt.call, err, kind, got)
			}
		}
		if want := []string{"refused"}; tt.status != 200 && !slices.Equal(outcomes, want) {
			t.Errorf("%s: observed %q, want %q", tt.call, outcomes, want)
		}
	}
}

func TestAClientWorksOnceTheDaemonIsThere(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "sock")
	t.Setenv("DOCKER_HOST", "unix://"+socket)
	c := mustClient(t, "")
	observed := ""
	c.Observe = func(_, outcome string, _ time.Duration) { observed = outcome }
	_, err := c.Info(t.Context())
	unittest.Says(t, fmt.Errorf("%s: %w", observed, err), "failed", "cannot reach Docker", "unix://"+socket, "is it running", "-docker_endpoint")
	for _, wrong := range []string{"ssh://host", "/var/run/docker.sock", "tcp://host"} {
		_, err = New(wrong)
		unittest.Says(t, err, `"`+wrong+`"`, "unix:///var/run/docker.sock")
	}
	refused := transportOf(t, func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	})
	for _, name := range []string{"info", "events"} {
		unittest.Says(t, calls(refused, "web")[name](t.Context()), refused.endpoint, "docker group", "sudo")
	}
	serve(t, socket, answer(200, `{"ServerVersion":"20.10.24","OSType":"linux","Architecture":"x86_64","LoggingDriver":"journald"}`))
	want := dockertools.Info{Version: "20.10.24", OS: "linux", Arch: "amd64", LogDriver: "journald"}
	if got, err := c.Info(t.Context()); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(answer(200, `{"ServerVersion":"secret","Action":"oom","Actor":{"ID":"0123","Attributes":{"name":"web"}}}`))
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	unittest.Must(t, err)
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	dir := t.TempDir()
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	t.Setenv("DOCKER_CERT_PATH", dir)
	endpoint := "tcp://" + server.Listener.Addr().String()
	writeFile(t, filepath.Join(dir, "cert.pem"), cert)
	writeFile(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	// Without ca.pem the daemon would go unverified.
	_, err = New(endpoint)
	unittest.Says(t, err, filepath.Join(dir, "ca.pem"))
	writeFile(t, filepath.Join(dir, "ca.pem"), cert)
	c := mustClient(t, endpoint)
	if v, err := c.Info(t.Context()); err != nil || v.Version != "secret" {
		t.Errorf("got %+v, %v", v, err)
	}
	var seen []dockertools.Event
	err = c.WatchEvents(t.Context(), nil, func(e dockertools.Event) { seen = append(seen, e) })
	if want := []dockertools.Event{{}, {ID: "0123", OutOfMemory: true}}; !slices.Equal(seen, want) {
		t.Errorf("events: got %v, %v", seen, err)
	}
}

// The library must never ask for the API version during a call: it keeps the answer
// without a lock. With -race this fails when it does.
func TestObserveAndManyGoroutines(t *testing.T) {
	want := map[string]int{
		"GET /info": 10, "GET /events": 20, "GET /containers/json": 20, "POST /containers/create": 10,
		"GET /containers/{id}/json": 10, "POST /containers/{id}/start": 10, "POST /containers/{id}/stop": 10, "DELETE /containers/{id}": 10,
		"GET /containers/{id}/logs": 10, "GET /containers/{id}/stats": 10, "GET /images/{name}/json": 20, "GET /images/json": 10, "DELETE /images/{name}": 10, "POST /images/create": 20,
		"POST /containers/{id}/exec": 10, "POST /exec/{id}/start": 10, "GET /exec/{id}/json": 10,
		"POST /networks/create": 10, "GET /networks": 10, "DELETE /networks/{id}": 10,
	}
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/logs"), strings.HasPrefix(r.URL.Path, "/exec") && strings.HasSuffix(r.URL.Path, "/start"):
		case r.URL.Path == "/containers/json", r.URL.Path == "/images/json":
			io.WriteString(w, "[]")
		case r.URL.Path == "/networks":
			io.WriteString(w, `[{"Id":"5f0c9a7e4b1d"}]`)
		default:
			io.WriteString(w, `{"Id":"5f0c9a7e4b1d","Config":{},"State":{}}`)
		}
	})
	var mu sync.Mutex
	got := map[string]int{}
	c.Observe = func(operation, outcome string, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if got[operation]++; outcome != "ok" {
			t.Errorf("%s: %s", operation, outcome)
		}
	}
	var all sync.WaitGroup
	for _, call := range calls(c, "5f0c9a7e4b1d") {
		for range 10 {
			all.Go(func() { _ = call(t.Context()) })
		}
	}
	all.Wait()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
}

const stamp = "2026-11-21T16:40:%02d.614926242Z "

// piece is a frame of a stream: 1 is stdout, 2 is stderr.
func piece(stream byte, text string) string {
	return string(binary.BigEndian.AppendUint32([]byte{stream, 0, 0, 0}, uint32(len(text)))) + text
}

func stamped(stream byte, second int, text string) string {
	return piece(stream, fmt.Sprintf(stamp, second)+text)
}

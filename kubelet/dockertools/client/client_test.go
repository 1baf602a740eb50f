package client

import (
	"context"
	"crypto/x509"
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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// clientOf makes a client of a daemon that the test plays, on a Unix socket as
// most are.
func clientOf(t *testing.T, daemon http.HandlerFunc) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "docker") // t.TempDir can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "sock")
	serve(t, socket, daemon)
	return mustClient(t, "unix://"+socket)
}

func serve(t *testing.T, socket string, daemon http.HandlerFunc) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: daemon}}
	server.Start()
	t.Cleanup(server.Close)
}

func mustClient(t *testing.T, endpoint string) *Client {
	t.Helper()
	c, err := New(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is a daemon that says the same to everybody.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestClientWorksOnceTheDaemonHasCome(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "sock")
	c := mustClient(t, "unix://"+socket)

	// Step: nobody listens yet.
	_, err := c.Version(t.Context())
	if err == nil {
		t.Fatal("no error without a daemon")
	}
	for _, want := range []string{"unix://" + socket, "is it running", "-docker_endpoint"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not say %q: %v", want, err)
		}
	}

	// Step: the daemon starts, and the same client works.
	serve(t, socket, answer(200, `{"Version":"20.10.24","ApiVersion":"1.41","Os":"linux","Arch":"x86_64"}`))
	got, err := c.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := dockertools.Version{Version: "20.10.24", APIVersion: "1.41", OS: "linux", Arch: "amd64"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestClientSpellsArchitecturesAsGoDoes(t *testing.T) {
	for daemon, want := range map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "riscv64": "riscv64"} {
		v, err := clientOf(t, answer(200, fmt.Sprintf(`{"Arch":%q}`, daemon))).Version(t.Context())
		if err != nil || v.Arch != want {
			t.Errorf("a daemon on %q: got %q, %v, want %q", daemon, v.Arch, err, want)
		}
	}
}

func TestClientTakesTheEndpointFromTheEnvironment(t *testing.T) {
	server := httptest.NewServer(answer(200, `{"Version":"here"}`))
	defer server.Close()
	t.Setenv("DOCKER_HOST", "tcp://"+server.Listener.Addr().String())
	v, err := mustClient(t, "").Version(t.Context())
	if err != nil || v.Version != "here" {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestClientRefusesAnEndpointItCannotUse(t *testing.T) {
	_, err := New("ssh://host")
	if err == nil || !strings.Contains(err.Error(), `"ssh://host"`) || !strings.Contains(err.Error(), "unix:///var/run/docker.sock") {
		t.Errorf("got %v, want an error that names the endpoint and shows a good one", err)
	}
}

// Calls from many goroutines must never make the library ask for the API version
// behind our back: it keeps the answer without a lock. With -race this fails when
// they do.
func TestClientIsForManyGoroutines(t *testing.T) {
	var mu sync.Mutex
	versionAsked := 0
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/version") {
			mu.Lock()
			versionAsked++
			mu.Unlock()
		}
		w.WriteHeader(http.StatusNoContent)
	})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if err := c.StartContainer(t.Context(), fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if versionAsked > 0 {
		t.Errorf("the library asked for the version %d times", versionAsked)
	}
}

func TestClientKeepsTheDaemonsWordsAndSaysWhichErrorItIs(t *testing.T) {
	create := func(c *Client) error {
		_, err := c.CreateContainer(context.Background(), dockertools.ContainerSpec{Name: "web", Image: "x:1"})
		return err
	}
	start := func(c *Client) error { return c.StartContainer(context.Background(), "web") }
	stop := func(c *Client) error { return c.StopContainer(context.Background(), "web", 0) }
	remove := func(c *Client) error { return c.RemoveContainer(context.Background(), "web") }
	inspect := func(c *Client) error { _, err := c.InspectContainer(context.Background(), "web"); return err }
	image := func(c *Client) error { _, err := c.InspectImage(context.Background(), "web"); return err }
	list := func(c *Client) error { _, err := c.ListContainers(context.Background(), nil); return err }
	events := func(c *Client) error { return c.WatchEvents(context.Background(), nil, func(dockertools.Event) {}) }
	imported := func(c *Client) error {
		return c.ImportImage(context.Background(), "web:1", strings.NewReader("x"))
	}
	rename := func(c *Client) error { return c.RenameContainer(context.Background(), "web", "new") }
	exec := func(c *Client) error {
		_, err := c.Exec(context.Background(), "web", []string{"date"}, io.Discard)
		return err
	}
	logs := func(c *Client) error { return c.Logs(context.Background(), "web", wholeLog, noLine) }
	stats := func(c *Client) error { _, err := c.Stats(context.Background(), "web"); return err }
	kinds := []error{dockertools.ErrLogNotKept, dockertools.ErrNotRunning, dockertools.ErrNoSuchContainer, dockertools.ErrNoSuchImage, dockertools.ErrNameTaken, dockertools.ErrImageNotFound, dockertools.ErrUnauthorised}

	for _, tt := range []struct {
		name   string
		call   func(*Client) error
		status int
		text   string
		want   error // nil: none of the kinds
	}{
		{"create: the image is missing", create, 404, "No such image: x:1", dockertools.ErrNoSuchImage},
		{"create: the network container is missing", create, 404, "No such container: 0123", dockertools.ErrNoSuchContainer},
		{"create: something else is missing", create, 404, "unknown runtime", nil},
		{"create: the name is taken", create, 409, `Conflict. The container name "/web" is already in use by container "0123". You have to remove (or rename) that container to be able to reuse that name.`, dockertools.ErrNameTaken},
		{"create: another conflict", create, 409, "the image is being removed", nil},
		{"create: a bad request", create, 400, "bind source path does not exist: /x", nil},
		{"start: gone", start, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"start: no such command", start, 400, "exec: not found", nil},
		{"stop: gone", stop, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"remove: gone", remove, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"remove: in progress", remove, 409, "removal of container web is already in progress", nil},
		{"inspect: gone", inspect, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"rename: gone", rename, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"rename: the name is taken", rename, 409, `Error when allocating new name: Conflict. The container name "/new" is already in use by container "0123". You have to remove (or rename) that container to be able to reuse that name.`, dockertools.ErrNameTaken},
		{"exec: gone", exec, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"exec: not running", exec, 409, "Container 0123 is not running", dockertools.ErrNotRunning},
		{"exec: paused", exec, 409, "Container 0123 is paused, unpause the container before exec", nil},
		{"logs: gone", logs, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"logs: not kept", logs, 501, "configured logging driver does not support reading", dockertools.ErrLogNotKept},
		{"stats: gone", stats, 404, "No such container: web", dockertools.ErrNoSuchContainer},
		{"image: missing", image, 404, "No such image: web", dockertools.ErrNoSuchImage},
		{"list: the daemon fails", list, 500, "out of cheese", nil},
		{"events: the daemon fails", events, 500, "out of cheese", nil},
		{"import: the daemon fails", imported, 500, "out of cheese", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, _ := json.Marshal(map[string]string{"message": tt.text})
			err := tt.call(clientOf(t, answer(tt.status, string(body))))
			if err == nil || !strings.HasSuffix(err.Error(), ": "+tt.text) || strings.Contains(err.Error(), "API error") {
				t.Errorf("got %v, want what was done and the daemon's own words %q", err, tt.text)
			}
			for _, kind := range kinds {
				if got := errors.Is(err, kind); got != (kind == tt.want) {
					t.Errorf("errors.Is(%v, %v) is %v", err, kind, got)
				}
			}
		})
	}
}

func TestClientTellsWhatToDoWithoutPermission(t *testing.T) {
	c := mustClient(t, "unix:///run/docker.sock")
	c.network = roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	})
	for what, call := range map[string]func() error{
		"a call": func() error { _, err := c.Version(t.Context()); return err },
		"events": func() error { return c.WatchEvents(t.Context(), nil, func(dockertools.Event) {}) },
	} {
		err := call()
		for _, want := range []string{"unix:///run/docker.sock", "docker group", "sudo"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error does not say %q: %v", what, want, err)
			}
		}
	}
}

func TestClientReadsTheList(t *testing.T) {
	c := clientOf(t, answer(200, `[{
		"Id": "0123", "Names": ["/other/alias", "/web"], "Image": "x:1", "Created": 1700000000,
		"Labels": {"a": "b"}, "State": "running", "Status": "Up 2 hours",
		"Ports": [
			{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
			{"IP": "::",      "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
			{"IP": "127.0.0.1", "PrivatePort": 53, "PublicPort": 53, "Type": "udp"},
			{"PrivatePort": 443, "Type": "tcp"}],
		"NetworkSettings": {"Networks": {"b": {"EndpointID": "e2"}, "a": {"EndpointID": "e1"}, "c": {}}}
	}, {"Id": "4567", "State": "removing"}]`))
	got, err := c.ListContainers(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []dockertools.Container{{
		ID: "0123", Name: "web", Image: "x:1", Labels: map[string]string{"a": "b"},
		State: dockertools.StateRunning, Status: "Up 2 hours", Created: time.Unix(1700000000, 0), Endpoint: "e1e2",
		Ports: []dockertools.PublishedPort{
			{HostIP: "127.0.0.1", HostPort: 53, ContainerPort: 53, Protocol: "udp"},
			{HostPort: 8080, ContainerPort: 80, Protocol: "tcp"},
		},
	}, {ID: "4567", State: dockertools.StateRemoving, Created: time.Unix(0, 0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestClientSeesTheEventStreamBreak(t *testing.T) {
	c := clientOf(t, answer(200, `{"Type":"container","Action":"die","Actor":{"ID":"0123","Attributes":{"name":"web"}}}
		{"Type":"container","Action":"oom","Actor":{"ID":"0123"}}`))
	var got []dockertools.Event
	err := c.WatchEvents(t.Context(), nil, func(e dockertools.Event) { got = append(got, e) })
	if err == nil || !strings.Contains(err.Error(), "ended the stream") {
		t.Errorf("got %v, want an error about the end of the stream", err)
	}
	if diff := cmp.Diff([]dockertools.Event{{}, {ID: "0123", Name: "web"}, {ID: "0123", OutOfMemory: true}}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestClientWantsATagToImport(t *testing.T) {
	for _, image := range []string{"web", "host:5000/web"} {
		err := hung(t).ImportImage(t.Context(), image, strings.NewReader(""))
		if err == nil || !strings.Contains(err.Error(), image+":1") {
			t.Errorf("%q: got %v, want an error that shows a name with a tag", image, err)
		}
	}
}

func TestClientUsesTLS(t *testing.T) {
	server := httptest.NewTLSServer(answer(200, `{"Version":"secret","Actor":{"ID":"0123"}}`))
	defer server.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	dir := t.TempDir()
	t.Setenv("DOCKER_TLS_VERIFY", "1")
	t.Setenv("DOCKER_CERT_PATH", dir)
	endpoint := "tcp://" + server.Listener.Addr().String()

	// Step: a file is missing; the daemon must not go unverified.
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(endpoint); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "ca.pem")) {
		t.Fatalf("got %v, want an error that names ca.pem", err)
	}

	// Step: with all three, calls and events go through.
	t.Setenv("DOCKER_CERT_PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), cert, 0o600); err != nil {
		t.Fatal(err)
	}
	c := mustClient(t, endpoint)
	if v, err := c.Version(t.Context()); err != nil || v.Version != "secret" {
		t.Errorf("got %+v, %v", v, err)
	}
	var seen []dockertools.Event
	err = c.WatchEvents(t.Context(), nil, func(e dockertools.Event) { seen = append(seen, e) })
	if len(seen) != 2 || seen[1].ID != "0123" {
		t.Errorf("events: got %v, %v", seen, err)
	}
}

package client

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// observed is what a client tells its observer.
type observed struct {
	mu       sync.Mutex
	requests []string // operation and outcome
	took     time.Duration
}

func observe(c *Client) *observed {
	o := &observed{}
	c.Observe = func(operation, outcome string, took time.Duration) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.requests = append(o.requests, operation+" "+outcome)
		o.took = took
	}
	return o
}

func TestClientTellsOfEachRequestWithoutSayingOfWhichObject(t *testing.T) {
	const id = "5f0c9a7e4b1d"
	want := map[string][]string{
		"version": {"GET /version ok"},
		"list":    {"GET /containers/json ok"},
		"inspect": {"GET /containers/{id}/json ok"},
		"create":  {"POST /containers/create ok"},
		"start":   {"POST /containers/{id}/start ok"},
		"stop":    {"POST /containers/{id}/stop ok"},
		"remove":  {"DELETE /containers/{id} ok"},
		"image":   {"GET /images/{name}/json ok"},
		"rename":  {"POST /containers/{id}/rename ok"},
		"import":  {"POST /images/create ok"},
		"pull":    {"POST /images/create ok"},
		"exec":    {"POST /containers/{id}/exec ok", "POST /exec/{id}/start ok", "GET /exec/{id}/json ok"},
		"logs":    {"GET /containers/{id}/logs ok"},
		"driver":  {"GET /info ok"},
		"events":  {"GET /events ok"},
	}
	daemon := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/create") && strings.HasPrefix(r.URL.Path, "/containers"), strings.HasSuffix(r.URL.Path, "/exec"):
			w.WriteHeader(http.StatusCreated)
		case strings.HasSuffix(r.URL.Path, "/logs"), strings.HasSuffix(r.URL.Path, "/start") && strings.HasPrefix(r.URL.Path, "/exec"):
			return // what they print is nothing
		case r.URL.Path == "/containers/json":
			io.WriteString(w, "[]")
			return
		}
		io.WriteString(w, `{"Id":"`+id+`","Config":{},"State":{}}`)
	}
	for name, requests := range want {
		c := clientOf(t, daemon)
		o := observe(c)
		_ = calls(c)[name](t.Context()) // the events end with an error
		if diff := cmp.Diff(requests, o.requests); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", name, diff)
		}
	}
}

func TestOperationsHideNames(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/images/127.0.0.1:5000/team/web:1/json", "GET /images/{name}/json"},
		{"GET", "/images/create/json", "GET /images/{name}/json"},
		{"GET", "/containers/5f0c/stats", "GET /containers/{id}/stats"},
		{"GET", "/_ping", "GET /_ping"},
	} {
		if got := operation(test.method, test.path); got != test.want {
			t.Errorf("%s %s is %q, want %q", test.method, test.path, got, test.want)
		}
	}
}

func TestClientTellsHowARequestCameOut(t *testing.T) {
	c := clientOf(t, answer(404, `{"message":"No such image: x"}`))
	o := observe(c)
	c.InspectImage(t.Context(), "x")
	if want := []string{"GET /images/{name}/json " + OutcomeRefused}; !slices.Equal(o.requests, want) {
		t.Errorf("an image that is not there: %q, want %q", o.requests, want)
	}

	c = mustClient(t, "unix://"+filepath.Join(t.TempDir(), "nobody"))
	o = observe(c)
	c.Version(t.Context())
	if want := []string{"GET /version " + OutcomeFailed}; !slices.Equal(o.requests, want) {
		t.Errorf("without a daemon: %q, want %q", o.requests, want)
	}
}

func TestClientTellsTheTimeUntilAnAnswerBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mustClient(t, "tcp://192.0.2.1:2375")
		c.network = roundTripper(func(req *http.Request) (*http.Response, error) {
			time.Sleep(3 * time.Second)
			body, daemon := io.Pipe()
			time.AfterFunc(time.Hour, func() { daemon.Close() })
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
		})
		o := observe(c)
		if err := c.WatchEvents(context.Background(), nil, func(dockertools.Event) {}); err == nil {
			t.Error("the stream has no end")
		}
		if o.took != 3*time.Second {
			t.Errorf("a stream of an hour that began after 3s took %v", o.took)
		}
	})
}

package client

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// pullBy pulls an image from a daemon that sends these messages.
func pullBy(t *testing.T, image string, messages ...string) (heard []dockertools.PullProgress, err error) {
	t.Helper()
	c := clientOf(t, answer(200, strings.Join(messages, "\n")))
	err = c.PullImage(t.Context(), image, dockertools.Auth{}, func(p dockertools.PullProgress) { heard = append(heard, p) })
	return heard, err
}

func TestPullTellsOfItsProgress(t *testing.T) {
	type step struct {
		message string
		want    dockertools.PullProgress
	}
	steps := []step{
		{`{"status":"Pulling from web","id":"1"}`, dockertools.PullProgress{}},
		{`{"status":"Already exists","progressDetail":{},"id":"aaa"}`, dockertools.PullProgress{Layers: 1, LayersDone: 1}},
		{`{"status":"Pulling fs layer","progressDetail":{},"id":"bbb"}`, dockertools.PullProgress{Layers: 2, LayersDone: 1}},
		{`{"status":"Pulling fs layer","progressDetail":{},"id":"ccc"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1}},
		{`{"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 10, TotalBytes: 100}},
		{`{"status":"Downloading","progressDetail":{"current":7,"total":-1},"id":"ccc"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 17, TotalBytes: 107}}, // the registry does not say how much
		{`{"status":"Retrying in 5 seconds","progressDetail":{},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 17, TotalBytes: 107}},
		{`{"status":"Downloading","progressDetail":{"current":60,"total":100},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 67, TotalBytes: 107}},
		{`{"status":"Verifying Checksum","progressDetail":{},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 67, TotalBytes: 107}},
		{`{"status":"Download complete","progressDetail":{},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 107, TotalBytes: 107}},
		{`{"status":"Extracting","progressDetail":{"current":3,"total":100},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 1, Bytes: 107, TotalBytes: 107}},
		{`{"status":"Pull complete","progressDetail":{},"id":"bbb"}`, dockertools.PullProgress{Layers: 3, LayersDone: 2, Bytes: 107, TotalBytes: 107}},
		{`{"status":"Pull complete","progressDetail":{},"id":"ccc"}`, dockertools.PullProgress{Layers: 3, LayersDone: 3, Bytes: 107, TotalBytes: 107}},
		{`{"status":"Downloading","progressDetail":{"current":1,"total":10},"id":"ddd"}`, dockertools.PullProgress{Layers: 4, LayersDone: 3, Bytes: 108, TotalBytes: 117}},
		{`{"status":"Pull complete","progressDetail":{},"id":"ddd"}`, dockertools.PullProgress{Layers: 4, LayersDone: 4, Bytes: 117, TotalBytes: 117}}, // and nothing in between
		{`{"status":"Downloading","progressDetail":{"current":1,"total":10},"id":"eee"}`, dockertools.PullProgress{Layers: 5, LayersDone: 4, Bytes: 118, TotalBytes: 127}},
		{`{"status":"Extracting","progressDetail":{"current":1,"total":10},"id":"eee"}`, dockertools.PullProgress{Layers: 5, LayersDone: 4, Bytes: 127, TotalBytes: 127}},
		{`{"status":"Pull complete","progressDetail":{},"id":"eee"}`, dockertools.PullProgress{Layers: 5, LayersDone: 5, Bytes: 127, TotalBytes: 127}},
		{`{"status":"Digest: sha256:0123"}`, dockertools.PullProgress{Layers: 5, LayersDone: 5, Bytes: 127, TotalBytes: 127}},
		{`{"status":"Status: Downloaded newer image for web:1"}`, dockertools.PullProgress{Layers: 5, LayersDone: 5, Bytes: 127, TotalBytes: 127}},
	}
	var messages []string
	var want []dockertools.PullProgress
	for _, s := range steps {
		messages, want = append(messages, s.message), append(want, s.want)
	}
	got, err := pullBy(t, "web:1", messages...)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestPullThatBreaksIsAnError(t *testing.T) {
	begun := `{"status":"Pulling fs layer","progressDetail":{},"id":"aaa"}`
	refused := `{"errorDetail":{"message":"download failed: unexpected EOF"},"error":"download failed: unexpected EOF"}`
	if _, err := pullBy(t, "web:1", begun, refused); err == nil || err.Error() != `pull image "web:1": download failed: unexpected EOF` {
		t.Errorf("an error inside the stream: %v, want what was done and the daemon's own words", err)
	}
	if _, err := pullBy(t, "web:1", begun, `{"status":"Downlo`); err == nil {
		t.Error("a stream that ends in the middle of a message is no error")
	}
	c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, begun)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	if err := c.PullImage(t.Context(), "web:1", dockertools.Auth{}, noProgress); err == nil || !strings.Contains(err.Error(), c.endpoint) {
		t.Errorf("a stream that is cut between two messages: %v", err)
	}
}

// The words of Docker 20.10 with real registries, and of newer ones.
func TestPullErrorsSayWhatTheRegistryMeant(t *testing.T) {
	for text, want := range map[string]error{
		"manifest for example.com/unauthorized:2 not found: manifest unknown: Unknown manifest":                                                   dockertools.ErrImageNotFound,
		"repository example.com/nosuch not found: name unknown: Unknown name":                                                                     dockertools.ErrImageNotFound,
		"pull access denied for web, repository does not exist or may require 'docker login': denied: requested access to the resource is denied": dockertools.ErrImageNotFound,
		`failed to resolve reference "docker.io/library/web:2": docker.io/library/web:2: not found`:                                               dockertools.ErrImageNotFound,
		`Head "https://example.com/v2/web/manifests/1": no basic auth credentials`:                                                                dockertools.ErrUnauthorised,
		"unauthorized": dockertools.ErrUnauthorised,
		`Get "https://example.com/v2/library/web/manifests/1": unauthorized: incorrect username or password`:                                  dockertools.ErrUnauthorised,
		`failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://example.com/token: 401 Unauthorized`: dockertools.ErrUnauthorised,
		`Get "http://127.0.0.1:5000/v2/": dial tcp 127.0.0.1:5000: connect: connection refused`:                                               nil,
		`Get "https://example.com/v2/": dial tcp: lookup example.com: no such host`:                                                           nil,
		"error pulling image configuration: download failed after attempts=6: unexpected EOF":                                                 nil,
		"toomanyrequests: You have reached your pull rate limit.":                                                                             nil,
		"no matching manifest for linux/arm64/v8 in the manifest list entries":                                                                nil,
		"write /var/lib/docker/tmp/GetImageBlob1: no space left on device":                                                                    nil,
	} {
		body, _ := json.Marshal(map[string]string{"message": text, "error": text})
		for where, status := range map[string]int{"as an answer": 500, "inside the stream": 200} {
			err := clientOf(t, answer(status, string(body))).PullImage(t.Context(), "web:1", dockertools.Auth{}, noProgress)
			if err == nil || !strings.HasSuffix(err.Error(), ": "+text) {
				t.Errorf("%s: got %v, want the daemon's own words %q", where, err, text)
			}
			for _, kind := range []error{dockertools.ErrImageNotFound, dockertools.ErrUnauthorised} {
				if got := errors.Is(err, kind); got != (kind == want) {
					t.Errorf("%s: errors.Is(%v, %v) is %v", where, err, kind, got)
				}
			}
		}
	}
}

func TestPullAsksForOneImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for image, want := range map[string]url.Values{
		"web":                           {"fromImage": {"docker.io/library/web"}, "tag": {"latest"}},
		"web:2":                         {"fromImage": {"docker.io/library/web"}, "tag": {"2"}},
		"127.0.0.1:5000/team/web":       {"fromImage": {"127.0.0.1:5000/team/web"}, "tag": {"latest"}},
		"example.com/web@" + digest:     {"fromImage": {"example.com/web"}, "tag": {digest}},
		"example.com/web:any@" + digest: {"fromImage": {"example.com/web"}, "tag": {digest}},
	} {
		c := clientOf(t, func(_ http.ResponseWriter, r *http.Request) {
			if diff := cmp.Diff(want, r.URL.Query()); diff != "" || r.URL.Path != "/images/create" || r.Method != http.MethodPost {
				t.Errorf("%s: asked with %s %s: -want +got\n%s", image, r.Method, r.URL, diff)
			}
			if auth, ok := r.Header["X-Registry-Auth"]; ok {
				t.Errorf("%s: asked as nobody with the header %q", image, auth)
			}
		})
		if err := c.PullImage(t.Context(), image, dockertools.Auth{}, noProgress); err != nil {
			t.Error(err)
		}
	}
	if err := hung(t).PullImage(t.Context(), "Not An Image", dockertools.Auth{}, noProgress); err == nil || !strings.Contains(err.Error(), `"Not An Image"`) {
		t.Errorf("no image name: %v", err)
	}
}

func TestPullShowsTheCredentials(t *testing.T) {
	for _, auth := range []dockertools.Auth{
		{Username: "user", Password: "pass?>~", ServerAddress: "example.com"},
		{IdentityToken: "token", ServerAddress: "example.com"},
	} {
		c := clientOf(t, func(_ http.ResponseWriter, r *http.Request) {
			var got dockertools.Auth
			text, err := base64.URLEncoding.DecodeString(r.Header.Get("X-Registry-Auth"))
			if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil || got != auth {
				t.Errorf("the daemon gets %q, %v", text, err)
			}
		})
		if err := c.PullImage(t.Context(), "web", auth, noProgress); err != nil {
			t.Error(err)
		}
	}
}

func TestPullTakesAsLongAsItGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, daemon := io.Pipe()
		c := mustClient(t, "tcp://192.0.2.1:2375")
		c.network = roundTripper(func(req *http.Request) (*http.Response, error) {
			go func() {
				for range 100 {
					time.Sleep(pullLimit - time.Second)
					io.WriteString(daemon, `{"status":"Downloading","id":"aaa"}`)
				}
				<-req.Context().Done()
				body.CloseWithError(req.Context().Err())
			}()
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
		})
		heard := 0
		began := time.Now()
		err := c.PullImage(t.Context(), "web", dockertools.Auth{}, func(dockertools.PullProgress) { heard++ })
		if want := 100*(pullLimit-time.Second) + pullLimit; heard != 100 || time.Since(began) != want {
			t.Errorf("it was given up after %d messages and %v, want %v", heard, time.Since(began), want)
		}
		if err == nil || isContextError(err) || !strings.Contains(err.Error(), "no answer") {
			t.Errorf("got %v, want an error about the silence", err)
		}
	})
}

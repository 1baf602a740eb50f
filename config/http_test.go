package config

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// httpTest is a source that asks when it is told to, and its server, which answers
// as the test says. The receiver takes what is reported at once.
type httpTest struct {
	*SourceHTTP
	t       *testing.T
	server  *httptest.Server
	handler atomic.Pointer[http.HandlerFunc]
	last    *api.PodUpdate
	parses  int
}

// newHTTPTest has a plain server that is started and answers with two pods, which
// have been received.
func newHTTPTest(t *testing.T) *httpTest {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start)
	h.body(manifest("web", "1"), manifest("db", "1"))
	h.look()
	h.expect("web=1 db=1")
	return h
}

// newHTTPTestAt starts the server, and asks it with the user information, if any.
func newHTTPTestAt(t *testing.T, user string, start func(*httptest.Server)) *httpTest {
	h := &httpTest{t: t}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*h.handler.Load())(w, r)
	}))
	h.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(h.server)
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		h.server.CloseClientConnections()
		h.server.Close()
	})
	source, err := NewSourceHTTP(strings.Replace(h.server.URL, "://", "://"+user, 1)+"/pods", time.Hour, testParser())
	if err != nil {
		t.Fatal(err)
	}
	h.SourceHTTP = source
	transport := h.client.Transport.(*http.Transport)
	transport.TLSClientConfig = h.server.Client().Transport.(*http.Transport).TLSClientConfig
	h.parser.Scheme = countParses(&h.parses)
	return h
}

// countParses returns a Scheme that counts the manifests it decodes.
func countParses(count *int) *api.Scheme {
	scheme, counting := v1beta1.NewScheme(), v1beta1.NewScheme()
	api.AddInternalConversion(counting, v1beta1.Version, func(in *v1beta1.ContainerManifest, out *api.ContainerManifest) error {
		*count++
		internal, err := scheme.Internalize(v1beta1.Version, in)
		if err == nil {
			*out = *internal.(*api.ContainerManifest)
		}
		return err
	})
	return counting
}

// answer has the server answer like this from now on.
func (h *httpTest) answer(handler http.HandlerFunc) { h.handler.Store(&handler) }

// body has it answer with the documents.
func (h *httpTest) body(documents ...string) {
	h.answer(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Join(documents, "\n---\n")) })
}

// look asks once, and says whether there was news.
func (h *httpTest) look() bool {
	h.read(h.t.Context())
	update := h.report(time.Now(), []*part{&h.SourceHTTP.body}, nil)
	if update != nil {
		h.last = update
	}
	return update != nil
}

func (h *httpTest) expect(pods string, words ...string) {
	h.t.Helper()
	if h.last == nil {
		h.t.Fatal("nothing was sent")
	}
	expectSet(h.t, *h.last, pods, words...)
}

func jsonManifest(id, image string) string {
	return fmt.Sprintf(`{"version":"v1beta1","id":%q,"containers":[{"name":"main","image":%q}]}`, id, image)
}

func listOf(apiVersion string, items ...string) string {
	return fmt.Sprintf(`{"kind":"ContainerManifestList","apiVersion":%q,"items":[%s]}`, apiVersion, strings.Join(items, ","))
}

func yamlList(manifests ...string) string {
	text := ""
	for _, m := range manifests {
		text += "- " + strings.ReplaceAll(m, "\n", "\n  ") + "\n"
	}
	return text
}

func TestHTTPBodyInEveryForm(t *testing.T) {
	web, db, nameless := jsonManifest("web", "1"), jsonManifest("db", "1"), jsonManifest("", "1")
	for name, test := range map[string]struct {
		body, pods string
		where      []string // in the origin of each pod
	}{
		"a manifest":               {manifest("web", "1"), "web=1", []string{""}},
		"a manifest in JSON":       {web, "web=1", []string{""}},
		"a manifest without an id": {manifest("", "1"), "1=1", []string{""}},
		"several documents":        {manifest("web", "1") + "\n---\n" + manifest("", "1"), "web=1 2=1", []string{" (document 1)", " (document 2)"}},
		"a list":                   {yamlList(manifest("web", "1"), manifest("", "1")), "web=1 2=1", []string{" (item 1)", " (item 2)"}},
		"a list of one":            {yamlList(manifest("web", "1")), "web=1", []string{" (item 1)"}},
		"a list in JSON":           {"[" + nameless + "," + db + "]", "1=1 db=1", []string{" (item 1)", " (item 2)"}},
		"a v1beta1 list":           {listOf("v1beta1", web, nameless), "web=1 2=1", []string{" (item 1)", " (item 2)"}},
		"a v1beta2 list":           {listOf("v1beta2", web), "web=1", []string{" (item 1)"}},
		"no pods, as a list":       {"[]", "", nil},
		"no pods, as an object":    {listOf("v1beta1"), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTPTest(t)
			h.body(test.body)
			h.look()
			h.expect(test.pods)
			for i, pod := range h.last.Pods {
				if want := h.server.URL + "/pods" + test.where[i]; pod.Origin != want {
					t.Errorf("origin %q, want %q", pod.Origin, want)
				}
			}
		})
	}
}

func TestHTTPIdentity(t *testing.T) {
	h := newHTTPTest(t)
	body := func(image string) string {
		return listOf("v1beta1", jsonManifest("web", image), strings.Replace(jsonManifest("db", image), "{", `{"uuid":"my-uuid",`, 1), jsonManifest("", image))
	}
	for _, image := range []string{"1", "2"} {
		h.body(body(image))
		h.look()
		h.expect(fmt.Sprintf("web=%[1]s db=%[1]s 3=%[1]s", image))
		for i, want := range []string{api.NewUID("host", "http", "default", "web"), "my-uuid", api.NewUID("host", "http", "default", "3")} {
			pod := h.last.Pods[i]
			if pod.UID != want || pod.Namespace != "default" || pod.Source != "http" {
				t.Errorf("%v has the UID %q, want %q", &pod, pod.UID, want)
			}
		}
	}
}

// What the server says has not changed is neither sent nor read again.
func TestHTTPETag(t *testing.T) {
	h := newHTTPTest(t)
	var asked []string
	etag, body := `"one"`, manifest("web", "2")
	h.answer(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-None-Match"))
		w.Header().Set("ETag", etag)
		if etag != "" && asked[len(asked)-1] == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, body)
	})
	h.look()
	h.expect("web=2")
	parses, read := h.parses, h.Status().LastSuccess
	for range 3 {
		if h.look() {
			t.Errorf("a body that has not changed is news: %v", h.last)
		}
	}
	if h.parses != parses || !h.Status().LastSuccess.After(read) {
		t.Errorf("parsed %d times more; was well at %v, and is at %v", h.parses-parses, read, h.Status().LastSuccess)
	}

	etag, body = `"two"`, manifest("web", "3")
	h.look()
	etag, body = "", manifest("web", "4")
	h.look()
	h.expect("web=4")
	etag, body = `"two"`, manifest("web", "3") // the one before, which it does not have any more
	h.look()
	h.expect("web=3")
	h.answer(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("If-None-Match"))
		http.Error(w, "later", http.StatusServiceUnavailable)
	})
	h.look()
	h.expect("web=3", "503")
	h.look()
	if want := `["" "\"one\"" "\"one\"" "\"one\"" "\"one\"" "\"two\"" "" "\"two\"" "\"two\""]`; fmt.Sprintf("%q", asked) != want {
		t.Errorf("asked with %q, want %s", asked, want)
	}
}

func TestHTTPSameBodyWithoutETag(t *testing.T) {
	h := newHTTPTest(t)
	parses, read := h.parses, h.Status().LastSuccess
	if h.look() || h.parses != parses {
		t.Errorf("parsed %d times more, last news %v", h.parses-parses, h.last)
	}
	if !h.Status().LastSuccess.After(read) {
		t.Errorf("was well at %v, and is at %v", read, h.Status().LastSuccess)
	}
}

func TestHTTPFollowsRedirects(t *testing.T) {
	h := newHTTPTest(t)
	h.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pods" {
			http.Redirect(w, r, "/new", http.StatusFound)
			return
		}
		io.WriteString(w, manifest("web", "2"))
	})
	h.look()
	h.expect("web=2")
	if origin, want := h.last.Pods[0].Origin, h.server.URL+"/pods"; origin != want {
		t.Errorf("origin %q, want %q", origin, want)
	}
}

// start runs the source until the test ends, or what it returns is called.
func (h *httpTest) start(updates chan<- api.PodUpdate) (stop func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx, updates)
	}()
	stop = func() {
		h.t.Helper()
		cancel()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			h.t.Fatal("Run goes on")
		}
	}
	h.t.Cleanup(stop)
	return stop
}

func TestHTTPRunAsksAgainAndAgain(t *testing.T) {
	h := newHTTPTestAt(t, "", (*httptest.Server).Start)
	h.checkEvery = time.Millisecond
	updates := make(chan api.PodUpdate)
	h.body("[]")
	h.start(updates)
	expectSet(t, <-updates, "")
	h.body(manifest("web", "1"))
	expectSet(t, <-updates, "web=1")
	h.body("{}")
	expectSet(t, <-updates, "web=1", h.place)
	h.body("[]")
	expectSet(t, <-updates, "")
}

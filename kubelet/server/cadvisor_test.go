package server

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// withCAdvisor starts a cAdvisor that says these things at these paths, and 500 at all
// others, and a server of k that asks it. Asked has what it was asked.
func withCAdvisor(t *testing.T, k *fakeKubelet, says map[string]string) (s *Server, asked <-chan string) {
	t.Helper()
	questions := make(chan string, 100)
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		questions <- strings.TrimSpace(r.Method + " " + r.URL.Path + " " + string(body))
		answer, ok := says[r.URL.Path]
		if !ok {
			http.Error(w, "unknown container", http.StatusInternalServerError)
			return
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(c.Close)
	s = serve(t, k, func(o *Options) { o.CAdvisorPort = c.Listener.Addr().(*net.TCPAddr).Port })
	return s, questions
}

func TestACAdvisorThatAnswersIsHandedOn(t *testing.T) {
	k := withContainers()
	k.stats = measured
	s, asked := withCAdvisor(t, k, map[string]string{
		"/api/v1.3/machine":                            `{"num_cores":96,"memory_capacity":18446744073709551615,"filesystems":[{"device":"/dev/sda"}]}`,
		"/api/v1.3/containers/":                        `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`,
		"/api/v1.3/docker/id-of-web.default.file-app":  `{"/system.slice/docker-1.scope":{"name":"/system.slice/docker-1.scope","spec":{"envs":{"PASSWORD":"hush"},"image":"x"}}}`,
		"/api/v1.3/docker/id-of-twin.default.file-app": `{}`,
	})
	for _, row := range []struct{ path, asked, want string }{
		{"/spec/", "GET /api/v1.3/machine null", `{"filesystems":[{"device":"/dev/sda"}],"memory_capacity":18446744073709551615,"num_cores":96}`},
		{"/stats/", `POST /api/v1.3/containers/ {"num_stats":60}`, `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`},
		{"/stats/?num_stats=2", `POST /api/v1.3/containers/ {"num_stats":2}`, `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`},
		{"/stats/web/app?num_stats=7", `POST /api/v1.3/docker/id-of-web.default.file-app {"num_stats":7}`, `{"name":"/system.slice/docker-1.scope","spec":{"image":"x"}}`},
	} {
		got := ask(t, s, "GET "+row.path)
		if got.status != http.StatusOK || got.body != row.want+"\n" || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %q, want 200 %s", row.path, got.status, got.body, row.want)
		}
		if question := <-asked; question != row.asked {
			t.Errorf("%s: cAdvisor is asked %s, want %s", row.path, question, row.asked)
		}
	}
}

func TestWhatCAdvisorDoesNotKnowIsOurs(t *testing.T) {
	k := withContainers()
	k.stats = measured
	s, asked := withCAdvisor(t, k, map[string]string{"/api/v1.3/docker/id-of-twin.default.file-app": `{}`})
	for _, path := range []string{"/stats/web/app", "/stats/twin.default.file/app"} {
		if got := ask(t, s, "GET "+path); got.status != http.StatusOK || !strings.Contains(got.body, `"name":"/docker/id-of-`) {
			t.Errorf("%s: %d %s, want our own", path, got.status, got.body)
		}
	}
	if n := len(asked); n != 2 {
		t.Errorf("it is asked %d times, want 2: an error about one container says nothing about another", n)
	}
}

func TestWhatIsNoCAdvisorIsNotHandedOn(t *testing.T) {
	for _, says := range []string{"<html>a web page</html>", `["a list"]`, "", `{"num_cores":`} {
		s, _ := withCAdvisor(t, &fakeKubelet{}, map[string]string{"/api/v1.3/machine": says})
		if got := ask(t, s, "GET /spec/"); got.status != http.StatusOK || !strings.Contains(got.body, `"boot_id"`) {
			t.Errorf("when it says %q: %d %s, want our own", says, got.status, got.body)
		}
	}
}

// transport is what the network does with a request.
type transport func(*http.Request) (*http.Response, error)

func (do transport) RoundTrip(r *http.Request) (*http.Response, error) { return do(r) }

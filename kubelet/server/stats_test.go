package server

import (
	"encoding/json"
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

	"github.com/google/go-cmp/cmp"
)

// measured is what the kubelet says of container app of pod web.
func measured(pod, container string) (api.ContainerStats, error) {
	switch container {
	case "helper":
		return api.ContainerStats{}, fmt.Errorf("container helper does not run: %w", api.ErrNotFound)
	case "net":
		return api.ContainerStats{}, errors.New("Docker does not answer")
	}
	return api.ContainerStats{
		Time:        time.Date(2014, 10, 3, 1, 2, 3, 4, time.UTC),
		CPU:         api.CPUStats{Total: 18446744073709551615, User: 2, System: 3, PerCPU: []uint64{4, 5}},
		Memory:      api.MemoryStats{Usage: 6, WorkingSet: 7},
		Network:     api.NetworkStats{RxBytes: 1, RxPackets: 2, RxErrors: 3, RxDropped: 4, TxBytes: 5, TxPackets: 6, TxErrors: 7, TxDropped: 8},
		CPUShares:   512,
		MemoryLimit: 1 << 20,
		Created:     time.Date(2014, 10, 2, 1, 2, 3, 0, time.UTC),
		Image:       "busybox",
		ID:          "id-of-" + pod + "-" + container,
	}, nil
}

func TestAContainerIsMeasuredInTheFormOfCAdvisor(t *testing.T) {
	k := withContainers()
	k.stats = measured
	s := serve(t, k)
	golden := func(pod string) string {
		id := "id-of-" + pod + "-app"
		return `{"name":"/docker/` + id + `","aliases":["` + id + `"],"namespace":"docker",` +
			`"spec":{"creation_time":"2014-10-02T01:02:03Z","has_cpu":true,"cpu":{"limit":512},"has_memory":true,"memory":{"limit":1048576},"has_network":true,"image":"busybox"},` +
			`"stats":[{"timestamp":"2014-10-03T01:02:03.000000004Z",` +
			`"cpu":{"usage":{"total":18446744073709551615,"per_cpu_usage":[4,5],"user":2,"system":3},"load_average":0},` +
			`"memory":{"usage":6,"working_set":7},` +
			`"network":{"rx_bytes":1,"rx_packets":2,"rx_errors":3,"rx_dropped":4,"tx_bytes":5,"tx_packets":6,"tx_errors":7,"tx_dropped":8}}]}` + "\n"
	}
	for path, pod := range map[string]string{
		"/stats/web/app":                           "web.default.file",
		"/stats/twin.default.etcd/app":             "twin.default.etcd",
		"/stats/default/web/web-uid/app":           "web.default.file",
		"/stats/default/twin/twin-of-file/app":     "twin.default.file",
		"/stats/default/web/web-uid/app?num_stats": "web.default.file",
	} {
		got := s.ask(t, "GET "+path)
		if diff := cmp.Diff(parseJSON(t, golden(pod)), parseJSON(t, got.body)); got.status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d (-want +got)\n%s", path, got.status, diff)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("%s: Content-Type %q", path, kind)
		}
	}
	k.set(func() { k.stats = nil })
	if got := s.ask(t, "GET /stats/web/app"); !strings.Contains(got.body, `"cpu":{"limit":1024}`) || !strings.Contains(got.body, `"memory":{"limit":18446744073709551615}`) {
		t.Errorf("without limits: %s", got.body)
	}
	if got := s.ask(t, "GET /stats/web/app?pretty=1"); !strings.HasPrefix(got.body, "{\n  \"") {
		t.Errorf("with pretty=1: %q", got.body)
	}
}

func TestTheMachineIsDescribedAndMeasured(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	var machine struct {
		NumCores       int    `json:"num_cores"`
		MemoryCapacity uint64 `json:"memory_capacity"`
	}
	if got := s.ask(t, "GET /spec/"); got.status != http.StatusOK || json.Unmarshal([]byte(got.body), &machine) != nil || machine.NumCores == 0 || machine.MemoryCapacity == 0 {
		t.Errorf("/spec/: %d %s", got.status, got.body)
	}
	var info struct {
		Name  string
		Spec  struct{ Memory struct{ Limit uint64 } }
		Stats []struct {
			CPU struct{ Usage struct{ Total uint64 } }
		}
	}
	got := s.ask(t, "GET /stats/")
	if err := json.Unmarshal([]byte(got.body), &info); err != nil || got.status != http.StatusOK {
		t.Fatalf("/stats/: %d %s", got.status, got.body)
	}
	if info.Name != "/" || info.Spec.Memory.Limit != machine.MemoryCapacity || len(info.Stats) != 1 || info.Stats[0].CPU.Usage.Total == 0 {
		t.Errorf("/stats/: %s", got.body)
	}
}

func TestStatsThatCannotBeHad(t *testing.T) {
	k := withContainers()
	k.stats = measured
	s := serve(t, k)
	for _, row := range []struct {
		request string
		status  int
		says    string
	}{
		{"GET /stats/none/app", http.StatusNotFound, `no pod "none" in namespace "default"`},
		{"GET /stats/web/none", http.StatusNotFound, `no container "none": it has app, helper, net`},
		{"GET /stats/twin/app", http.StatusConflict, "twin.default.etcd, twin.default.file"},
		{"GET /stats/web/helper", http.StatusNotFound, "container helper does not run"},
		{"GET /stats/web/net", http.StatusInternalServerError, "Docker does not answer"},
		{"GET /stats/default/web/other-uid/app", http.StatusNotFound, `with UID "other-uid"`},
		{"GET /stats/other/web/web-uid/app", http.StatusNotFound, `in namespace "other"`},
		{"GET /stats/web", http.StatusNotFound, "not found"},
		{"GET /stats/default/web/app", http.StatusNotFound, "not found"},
		{"GET /stats/a/b/c/d/e", http.StatusNotFound, "not found"},
		{"GET /stats/?pretty=very", http.StatusBadRequest, `pretty="very"`},
		{"GET /spec/?pretty=very", http.StatusBadRequest, `pretty="very"`},
		{"GET /spec/more", http.StatusNotFound, "not found"},
	} {
		got := s.ask(t, row.request)
		if got.status != row.status || !strings.Contains(got.body, row.says) {
			t.Errorf("%s: %d %q, want %d %q", row.request, got.status, got.body, row.status, row.says)
		}
	}
}

func TestStatsAndSpecWithoutASlashLeadToThoseWithOne(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for path, want := range map[string]string{"/stats": "/stats/", "/spec": "/spec/", "/stats?num_stats=1": "/stats/?num_stats=1"} {
		if got := s.ask(t, "GET "+path); got.status != http.StatusTemporaryRedirect || got.header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want a redirect to %s", path, got.status, got.header.Get("Location"), want)
		}
	}
}

// withCAdvisor starts a cAdvisor that says these things at these paths, and 500 at all
// others, and a server of k that asks it. Asked has what it was asked.
func withCAdvisor(t *testing.T, k *fakeKubelet, says map[string]string) (s *testServer, asked <-chan string) {
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
		{"/spec/", `GET /api/v1.3/machine {"num_stats":60}`, `{"filesystems":[{"device":"/dev/sda"}],"memory_capacity":18446744073709551615,"num_cores":96}`},
		{"/stats/", `POST /api/v1.3/containers/ {"num_stats":60}`, `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`},
		{"/stats/?num_stats=2", `POST /api/v1.3/containers/ {"num_stats":2}`, `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`},
		{"/stats/web/app?num_stats=7", `POST /api/v1.3/docker/id-of-web.default.file-app {"num_stats":7}`, `{"name":"/system.slice/docker-1.scope","spec":{"image":"x"}}`},
	} {
		got := s.ask(t, "GET "+row.path)
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
		if got := s.ask(t, "GET "+path); got.status != http.StatusOK || !strings.Contains(got.body, `"name":"/docker/id-of-`) {
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
		if got := s.ask(t, "GET /spec/"); got.status != http.StatusOK || !strings.Contains(got.body, `"boot_id"`) {
			t.Errorf("when it says %q: %d %s, want our own", says, got.status, got.body)
		}
	}
}

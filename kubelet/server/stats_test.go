package server

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

// measure is what the kubelet knows of the containers of withContainers.
func measure(pod, _ string) (api.ContainerStats, error) {
	return api.ContainerStats{
		Time: noon, Created: noon, Image: "busybox", ID: "id-of-" + pod, CPUShares: 512, MemoryLimit: 1 << 20,
		CPU:     api.CPUStats{Total: 18446744073709551615, User: 2, System: 3, PerCPU: []uint64{4, 5}},
		Memory:  api.MemoryStats{Usage: 6, WorkingSet: 7},
		Network: api.NetworkStats{RxBytes: 1, RxPackets: 2, RxErrors: 3, RxDropped: 4, TxBytes: 5, TxPackets: 6, TxErrors: 7, TxDropped: 8},
	}, nil
}

const measured = `{"name":"/docker/ID","aliases":["ID"],"namespace":"docker",` +
	`"spec":{"creation_time":"2014-10-23T12:00:00Z","has_cpu":true,"cpu":{"limit":512},"has_memory":true,"memory":{"limit":1048576},"has_network":true,"image":"busybox"},` +
	`"stats":[{"timestamp":"2014-10-23T12:00:00Z","cpu":{"usage":{"total":18446744073709551615,"per_cpu_usage":[4,5],"user":2,"system":3},"load_average":0},` +
	`"memory":{"usage":6,"working_set":7},` +
	`"network":{"rx_bytes":1,"rx_packets":2,"rx_errors":3,"rx_dropped":4,"tx_bytes":5,"tx_packets":6,"tx_errors":7,"tx_dropped":8}}]}`

func TestContainerStats(t *testing.T) {
	k := withContainers()
	k.stats = measure
	s := serve(t, k)
	for path, id := range map[string]string{
		"web/app": "id-of-web.default.file", "twin.default.etcd/app": "id-of-twin.default.etcd",
		"default/web/web-uid/app": "id-of-web.default.file", "default/twin/twin-of-file/app": "id-of-twin.default.file",
	} {
		got := s.ask(t, "GET /stats/"+path)
		if diff := cmp.Diff(parseJSON(t, strings.ReplaceAll(measured, "ID", id)), parseJSON(t, got.body)); got.status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d (-want +got)\n%s", path, got.status, diff)
		}
	}
	for path, want := range map[string]string{"/stats?num_stats=1": "/stats/?num_stats=1", "/spec": "/spec/"} {
		if got := s.ask(t, "GET "+path); got.status != http.StatusTemporaryRedirect || got.header.Get("Location") != want {
			t.Errorf("%s: %d %v, want a redirect to %s", path, got.status, got.header, want)
		}
	}
	k.set(func() { k.stats = nil })
	if got := s.ask(t, "GET /stats/web/app"); !strings.Contains(got.body, `"cpu":{"limit":1024}`) || !strings.Contains(got.body, `"memory":{"limit":18446744073709551615}`) {
		t.Errorf("without limits: %s", got.body)
	}
}

func TestTheMachineIsDescribedAndMeasured(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	var machine struct {
		NumCores       int    `json:"num_cores"`
		MemoryCapacity uint64 `json:"memory_capacity"`
		BootID         string `json:"boot_id"`
	}
	var stats struct {
		Name string
		Spec struct {
			CreationTime time.Time `json:"creation_time"`
			Memory       struct{ Limit uint64 }
		}
		Stats []struct {
			CPU struct {
				Usage struct {
					Total, User, System uint64
					PerCPU              []uint64 `json:"per_cpu_usage"`
				}
			}
			Memory struct {
				Usage      uint64
				WorkingSet uint64 `json:"working_set"`
			}
			Network struct {
				RxBytes *uint64 `json:"rx_bytes"`
			}
		}
	}
	if err := errors.Join(json.Unmarshal([]byte(s.ask(t, "GET /spec/").body), &machine), json.Unmarshal([]byte(s.ask(t, "GET /stats/").body), &stats)); err != nil {
		t.Fatal(err)
	}
	one := stats.Stats[0]
	if machine.NumCores == 0 || machine.BootID == "" || stats.Name != "/" || stats.Spec.Memory.Limit != machine.MemoryCapacity || time.Since(stats.Spec.CreationTime) < 0 ||
		len(one.CPU.Usage.PerCPU) != machine.NumCores || one.CPU.Usage.Total < one.CPU.Usage.User+one.CPU.Usage.System || one.CPU.Usage.User == 0 ||
		one.Memory.Usage == 0 || one.Memory.WorkingSet > machine.MemoryCapacity || one.Network.RxBytes == nil {
		t.Errorf("it is %+v and %+v", machine, stats)
	}
}

func TestCAdvisor(t *testing.T) {
	k := withContainers()
	k.stats = measure
	answers := map[string]string{ // 500 at other paths
		"/api/v1.3/machine":                        `{"num_cores":96,"memory_capacity":18446744073709551615,"filesystems":[{"device":"/dev/sda"}]}`,
		"/api/v1.3/containers/":                    `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`,
		"/api/v1.3/docker/id-of-web.default.file":  `{"/system.slice/docker-1.scope":{"name":"/system.slice/docker-1.scope","spec":{"envs":{"PASSWORD":"hush"},"image":"x"}}}`,
		"/api/v1.3/docker/id-of-twin.default.file": `{}`,
	}
	asked := make(chan string, 1)
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.Method + " " + r.URL.Path + " " + string(body)
		if answer, ok := answers[r.URL.Path]; ok {
			io.WriteString(w, answer)
		} else {
			http.Error(w, "unknown container", http.StatusInternalServerError)
		}
	}))
	defer c.Close()
	s := serve(t, k, func(o *Options) { o.CAdvisorPort = c.Listener.Addr().(*net.TCPAddr).Port })
	const twoStats = `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`
	for _, tt := range []struct{ path, asked, want string }{
		{"/spec/", `GET /api/v1.3/machine {"num_stats":60}`, `{"filesystems":[{"device":"/dev/sda"}],"memory_capacity":18446744073709551615,"num_cores":96}`},
		{"/stats/", `POST /api/v1.3/containers/ {"num_stats":60}`, twoStats},
		{"/stats/?num_stats=2", `POST /api/v1.3/containers/ {"num_stats":2}`, twoStats},
		{"/stats/?num_stats=few", `POST /api/v1.3/containers/ {"num_stats":60}`, twoStats},
		{"/stats/web/app?num_stats=7", `POST /api/v1.3/docker/id-of-web.default.file {"num_stats":7}`, `{"name":"/system.slice/docker-1.scope","spec":{"image":"x"}}`},
		// What it does not know is answered by the kubelet.
		{"/stats/twin.default.etcd/app", `POST /api/v1.3/docker/id-of-twin.default.etcd {"num_stats":60}`, "/docker/id-of-twin.default.etcd"},
		{"/stats/twin.default.file/app", `POST /api/v1.3/docker/id-of-twin.default.file {"num_stats":60}`, "/docker/id-of-twin.default.file"},
	} {
		got := s.ask(t, "GET "+tt.path)
		if got.status != http.StatusOK || !strings.Contains(got.body, tt.want) || got.header.Get("Content-Type") != jsonType {
			t.Errorf("%s: %d %q, want 200 %s", tt.path, got.status, got.body, tt.want)
		}
		if question := <-asked; question != tt.asked {
			t.Errorf("%s: cAdvisor is asked %s, want %s", tt.path, question, tt.asked)
		}
	}
	for _, answer := range []string{"<html>a web page</html>", `["a list"]`, "", `{"num_cores":`} {
		answers["/api/v1.3/machine"] = answer
		if got := s.ask(t, "GET /spec/"); got.status != http.StatusOK || !strings.Contains(got.body, `"boot_id"`) {
			t.Errorf("when it answers %q: %d %s, want our own", answer, got.status, got.body)
		}
		<-asked
	}
}

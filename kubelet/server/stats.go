package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kubelet14/kubelet/node"
)

// object is a JSON object. /spec/ and /stats/ answer in the form of cAdvisor's API: what a cAdvisor on this host answers if there
// is one, otherwise what /proc tells of the machine and Docker of a container.
type object = map[string]any

const (
	maxCAdvisorAnswer = 16 << 20
	statsTimeout      = 20 * time.Second // of Docker; less than writeTimeout
	defaultShares     = int64(1024)      // of the processor
)

var cAdvisor = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true}, // without a proxy
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       time.Second,
}

// numStats returns how many measurements a request asks for: in its query, or in its body as in 2014.
func numStats(r *http.Request) (int, error) {
	var question struct {
		N int `json:"num_stats"`
	}
	err := json.NewDecoder(r.Body).Decode(&question)
	if text := r.URL.Query().Get("num_stats"); text != "" {
		question.N, err = strconv.Atoi(text)
	}
	if err != nil && !errors.Is(err, io.EOF) || question.N < 0 {
		return 0, httpErrorf(http.StatusBadRequest, `ask for a number of measurements by ?num_stats=60 or a body such as {"num_stats": 60}`)
	}
	return cmp.Or(question.N, 60), nil // 60 is cAdvisor's default
}

// askCAdvisor returns cAdvisor's answer, or nil when there is none.
func (s *Server) askCAdvisor(path string, numStats int) (answer object) {
	url := fmt.Sprintf("http://127.0.0.1:%d/api/v1.3%s", s.opts.CAdvisorPort, path)
	resp, err := cAdvisor.Post(url, "application/json", strings.NewReader(fmt.Sprintf(`{"num_stats":%d}`, numStats)))
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	decoder := json.NewDecoder(io.LimitReader(resp.Body, maxCAdvisorAnswer))
	decoder.UseNumber() // counters may be too large for a float64
	if err := decoder.Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return answer
}

// withoutEnv removes environment variables, which a cAdvisor may be configured to collect.
func withoutEnv(container object) object {
	if spec, ok := container["spec"].(object); ok {
		delete(spec, "envs")
	}
	return container
}

// machine reads the facts of this machine.
func machine() (node.Facts, error) { return node.Reader{Proc: "/proc", RootDir: "/"}.Read() }

func (s *Server) spec(*http.Request) (any, error) {
	if info := s.askCAdvisor("/machine", 0); info != nil {
		return info, nil
	}
	m, err := machine()
	return object{
		"num_cores": m.Cores, "cpu_frequency_khz": uint64(m.MHz * 1000), "memory_capacity": m.Memory.Total,
		"machine_id": m.MachineID, "system_uuid": m.SystemUUID, "boot_id": m.BootID,
	}, err
}

func (s *Server) machineStats(r *http.Request) (any, error) {
	n, err := numStats(r)
	if err != nil {
		return nil, err
	}
	if stats := s.askCAdvisor("/containers/", n); stats != nil {
		return withoutEnv(stats), nil
	}
	m, err := machine()
	now := object{"timestamp": time.Now(), "cpu": object{"usage": m.CPU, "load_average": int(m.Load * 1000)}, "memory": m.MemoryStats}
	onHost := s.opts.Node().OnHost()
	if onHost {
		now["network"] = m.Network
	}
	return object{
		"name": "/",
		"spec": object{
			"creation_time": m.BootTime, "has_cpu": true, "has_memory": true, "has_network": onHost,
			"cpu": object{"limit": defaultShares, "mask": m.OnlineCPUs}, "memory": object{"limit": m.Memory.Total},
		},
		"stats": []object{now},
	}, err
}

// containerStats asks the kubelet first, which knows whether the container runs and its id.
func (s *Server) containerStats(r *http.Request) (any, error) {
	n, err := numStats(r)
	if err != nil {
		return nil, err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), statsTimeout)
	defer cancel()
	c, err := s.opts.Kubelet.ContainerStats(ctx, pod, container)
	if err != nil {
		return nil, err
	}
	for _, stats := range s.askCAdvisor("/docker/"+c.ID, n) { // one, by its name there
		if stats, ok := stats.(object); ok {
			return withoutEnv(stats), nil
		}
	}
	limit := uint64(math.MaxUint64) // none
	if c.MemoryLimit > 0 {
		limit = uint64(c.MemoryLimit)
	}
	return object{
		"name": "/docker/" + c.ID, "aliases": []string{c.Name, c.ID}, "namespace": "docker",
		"spec": object{
			"creation_time": c.Created, "image": c.Image, "has_cpu": true, "has_memory": true, "has_network": true,
			"cpu": object{"limit": cmp.Or(c.CPUShares, defaultShares)}, "memory": object{"limit": limit},
		},
		"stats": []object{{"timestamp": c.Time, "cpu": object{"usage": c.CPU, "load_average": 0}, "memory": c.Memory, "network": c.Network}},
	}, nil
}

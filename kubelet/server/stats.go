package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"kubelet14/api"
)

// /spec/ and /stats/ answer in the form of cAdvisor's API, from a cAdvisor if one answers, else from /proc and Docker.

// object is a JSON object.
type object = map[string]any

const (
	cAdvisorTimeout   = time.Second
	cAdvisorMaxAnswer = 16 << 20
)

var cAdvisor = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true}, // without a proxy
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       cAdvisorTimeout,
}

// askCAdvisor returns cAdvisor's answer, or nil when there is none.
func (s *Server) askCAdvisor(ctx context.Context, method, path string, query any) object {
	body, err := json.Marshal(query)
	if s.opts.CAdvisorPort == 0 || err != nil {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d/api/v1.3%s", s.opts.CAdvisorPort, path), bytes.NewReader(body))
	if err != nil {
		return nil
	}
	resp, err := cAdvisor.Do(r)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var answer object
	decoder := json.NewDecoder(io.LimitReader(resp.Body, cAdvisorMaxAnswer))
	decoder.UseNumber() // counters may be too large for a float64
	if err := decoder.Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return answer
}

func (s *Server) serveSpec(w http.ResponseWriter, r *http.Request) error {
	info := s.askCAdvisor(r.Context(), http.MethodGet, "/machine", nil)
	if info == nil {
		var err error
		if info, err = machineInfo(); err != nil {
			return err
		}
	}
	return answerJSON(w, r, info)
}

func (s *Server) serveMachineStats(w http.ResponseWriter, r *http.Request) error {
	query, err := statsQuery(r)
	if err != nil {
		return err
	}
	info := s.askCAdvisor(r.Context(), http.MethodPost, "/containers/", query)
	if info == nil {
		if info, err = machineStats(time.Now()); err != nil {
			return err
		}
	}
	return answerJSON(w, r, withoutEnv(info))
}

// serveContainerStats asks Docker first, which knows whether the container runs and its id.
func (s *Server) serveContainerStats(w http.ResponseWriter, r *http.Request) error {
	query, err := statsQuery(r)
	if err != nil {
		return err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), dockerTimeout, httpErrorf(http.StatusServiceUnavailable, "no answer from Docker within %v", dockerTimeout))
	defer cancel()
	stats, err := s.opts.Kubelet.ContainerStats(ctx, pod, container)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	for _, info := range s.askCAdvisor(r.Context(), http.MethodPost, "/docker/"+stats.ID, query) { // one, by its name there
		if info, ok := info.(object); ok {
			return answerJSON(w, r, withoutEnv(info))
		}
	}
	return answerJSON(w, r, containerInfo(&stats))
}

// dockerTimeout is less than writeTimeout, so that there is time left for the error.
const dockerTimeout = 20 * time.Second

// statsQuery is cAdvisor's query for at most ?num_stats=N measurements.
func statsQuery(r *http.Request) (object, error) {
	text := cmp.Or(r.URL.Query().Get("num_stats"), "60") // 60 is cAdvisor's default
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return nil, httpErrorf(http.StatusBadRequest, "num_stats=%q: it must be a number of measurements, 1 or more", text)
	}
	return object{"num_stats": n}, nil
}

// withoutEnv removes environment variables, which a cAdvisor may be configured to collect.
func withoutEnv(container object) object {
	if spec, ok := container["spec"].(object); ok {
		delete(spec, "envs")
	}
	return container
}

func containerInfo(c *api.ContainerStats) object {
	limit := uint64(math.MaxUint64) // none
	if c.MemoryLimit > 0 {
		limit = uint64(c.MemoryLimit)
	}
	return object{
		"name": "/docker/" + c.ID, "aliases": []string{c.ID}, "namespace": "docker",
		"spec": object{
			"creation_time": c.Created, "image": c.Image, "has_cpu": true, "has_memory": true, "has_network": true,
			"cpu": object{"limit": cmp.Or(c.CPUShares, defaultShares)}, "memory": object{"limit": limit},
		},
		"stats": []object{{"timestamp": c.Time, "cpu": object{"usage": c.CPU, "load_average": 0}, "memory": c.Memory, "network": c.Network}},
	}
}

const defaultShares = int64(1024) // of the processor

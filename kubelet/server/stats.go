package server

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"kubelet14/api"
)

// What cAdvisor's API v1 calls a container. The machine as a whole is one too, "/".
type (
	containerInfo struct {
		Name      string           `json:"name"`
		Aliases   []string         `json:"aliases,omitempty"`
		Namespace string           `json:"namespace,omitempty"`
		Spec      containerSpec    `json:"spec"`
		Stats     []containerStats `json:"stats"` // cAdvisor has many, and we have one
	}
	containerSpec struct {
		CreationTime time.Time   `json:"creation_time"`
		HasCPU       bool        `json:"has_cpu"`
		CPU          cpuSpec     `json:"cpu"`
		HasMemory    bool        `json:"has_memory"`
		Memory       memoryLimit `json:"memory"`
		HasNetwork   bool        `json:"has_network"`
		Image        string      `json:"image,omitempty"`
	}
	cpuSpec struct {
		Limit uint64 `json:"limit"`          // shares: 1024 of them are usual
		Mask  string `json:"mask,omitempty"` // which cores, such as 0-3
	}
	memoryLimit struct {
		Limit uint64 `json:"limit"` // bytes; the largest number when there is none
	}
	containerStats struct {
		Timestamp time.Time        `json:"timestamp"`
		CPU       cpuStats         `json:"cpu"`
		Memory    api.MemoryStats  `json:"memory"`
		Network   api.NetworkStats `json:"network"`
	}
	cpuStats struct {
		Usage       api.CPUStats `json:"usage"`
		LoadAverage int          `json:"load_average"` // of the last minute, in thousandths
	}
)

const (
	usualShares     = 1024
	defaultNumStats = 60 // cAdvisor's own
)

// serveSpec answers with what this machine is.
func (s *Server) serveSpec(w http.ResponseWriter, r *http.Request) error {
	if known := s.cAdvisor.machine(r.Context()); known != nil {
		return answerJSON(w, r, known)
	}
	info, err := readMachine(hostFiles)
	if err != nil {
		return err
	}
	return answerJSON(w, r, info)
}

// serveMachineStats answers with what this machine does.
func (s *Server) serveMachineStats(w http.ResponseWriter, r *http.Request) error {
	n, err := numStats(r)
	if err != nil {
		return err
	}
	if known := s.cAdvisor.host(r.Context(), n); known != nil {
		return answerJSON(w, r, known)
	}
	info, err := measureMachine(hostFiles, time.Now())
	if err != nil {
		return err
	}
	return answerJSON(w, r, info)
}

// serveContainerStats answers with what a container does. Docker is asked first, since
// it says whether the container runs, and its id, by which cAdvisor knows it.
func (s *Server) serveContainerStats(w http.ResponseWriter, r *http.Request) error {
	n, err := numStats(r)
	if err != nil {
		return err
	}
	measured, err := patiently(r.Context(), askPatience, func(ctx context.Context) (measured api.ContainerStats, err error) {
		pod, container, err := s.findContainer(r.WithContext(ctx))
		if err != nil {
			return measured, err
		}
		return s.opts.Kubelet.ContainerStats(ctx, pod, container)
	})
	if err != nil {
		return missing(err)
	}
	if known := s.cAdvisor.container(r.Context(), measured.ID, n); known != nil {
		return answerJSON(w, r, known)
	}
	return answerJSON(w, r, describe(&measured))
}

// numStats reads how many measurements are wanted at most.
func numStats(r *http.Request) (int, error) {
	text := r.URL.Query().Get("num_stats")
	if text == "" {
		return defaultNumStats, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, refuse(http.StatusBadRequest, "num_stats=%q: it must be a number of measurements, 1 or more", text)
	}
	return int(n), nil
}

// describe gives a measurement cAdvisor's form.
func describe(measured *api.ContainerStats) containerInfo {
	spec := containerSpec{
		CreationTime: measured.Created,
		HasCPU:       true,
		CPU:          cpuSpec{Limit: uint64(cmp.Or(measured.CPUShares, usualShares))},
		HasMemory:    true,
		Memory:       memoryLimit{Limit: math.MaxUint64},
		HasNetwork:   true,
		Image:        measured.Image,
	}
	if measured.MemoryLimit > 0 {
		spec.Memory.Limit = uint64(measured.MemoryLimit)
	}
	return containerInfo{
		Name: fmt.Sprintf("/docker/%s", measured.ID), Aliases: []string{measured.ID}, Namespace: "docker",
		Spec: spec,
		Stats: []containerStats{{
			Timestamp: measured.Time,
			CPU:       cpuStats{Usage: measured.CPU},
			Memory:    measured.Memory,
			Network:   measured.Network,
		}},
	}
}

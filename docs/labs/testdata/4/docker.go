package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Observed is a container as Docker reports it.
type Observed struct {
	ID      string
	Name    string // PREFIX_POD_CONTAINER_HASH_ATTEMPT
	State   string // created, running, paused, exited, …
	Crashes int    // in a row, before this attempt
	Started time.Time
	Ended   time.Time
	Joined  string   // the id of the container whose network it is in; empty: it has its own
	Volumes []string // their names
}

// dead reports whether its process has ended.
func (o Observed) dead() bool { return o.State == "exited" || o.State == "dead" }

// crashesLabel holds the crashes in a row before an attempt. Labels cannot change, so each attempt is a new container.
const crashesLabel = "mykubelet.crashes"

// list returns the containers whose names begin with our prefix, by the names of their pods.
func list(ctx context.Context, prefix string) (map[string][]Observed, error) {
	ids, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "name=^"+prefix+"_")
	if err != nil || ids == "" {
		return nil, err
	}
	// One that was removed since is an error: the next turn looks again.
	out, err := docker(ctx, append([]string{"inspect", "--type", "container"}, strings.Fields(ids)...)...)
	if err != nil {
		return nil, err
	}
	var all []struct {
		ID, Name string
		Config   struct{ Labels map[string]string }
		State    struct {
			Status                string
			StartedAt, FinishedAt time.Time
		}
		HostConfig struct{ NetworkMode string }
		Mounts     []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, err
	}
	pods := map[string][]Observed{}
	for _, c := range all {
		o := Observed{ID: c.ID, Name: strings.TrimPrefix(c.Name, "/"), State: c.State.Status, Started: c.State.StartedAt, Ended: c.State.FinishedAt}
		if joined, ok := strings.CutPrefix(c.HostConfig.NetworkMode, "container:"); ok {
			o.Joined = joined
		}
		o.Crashes, _ = strconv.Atoi(c.Config.Labels[crashesLabel])
		for _, m := range c.Mounts {
			o.Volumes = append(o.Volumes, m.Name)
		}
		pod := strings.Split(o.Name, "_")[1]
		pods[pod] = append(pods[pod], o)
	}
	return pods, nil
}

func docker(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("docker %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Observed is a container as Docker reports it.
type Observed struct{ Name, State string }

// list returns the containers whose names begin with our prefix, by the names of their pods.
func list(ctx context.Context, prefix string) (map[string][]Observed, error) {
	out, err := docker(ctx, "ps", "--all", "--filter", "name=^"+prefix+"_", "--format", "{{.Names}} {{.State}}")
	pods := map[string][]Observed{}
	for line := range strings.Lines(out) {
		name, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		parts := strings.Split(name, "_") // prefix, pod, container
		pods[parts[1]] = append(pods[parts[1]], Observed{name, state})
	}
	return pods, err
}

func docker(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("docker %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// Toyloop is the idea of a kubelet in one file. It reads a manifest with one
// container and keeps that container running until Ctrl-C.
//
//	go run ./docs/toyloop docs/toyloop/toy.json
//
// Each turn of the loop reads the desired state, observes the actual state, decides
// and acts. Nothing is kept from one turn to the next.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// Manifest is the desired state: the part of a pod manifest that the toy understands.
type Manifest struct {
	ID         string
	Containers []struct {
		Name, Image string
		Command     []string
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: toyloop MANIFEST.json")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for ctx.Err() == nil {
		if err := syncOnce(ctx, os.Args[1]); err != nil && ctx.Err() == nil {
			log.Print(err) // the next turn tries again
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	log.Print("stopped; the container keeps running")
}

// syncOnce is one turn of the loop.
func syncOnce(ctx context.Context, path string) error {
	manifest, err := read(path)
	if err != nil {
		return fmt.Errorf("read manifest %s: %w", path, err)
	}
	name := "toyloop_" + manifest.ID
	state, err := docker(ctx, "ps", "--all", "--filter", "name=^"+name+"$", "--format", "{{.State}}")
	if err != nil {
		return err
	}
	args := decide(name, manifest, state)
	if args == nil {
		return nil
	}
	log.Printf("container %s is %q: docker %s", name, state, strings.Join(args, " "))
	_, err = docker(ctx, args...)
	return err
}

// read returns the desired state.
func read(path string) (m Manifest, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil && (m.ID == "" || len(m.Containers) != 1) {
		err = errors.New("it needs an id and exactly one container")
	}
	return m, err
}

// decide compares desired and observed state. It returns the arguments of the docker
// command that brings them closer, or nil. It is a pure function: values in, values out.
func decide(name string, desired Manifest, state string) []string {
	switch c := desired.Containers[0]; state {
	case "": // there is no such container
		return append([]string{"run", "--detach", "--name", name, c.Image}, c.Command...)
	case "created", "exited":
		return []string{"start", name}
	}
	return nil // it runs, or someone has paused it
}

func docker(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return "", fmt.Errorf("docker %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

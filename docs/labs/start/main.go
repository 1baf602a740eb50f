// A kubelet of about 100 lines, to begin the labs with. It reads the first manifest of a directory
// and keeps the one container of that manifest running until SIGTERM or Ctrl-C.
//
//	go run . DIRECTORY PREFIX
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
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Manifest is the desired state of one pod.
type Manifest struct {
	ID         string
	Containers []Container
}

// Container is the desired state of one container.
type Container struct {
	Name, Image string
	Command     []string
	Env         []struct{ Name, Value string }
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: mykubelet DIRECTORY PREFIX")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for ctx.Err() == nil {
		if err := syncOnce(ctx, os.Args[1], os.Args[2]); err != nil && ctx.Err() == nil {
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
func syncOnce(ctx context.Context, dir, prefix string) error {
	paths, err := filepath.Glob(dir + "/*.json")
	if err != nil || len(paths) == 0 {
		return err
	}
	manifest, err := read(paths[0])
	if err != nil {
		return fmt.Errorf("read manifest %s: %w", paths[0], err)
	}
	container := manifest.Containers[0]
	name := prefix + "_" + manifest.ID + "_" + container.Name
	state, err := docker(ctx, "ps", "--all", "--filter", "name=^"+name+"$", "--format", "{{.State}}")
	if err != nil {
		return err
	}
	args := decide(name, container, state)
	if args == nil {
		return nil
	}
	log.Printf("container %s is %q: docker %s", name, state, strings.Join(args, " "))
	_, err = docker(ctx, args...)
	return err
}

// read returns the desired state of one pod.
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
func decide(name string, desired Container, state string) []string {
	switch state {
	case "": // there is no such container
		args := []string{"run", "--detach", "--name", name}
		for _, env := range desired.Env {
			args = append(args, "--env", env.Name+"="+env.Value)
		}
		return append(append(args, desired.Image), desired.Command...)
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

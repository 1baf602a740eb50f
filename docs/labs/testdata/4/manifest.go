package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Manifest is the desired state of one pod. Its volumes are empty directories at first.
type Manifest struct {
	ID         string
	Containers []Container
	Volumes    []struct{ Name string }
}

// Container is the desired state of one container.
type Container struct {
	Name, Image  string
	Command      []string
	Env          []struct{ Name, Value string }
	Ports        []struct{ ContainerPort, HostPort int }
	VolumeMounts []struct{ Name, MountPath string }
}

// readAll returns the manifests of a directory by the names of their pods. With an error they are not all.
func readAll(dir string) (map[string]Manifest, error) {
	entries, err := os.ReadDir(dir)
	all := map[string]Manifest{}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		m, errFile := read(filepath.Join(dir, entry.Name()))
		if errFile != nil {
			err = errors.Join(err, fmt.Errorf("read manifest %s: %w", entry.Name(), errFile))
			continue
		}
		all[m.ID] = m
	}
	return all, err
}

func read(path string) (m Manifest, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil && (m.ID == "" || len(m.Containers) == 0) {
		err = errors.New("it needs an id and a container")
	}
	return m, err
}

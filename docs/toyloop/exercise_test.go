//go:build exercise

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestEdit(t *testing.T) {
	id := fmt.Sprint("exercise-", os.Getpid())
	name, path := "toyloop_"+id, filepath.Join(t.TempDir(), "toy.json")
	defer exec.Command("docker", "rm", "--force", name).Run()
	// turns gives the toy three turns with a command, and returns the command and the id of the container.
	turns := func(command string) (inspected string) {
		manifest := fmt.Sprintf(`{"id": %q, "containers": [{"name": "main", "image": "kubelet14/hello:1", "command": ["/hello", %s]}]}`, id, command)
		err := os.WriteFile(path, []byte(manifest), 0o600)
		for range 3 {
			if err == nil {
				err = syncOnce(t.Context(), path)
			}
		}
		if err == nil {
			inspected, err = docker(t.Context(), "inspect", "--format", "{{.Config.Cmd}} {{.ID}}", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		return inspected
	}
	before := turns(`"sleep"`)
	if again := turns(`"sleep"`); again != before {
		t.Error("a container is replaced though its manifest has not changed")
	}
	if after, want := turns(`"sleep", "-ignore-term"`), "[/hello sleep -ignore-term]"; len(after) < len(want) || after[:len(want)] != want {
		t.Errorf("after an edit and three turns of the loop it is still the same container, %s", before)
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"kubelet14/kubelet/dockertools"
)

const helloImage = dockertools.HelloImage

// manifest returns one of a pod with one container, which is called main.
func manifest(id, image string, version int, command string) string {
	return fmt.Sprintf(`{
  "version": "v1beta1",
  "id": %q,
  "containers": [
    {
      "name": "main",
      "image": %q,
      "command": [%s],
      "env": [{"name": "VERSION", "value": "%d"}]
    }
  ]
}
`, id, image, command, version)
}

// sleeper returns the manifest of a pod that runs for ever.
func sleeper(id string, version int) string {
	return manifest(id, helloImage, version, `"/hello", "sleep"`)
}

// write puts a manifest into the directory at once: nobody sees half of it.
func (c *check) write(id, text string) {
	temp := filepath.Join(filepath.Dir(c.manifests), "manifest")
	c.must(os.WriteFile(temp, []byte(text), 0o644))
	c.must(os.Rename(temp, filepath.Join(c.manifests, id+".json")))
}

// remove takes manifests out of the directory.
func (c *check) remove(ids ...string) {
	for _, id := range ids {
		c.must(os.Remove(filepath.Join(c.manifests, id+".json")))
	}
}

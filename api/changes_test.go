package api

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	manifest := func(text string) (m ContainerManifest) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	old := manifest(`{"volumes": [{"name": "data"}], "initContainers": [{"name": "init", "image": "one"}], "containers": [
		{"name": "web", "image": "one", "env": [{"name": "COLOUR", "value": "s3cret"}, {"name": "OLD"}], "volumeMounts": [{"name": "data", "mountPath": "/"}]},
		{"name": "gone", "image": "one"}]}`)
	edited := manifest(`{"volumes": [{"name": "data", "source": {"hostDir": {"path": "/s3cret"}}}, {"name": "more"}],
		"initContainers": [{"name": "init", "image": "two"}], "restartPolicy": {"never": {}}, "containers": [
		{"name": "web", "image": "s3cret", "command": ["s3cret"], "env": [{"name": "COLOUR", "value": "s3cret too"}, {"name": "NEW"}]},
		{"name": "new", "image": "one"}]}`)
	want := `container gone removed
container new added
web: command added
web: env COLOUR changed
web: env NEW added
web: env OLD removed
web: image changed
web: mount data removed
init: image changed
restartPolicy added
volume data changed
volume more added`
	if got := strings.Join(Changes(&old, &edited), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if same := Changes(&old, &old); len(same) > 0 {
		t.Errorf("nothing has changed, but %q", same)
	}
}

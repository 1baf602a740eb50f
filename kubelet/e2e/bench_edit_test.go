package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// BenchmarkEdit measures from the moment a changed manifest is in its place to the
// moment Docker creates the container for it. 50 ms of that are the time a file
// must be still.
func BenchmarkEdit(b *testing.B) {
	prepared(b)
	client, err := connect("")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	manifests := filepath.Join(dir, "manifests")
	if err := os.Mkdir(manifests, 0o755); err != nil {
		b.Fatal(err)
	}
	write := func(i int) time.Time {
		text := fmt.Sprintf("version: v1beta1\nid: edited\ncontainers:\n- name: main\n  image: %s\n  command: [/hello, sleep]\n  env: [{name: N, value: %q}]\n", helloImage, fmt.Sprint(i))
		path := filepath.Join(manifests, "edited.yaml")
		if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			b.Fatal(err)
		}
		return time.Now()
	}
	flags := []string{"-config=" + manifests, "-root_dir=" + filepath.Join(dir, "root"), fmt.Sprintf("-hostname_override=%s%d-bench", hostnamePrefix, os.Getpid()), "-enable_server=false"}
	write(0)
	kubelet := exec.Command(kubeletBinary, flags...)
	if err := kubelet.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		kubelet.Process.Kill()
		kubelet.Wait()
		if out, err := exec.Command(kubeletBinary, "-cleanup", flags[1], flags[2]).CombinedOutput(); err != nil {
			b.Errorf("cleanup: %v\n%s", err, out)
		}
	}()

	events := make(chan *docker.APIEvents, 1024)
	if err := client.AddEventListener(events); err != nil {
		b.Fatal(err)
	}
	defer client.RemoveEventListener(events)
	next := func(action string) time.Time {
		for event := range events {
			if event.Action == action && event.Actor.Attributes["kubelet14.origin"] == filepath.Join(manifests, "edited.yaml") {
				return time.Unix(0, event.TimeNano)
			}
		}
		b.Fatal("Docker's events have ended")
		return time.Time{}
	}
	var took []time.Duration
	for range b.N {
		next("start") // the network container
		next("start")
		for i := range 20 {
			changed := write(i + 1)
			took = append(took, next("create").Sub(changed))
			next("start")
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-worst")
	b.ReportMetric(0, "ns/op")
}

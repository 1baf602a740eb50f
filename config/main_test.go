package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("logtostderr", "true")
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

func testParser() Parser {
	return Parser{Hostname: "host", Scheme: v1beta1.NewScheme()}
}

// newPod returns a valid pod of the default namespace. Two with the same image
// differ in nothing but their identity.
func newPod(name, image string) api.Pod {
	return api.Pod{
		Name:      name,
		Namespace: api.NamespaceDefault,
		UID:       "uid-" + name,
		Origin:    "/etc/" + name + ".yaml",
		Manifest: api.ContainerManifest{
			Version:    "v1beta1",
			ID:         name,
			Containers: []api.Container{{Name: "main", Image: image}},
		},
	}
}

// badPod is newPod with a manifest that no rules allow.
func badPod(name string) api.Pod {
	pod := newPod(name, "image")
	pod.Manifest.Containers[0].Name = "NOT A NAME"
	return pod
}

// show writes pods as "name=image" in their order.
func show(pods []api.Pod) string {
	var words []string
	for _, pod := range pods {
		var images []string
		for _, c := range pod.Manifest.Containers {
			images = append(images, c.Image)
		}
		words = append(words, pod.Name+"="+strings.Join(images, ","))
	}
	return strings.Join(words, " ")
}

// showUpdate writes an update as "SET web=1 db=1 silent:file".
func showUpdate(update api.PodUpdate) string {
	text := strings.TrimSpace(fmt.Sprint(update.Op, " ", show(update.Pods)))
	for _, source := range sortedKeys(update.Unsynced) {
		text += " silent:" + source
	}
	return text
}

// captureLog returns a function that gives what was logged since captureLog.
func captureLog(t *testing.T) func() string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = file
	t.Cleanup(func() {
		os.Stderr = stderr
		file.Close()
	})
	return func() string {
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

package config

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
)

func TestMain(m *testing.M) { unittest.Main(m) }

func testParser() Parser {
	return Parser{Hostname: "host", Scheme: v1.NewScheme()}
}

// newPod returns a valid pod of the default namespace.
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

// manifest returns a pod of one container; an empty id is left out.
func manifest(id, image string) string {
	if id != "" {
		id = "id: " + id + "\n"
	}
	return fmt.Sprintf("version: v1beta1\n%scontainers:\n- name: main\n  image: %q", id, image)
}

func withUUID(uuid, manifest string) string { return manifest + "\nuuid: " + uuid }

// list returns a YAML list of manifests.
func list(manifests ...string) string {
	text := ""
	for _, m := range manifests {
		text += "- " + strings.ReplaceAll(m, "\n", "\n  ") + "\n"
	}
	return text
}

// listObject returns a ContainerManifestList.
func listObject(manifests ...string) string {
	return "kind: ContainerManifestList\napiVersion: v1beta1\nitems:\n" + list(manifests...)
}

// show writes pods as "name=image" in their order.
func show(pods []api.Pod) string {
	var words []string
	for _, pod := range pods {
		words = append(words, pod.Name+"="+pod.Manifest.Containers[0].Image)
	}
	return strings.Join(words, " ")
}

// showUpdate writes an update as "SET web=1 db=1 unsynced:file".
func showUpdate(update api.PodUpdate) string {
	text := strings.TrimSpace(fmt.Sprint(update.Op, " ", show(update.Pods)))
	for _, source := range sortedKeys(update.Unsynced) {
		text += " unsynced:" + source
	}
	return text
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// mismatch describes how a SET differs from the pods and from the words in its error. Without words it wants no error.
func mismatch(update api.PodUpdate, pods string, words []string) string {
	text := fmt.Sprintf("%v %s\nerror: %v\nwant SET %s and an error with %q", update.Op, show(update.Pods), update.Err, pods, words)
	if update.Op != api.SET || show(update.Pods) != pods || (update.Err == nil) != (len(words) == 0) {
		return text
	}
	for _, word := range words {
		if !strings.Contains(update.Err.Error(), word) {
			return text
		}
	}
	return ""
}

// mustEnd fails a test that waits for a lock: neither a select nor a bubble notices that.
func mustEnd(t *testing.T) {
	timer := time.AfterFunc(unittest.Limit(), func() { panic(t.Name() + " waits for a lock") })
	t.Cleanup(func() { timer.Stop() })
}

// run is a source that runs until the test ends, or stop is called.
type run struct {
	Source
	t       *testing.T
	updates chan api.PodUpdate
	last    api.PodUpdate
	errs    []string // all different errors that were received
	stop    func()
}

func runSource(t *testing.T, source Source) *run {
	r := &run{Source: source, t: t, updates: make(chan api.PodUpdate)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		source.Run(ctx, r.updates)
	}()
	r.stop = func() { cancel(); unittest.Receive(t, ended, "the source goes on although its context is done") }
	t.Cleanup(r.stop)
	return r
}

// await receives until the pods are as wanted and the error has all of the words; without words, until there is no
// error.
func (r *run) await(pods string, words ...string) {
	r.t.Helper()
	r.awaitThat(func() string { return mismatch(r.last, pods, words) })
}

// awaitThat receives until there is no mismatch.
func (r *run) awaitThat(mismatch func() string) {
	r.t.Helper()
	deadline := time.After(unittest.Limit())
	look := time.NewTicker(5 * time.Millisecond) // for what changes without an update
	defer look.Stop()
	for mismatch() != "" {
		select {
		case <-look.C:
		case r.last = <-r.updates:
			if err := fmt.Sprint(r.last.Err); r.last.Err != nil && !slices.Contains(r.errs, err) {
				r.errs = append(r.errs, err)
			}
		case <-deadline:
			unittest.GiveUp(r.t, mismatch())
		}
	}
}

// awaitStatus waits until the status is good, and returns it.
func (r *run) awaitStatus(good func(api.SourceStatus) bool) api.SourceStatus {
	r.t.Helper()
	r.awaitThat(func() string {
		if status := r.Status(); !good(status) {
			return fmt.Sprintf("status %+v", status)
		}
		return ""
	})
	return r.Status()
}

package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kubelet14/config/etcdtest"
	"kubelet14/kubelet/e2e/hosttest"
)

// The desired state of a source that cannot be read is not known. Its pods stay as they
// are, also over a restart, and those of other sources are looked after meanwhile. One id
// in three sources is three pods.
func TestIntegrationSourcesThatFail(t *testing.T) {
	t.Parallel()
	h, p := testSourcesThatFail(t, "file", "http")
	// The pods of a source that is no longer given are removed.
	p.Stop()
	h.startFrom("file")
	h.AwaitGone("pod.default.http")
	h.Check(h.Up("pod.default.file"))
}

// It takes a while to notice that etcd has ended.
func TestIntegrationEtcdThatFails(t *testing.T) {
	t.Parallel()
	testSourcesThatFail(t, "file", "http", "etcd")
}

func testSourcesThatFail(t *testing.T, sources ...string) (*host, *hosttest.Process) {
	h := newSourcesHost(t)
	repairWeb := func() { h.web.Serve() }
	type fault struct {
		source        string
		spoil, repair func()
		says          []string // words of the error; none: there is none yet
	}
	faults := []fault{
		{"file", func() { h.Write("pod", hosttest.Block("pod", "/hello, sleep")+"    imgae: x\n") }, func() { h.WriteSleepers("pod") },
			[]string{filepath.Join(h.Manifests, "pod.yaml") + ":7:5: containers[0].imgae", "unknown field", `"image"`}},
		{"http", func() { h.web.Answer(200, "{}") }, repairWeb, []string{"/pods.yaml:1:1"}},
		{"http", func() { h.web.Answer(0, "") }, repairWeb, nil},
	}
	if slices.Contains(sources, "etcd") {
		h.etcd = etcdtest.Start(t)
		faults = []fault{{"etcd", h.etcd.Kill, h.etcd.Restart, []string{"connection refused"}}}
	}
	var pods []string
	for _, source := range sources {
		pods = append(pods, "pod.default."+source)
	}
	h.putSleepers(pods...)
	p := h.startFrom(sources...)
	for _, f := range faults {
		i := slices.Index(sources, f.source)
		own, other, leaves := pods[i], pods[(i+1)%len(pods)], "leaves.default."+f.source
		h.putSleepers(leaves)
		h.AwaitUp(append(pods, leaves)...)
		want, what := h.IDs(), fmt.Sprintf("%s: %q", f.source, f.says)
		f.spoil()
		if f.says != nil {
			p.AwaitSource(f.source, f.says...)
		}
		h.Mend(own, other) // its pods are known still
		h.MustBe(what, want, own, other)

		want = h.IDs()
		p.Kill()
		p = h.startFrom(sources...)
		if f.says != nil {
			p.AwaitSource(f.source, f.says...)
		}
		h.Mend(other)
		h.MustBe(what+", after a restart", want, other)

		f.repair()
		p.AwaitSource(f.source)
		h.drop(leaves)
		h.AwaitGone(leaves)
		h.MustBe(what+", when it is over", want, other, leaves)
	}
	return h, p
}

const movingPod = `apiVersion: v1
kind: Pod
metadata: {name: pod, uid: UID}
spec:
  terminationGracePeriodSeconds: 60
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - {name: main, image: HELLO, command: [/hello, sleep, -ignore-term]}
  - {name: writer, image: HELLO, command: [/hello, append, /data/log, begun], volumeMounts: [{name: data, mountPath: /data}]}
`

// Two pods with one uuid would share their volumes, so the second one waits, and then takes over the volume.
func TestIntegrationAPodMovesToAnotherSourceWithItsVolume(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	manifest := hosttest.EmptyDirPod("uuid: " + h.Hostname)
	h.put("pod.default.file", strings.Replace(movingPod, "UID", h.Hostname, 1))
	h.putSleepers("other.default.file")
	p := h.startFrom("file", "http")
	volume := func(text string) func() error {
		return func() error { return hosttest.FileHolds(filepath.Join(h.EmptyDirs(h.Hostname), "data", "log"), text) }
	}
	h.Await("the first pod is up", func() error {
		return errors.Join(h.Up("other"), h.Whole("pod.default.file", "main", "writer"), volume("begun\n")())
	})
	want := h.IDs()
	h.put("pod.default.http", manifest)
	p.AwaitShows("pod.default.http", "failing", "UUIDTaken: ", h.Hostname, "pod.default.file")
	h.MustBe("while another pod wants its uuid", want)

	stubborn := h.Stubborn("pod.default.file")
	h.drop("pod.default.file")
	h.AwaitLogOf(stubborn, "asked to stop:")
	h.Mend("other")
	if err := h.Gone("pod.default.http"); err != nil {
		t.Errorf("the second pod does not wait for the end of the first: %v", err)
	}
	h.Kill("pod.default.file", "main")
	h.Await("the second pod takes over", func() error {
		return errors.Join(h.Gone("pod.default.file"), h.Whole("pod.default.http", "main", "writer"), volume("begun\nbegun\n")())
	})

	// And back again during a restart: the kubelet first reads that the pod is gone from its old place, and later finds
	// it in the new one.
	p.Stop()
	h.drop("pod.default.http")
	h.put("pod.default.file", manifest)
	h.web.Answer(0, "") // nothing yet
	p = h.startFrom("file", "http")
	p.AwaitShows("pod", "failing", "UUIDTaken: ")
	h.Check(h.Whole("pod.default.http", "main", "writer"))
	h.web.Serve()
	h.Await("the pod is up where it has moved to", func() error {
		return errors.Join(h.Gone("pod.default.http"), h.Whole("pod.default.file", "main", "writer"), volume("begun\nbegun\nbegun\n")())
	})
}

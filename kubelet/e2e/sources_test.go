package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kubelet14/config/etcdtest"
)

// The desired state of a source that cannot be read is not known. Its pods stay as they
// are, also over a restart, and those of other sources are looked after meanwhile. One id
// in three sources is three pods.
func TestIntegrationSourcesThatFail(t *testing.T) {
	t.Parallel()
	h, p := testSourcesThatFail(t, "file", "http")
	// A source that is not given any more loses its pods.
	p.stop()
	h.startFrom("file")
	h.awaitGone("pod.default.http")
	h.check(h.up("pod.default.file"))
}

// It takes a while until the end of etcd is noticed.
func TestIntegrationEtcdThatFails(t *testing.T) {
	t.Parallel()
	testSourcesThatFail(t, "file", "http", "etcd")
}

func testSourcesThatFail(t *testing.T, sources ...string) (*host, *process) {
	h := newSourcesHost(t)
	repairWeb := func() { h.web.answers(nil) }
	type fault struct {
		source        string
		spoil, repair func()
		says          []string // words of the error; none: there is none yet
	}
	faults := []fault{
		{"file", func() { h.write("pod", block("pod", "/hello, sleep")+"    imgae: x\n") }, func() { h.writeSleepers("pod") },
			[]string{filepath.Join(h.manifests, "pod.yaml") + ":7:5: containers[0].imgae", "unknown field", `"image"`}},
		{"http", func() { h.web.answers(&answer{200, "{}"}) }, repairWeb, []string{"/pods.yaml:1:1"}},
		{"http", func() { h.web.answers(&answer{}) }, repairWeb, nil},
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
		h.awaitUp(append(pods, leaves)...)
		want, what := h.ids(), fmt.Sprintf("%s: %q", f.source, f.says)
		f.spoil()
		if f.says != nil {
			p.awaitSource(f.source, f.says...)
		}
		h.mend(own, other) // its pods are known still
		h.mustBe(what, want, own, other)

		want = h.ids()
		p.kill()
		p = h.startFrom(sources...)
		if f.says != nil {
			p.awaitSource(f.source, f.says...)
		}
		h.mend(other)
		h.mustBe(what+", after a restart", want, other)

		f.repair()
		p.awaitSource(f.source)
		h.drop(leaves)
		h.awaitGone(leaves)
		h.mustBe(what+", when it is over", want, other, leaves)
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

// Two pods with one uuid would share their volumes: the second one waits, and takes the
// volume over.
func TestIntegrationAPodMovesToAnotherSourceWithItsVolume(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	manifest := emptyDirPod("uuid: " + h.hostname)
	h.put("pod.default.file", strings.Replace(movingPod, "UID", h.hostname, 1))
	h.putSleepers("other.default.file")
	p := h.startFrom("file", "http")
	volume := func(text string) func() error {
		return func() error { return fileHolds(filepath.Join(h.emptyDirs(h.hostname), "data", "log"), text) }
	}
	h.await("the first pod is up", func() error {
		return errors.Join(h.up("other"), h.whole("pod.default.file", "main", "writer"), volume("begun\n")())
	})
	want := h.ids()
	h.put("pod.default.http", manifest)
	p.awaitShows("pod.default.http", "failing", "UUIDTaken: ", h.hostname, "pod.default.file")
	h.mustBe("while another pod wants its uuid", want)

	stubborn := h.stubborn("pod.default.file")
	h.drop("pod.default.file")
	h.awaitLogOf(stubborn, "asked to stop:")
	h.mend("other")
	if err := h.gone("pod.default.http"); err != nil {
		t.Errorf("the second pod does not wait for the end of the first: %v", err)
	}
	h.kill("pod.default.file", "main")
	h.await("the second pod takes over", func() error {
		return errors.Join(h.gone("pod.default.file"), h.whole("pod.default.http", "main", "writer"), volume("begun\nbegun\n")())
	})

	// Back again over a restart: the kubelet reads first that the pod is not where it
	// was, and later where it is.
	p.stop()
	h.drop("pod.default.http")
	h.put("pod.default.file", manifest)
	h.web.answers(&answer{}) // nothing yet
	p = h.startFrom("file", "http")
	p.awaitShows("pod", "failing", "UUIDTaken: ")
	h.check(h.whole("pod.default.http", "main", "writer"))
	h.web.answers(nil)
	h.await("the pod is up where it has moved to", func() error {
		return errors.Join(h.gone("pod.default.http"), h.whole("pod.default.file", "main", "writer"), volume("begun\nbegun\nbegun\n")())
	})
}

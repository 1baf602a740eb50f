package e2e

import (
	"testing"

	"kubelet14/kubelet/dockertools/registrytest"
)

// What keeps an image from coming is in the status, with the time of the next pull,
// and when it is mended the pod comes up by itself.
func TestIntegrationPullFailsAndIsTriedAgain(t *testing.T) {
	type registry = *registrytest.Registry
	type image = registrytest.Image
	for _, test := range []struct {
		name        string
		fail        func(r registry) (mend func() image)
		reason, why string
	}{
		{"the tag is missing", func(r registry) func() image {
			r.Push("web:2")
			return func() image { return r.Push("web:1") }
		}, "ImageNotFound: ", "manifest unknown"},
		{"the registry is down", func(r registry) func() image {
			pushed := r.Push("web:1")
			r.Stop()
			return func() image { r.Start(); return pushed }
		}, "PullFailed: ", "connection refused"},
		{"the pull is cut half way", func(r registry) func() image {
			pushed := r.Push("web:1")
			r.CutBlobs()
			return func() image { r.MendBlobs(); return pushed }
		}, "PullFailed: ", "unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newRegistryHost(t)
			ref := h.registry.Addr() + "/web:1"
			mend := test.fail(h.registry)
			h.put("pod", ref)
			h.write("other.yaml", sleeper("other"))
			p := h.start()
			h.eventually("the status says why", func() error {
				return p.shows("pod/main", "waiting", test.reason, ref, test.why, "; the next pull is at ")
			})
			h.eventually("the other pod is up", func() error { return h.sleepersAre("other") })
			h.awaitRuns("pod", mend())
		})
	}
}

func TestIntegrationPullByDigest(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web:1")
	h.registry.Push("web:1") // the tag has moved since
	h.put("pod", image.ByDigest)
	h.start()
	h.awaitRuns("pod", image)
	// What a digest stands for is never fetched twice.
	h.registry.Stop()
	h.killAndAwait("pod")
	h.awaitRuns("pod", image)
}

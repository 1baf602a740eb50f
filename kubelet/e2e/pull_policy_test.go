package e2e

import "testing"

// A present :latest is pulled again when its pod first starts and when its container
// changes, but not after a crash.
func TestIntegrationPullOfALatestThatIsPresent(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	h.pull(h.registry.Push("web"))
	first := h.registry.Push("web") // the tag has moved since
	h.put("pod", h.registry.Addr()+"/web")
	p := h.start()
	h.awaitRuns("pod", first)
	h.mustHaveAsked(2, "at the first start", "web:latest")

	second := h.registry.Push("web")
	h.killAndAwait("pod")
	h.awaitRuns("pod", first)
	h.mustHaveAsked(2, "after a crash", "web:latest")

	h.edit("pod", second.Ref)
	h.awaitRuns("pod", second)
	h.mustHaveAsked(3, "after an edit", "web:latest")

	h.registry.Stop()
	h.edit("pod", second.Ref)
	h.awaitRuns("pod", second)
	h.put("other", second.Ref)
	h.awaitRuns("other", second)
	for _, pod := range []string{"pod", "other"} {
		p.says("pod "+pod+".default.file", "the present image", second.Ref, "is used", "connection refused")
	}
}

func TestIntegrationPullAlways(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	first := h.registry.Push("web:1")
	h.pull(first)
	h.put("pod", first.Ref, "imagePullPolicy: PullAlways")
	p := h.start()
	h.awaitRuns("pod", first)
	h.mustHaveAsked(2, "at the first start", "web:1")

	second := h.registry.Push("web:1")
	h.killAndAwait("pod")
	h.awaitRuns("pod", second)
	h.mustHaveAsked(3, "after a crash", "web:1")

	h.registry.Stop()
	h.killMain("pod")
	h.eventually("the status says why it does not come back", func() error {
		return p.shows("pod/main", "waiting", "PullFailed: ", second.Ref, "connection refused")
	})
	if c, err := h.one("pod", "main"); err == nil {
		t.Errorf("it was started without a pull: %s", c)
	}
	h.registry.Start()
	h.awaitRuns("pod", second)
	h.mustHaveAsked(4, "when it was there again", "web:1")
}

func TestIntegrationPullNever(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web")
	h.put("pod", image.Ref, "imagePullPolicy: PullNever")
	p := h.start()
	h.eventually("the status says why", func() error {
		return p.shows("pod/main", "waiting", "ImageNeverPulled: ", image.Ref, "PullNever", "docker pull")
	})
	h.mustHaveAsked(0, "while it was missing", "web")

	h.pull(image)
	h.awaitRuns("pod", image)
	h.registry.Push("web")
	h.killAndAwait("pod")
	h.edit("pod", image.Ref, "imagePullPolicy: PullNever")
	h.awaitRuns("pod", image)
	h.mustHaveAsked(1, "besides the pull by hand", "web")
}

func TestIntegrationPullIfNotPresent(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web:1")
	h.pull(image)
	h.registry.Push("web:1") // the tag has moved since
	pods := map[string][]string{"default": nil, "said": {"imagePullPolicy: PullIfNotPresent"}}
	for pod, policy := range pods {
		h.put(pod, image.Ref, policy...)
	}
	h.start()
	for pod, policy := range pods {
		h.awaitRuns(pod, image)
		h.killAndAwait(pod)
		h.edit(pod, image.Ref, policy...)
		h.awaitRuns(pod, image)
	}
	h.mustHaveAsked(1, "besides the pull by hand", "web:1")
}

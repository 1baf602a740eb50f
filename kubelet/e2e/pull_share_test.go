package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools/registrytest"
)

// However many pods want an image, and however often they are looked at meanwhile,
// the registry is asked for it once.
func TestIntegrationPullOnceForManyPods(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	h.pull(h.registry.Push("other:1"))
	onePull := len(h.registry.Pulls("other:1"))

	image := h.registry.Push("web:1")
	h.registry.HoldBlobs()
	var pods []string
	for i := range 20 {
		pods = append(pods, fmt.Sprintf("pod%d", i))
		h.put(pods[i], image.Ref)
	}
	p := h.start("-sync_frequency=100ms")
	h.eventually("all wait for the image", func() error {
		table, err := p.status()
		for _, pod := range pods {
			if err == nil {
				err = table.shows(pod+"/main", "waiting", "Pulling: ", image.Ref)
			}
		}
		return err
	})
	h.mustHaveAsked(onePull, "while all wait", "web:1")

	h.registry.MendBlobs()
	for _, pod := range pods {
		h.awaitRuns(pod, image)
	}
	h.mustHaveAsked(onePull, "when all run", "web:1")
}

// pushImages gives so many pods an image each, by their ids.
func (h *registryHost) pushImages(pods int) (images map[string]registrytest.Image) {
	h.t.Helper()
	images = map[string]registrytest.Image{}
	for i := range pods {
		id := fmt.Sprintf("pod%d", i)
		images[id] = h.registry.Push(id + ":1")
	}
	return images
}

func (h *registryHost) putAll(images map[string]registrytest.Image) {
	h.t.Helper()
	for id, image := range images {
		h.put(id, image.Ref)
	}
}

func TestIntegrationPullsKeepRegistryQPS(t *testing.T) {
	t.Parallel()
	const qps = 2
	h := newRegistryHost(t)
	images := h.pushImages(8)
	before := time.Now()
	h.putAll(images)
	h.start(fmt.Sprintf("-registry_qps=%d", qps), "-registry_burst=1")
	for id, image := range images {
		h.awaitRuns(id, image)
	}
	for i, at := range h.registry.Pulls() {
		if soonest := time.Duration(i) * time.Second / qps; at.Sub(before) < soonest {
			t.Errorf("pull %d began after %v, want at least %v", i+1, at.Sub(before), soonest)
		}
	}
}

func TestIntegrationPullsBeyondRegistryBurstWait(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	images := h.pushImages(4)
	h.putAll(images)
	p := h.start("-registry_qps=0.001", "-registry_burst=3")
	h.eventually("all but one pod run, and that one says what it waits for", func() error {
		table, err := p.status()
		if err != nil {
			return err
		}
		running := 0
		for id, image := range images {
			if h.runs(id, image) == nil {
				running++
			} else if err := table.shows(id+"/main", "waiting", "Pulling: ", image.Ref, "waits for its turn by -registry_qps"); err != nil {
				return err
			}
		}
		if running != 3 {
			return fmt.Errorf("%d run, want 3", running)
		}
		return nil
	})
	if pulls := h.registry.Pulls(); len(pulls) != 3 {
		t.Errorf("pulls began at %v, want 3", pulls)
	}
}

// While a registry hangs, nothing waits for it but the container that needs it.
func TestIntegrationPullThatHangsHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web:1")
	h.registry.HoldBlobs()
	h.write("pod.yaml", strings.ReplaceAll(twoContainers, "name: side, image: HELLO", "name: side, image: "+image.Ref))
	h.put("edited", image.Ref)
	h.put("removed", image.Ref)
	p := h.start()
	waits := func(names ...string) func() error {
		return func() error {
			table, err := p.status()
			for _, name := range names {
				if err == nil {
					err = table.shows(name, "waiting", "Pulling: pulling "+image.Ref+": 0 of 1 layers, ", "B of 3.")
				}
			}
			return err
		}
	}
	h.eventually("the status says how far the pull is", waits("pod/side", "edited/main", "removed/main"))

	main := h.live("pod", "main")
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: main.id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("a killed container of the same pod comes back", func() error { return h.replaced("pod", "main", main) })
	h.write("new.yaml", sleeper("new"))
	h.eventually("a new pod starts", func() error { return h.sleepersAre("new") })
	h.write("edited.yaml", sleeper("edited"))
	h.eventually("an edit to an image that is there counts at once", func() error { return h.sleepersAre("edited") })
	h.remove("removed.yaml")
	h.eventually("a removed pod goes", func() error { return h.gone("removed") })
	h.eventually("the other container still waits", waits("pod/side"))

	edited := h.live("edited", "main")
	h.registry.MendBlobs()
	h.eventually("it comes when the registry goes on", func() error { return h.whole("pod", "main", "side") })
	if now := h.live("edited", "main"); now.id != edited.id {
		t.Errorf("the end of a pull that it no longer waits for has changed a pod: %s, before %s", now, edited)
	}
	if err := h.gone("removed"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationPullWhileTheKubeletIsKilled(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("web:1")
	h.registry.HoldBlobs()
	h.put("pod", image.Ref)
	p := h.start()
	h.registry.AwaitHeld()
	p.kill()

	p = h.start()
	h.eventually("the next kubelet pulls it", func() error { return p.shows("pod/main", "waiting", "Pulling: ", image.Ref) })
	h.registry.MendBlobs()
	h.awaitRuns("pod", image)
	if all := h.containers(); len(all) != 2 {
		t.Errorf("the pod has these containers, want its network container and one more:\n%s", h.describe())
	}
}

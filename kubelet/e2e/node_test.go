package e2e

import (
	"errors"
	"fmt"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/registrytest"
)

// Without the gate Eviction a pressure is reported, and nothing else happens.
func TestIntegrationAPressureIsReported(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("web")
	h.Run("-config="+h.Manifests, "-feature_gates=Eviction=true", "-dry_run").MustExit(t, 0, "-feature_gates=Eviction does nothing with -runonce and -dry_run")
	h.Start("-eviction_hard=memory.available<100%,nodefs.available<0,imagefs.available<0,nodefs.inodesFree<0")
	h.AwaitUp("web")
	h.Await("-status shows it and fails", func() error {
		r := h.Run("-status")
		if err := unittest.HasWords(r.Stdout, "node "+h.Hostname+": MemoryPressure since ", "less than 100%"); r.Exit != 1 || err != nil {
			return fmt.Errorf("exit %d, %w\n%s", r.Exit, err, r.Stderr)
		}
		return nil
	})
}

// Only the image that this kubelet has pulled and nobody needs is removed.
func TestIntegrationLongImagesAreCollected(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	flags := []string{"-feature_gates=ImageGarbageCollection=true", "-image_gc_high_threshold=0", "-image_gc_low_threshold=0", "-minimum_image_ttl_duration=0s"}
	other := newHost(t)
	other.Env = h.Env
	images := map[string]registrytest.Image{}
	for id, of := range map[string]*host{"unneeded": h.host, "desired": h.host, "present": h.host, "others": other} {
		images[id] = h.registry.Push(id + ":1")
		of.Write(id, imagePod(id, images[id].Ref))
	}
	h.pull(images["present"])
	q, p := other.Start(flags...), h.Start(flags...)
	other.awaitRuns("others", images["others"])
	for _, id := range []string{"unneeded", "desired", "present"} {
		h.awaitRuns(id, images[id])
	}
	q.Kill()
	p.Kill()
	other.MustRun("-cleanup")
	h.Remove("unneeded", "present")
	p = h.Start(flags...)
	p.AwaitLog("removed image "+h.registry.Addr()+"/unneeded", "nobody needs it")
	h.AwaitUp("desired")
	for id, image := range images {
		if _, err := h.Docker.InspectImage(image.ByDigest); errors.Is(err, docker.ErrNoSuchImage) != (id == "unneeded") {
			t.Errorf("%s: its inspect: %v", id, err)
		}
	}
	for _, name := range []string{dockertools.PauseImage, dockertools.HelloImage} {
		if _, err := h.Docker.InspectImage(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

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
	p := h.Start("-eviction_hard=memory.available<100%,nodefs.available<0,imagefs.available<0,nodefs.inodesFree<0")
	h.AwaitUp("web")
	want := "Ready=True MemoryPressure=True DiskPressure=False PIDPressure=False"
	h.Await("the conditions are "+want, func() error {
		var node struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		err := p.AskJSON("/node", &node)
		var got []string
		for _, c := range node.Status.Conditions {
			got = append(got, c.Type+"="+c.Status)
		}
		if text := strings.Join(got, " "); err == nil && text != want {
			err = fmt.Errorf("the conditions are %s", text)
		}
		return err
	})
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
	images := map[string]registrytest.Image{}
	for _, id := range []string{"unneeded", "unneeded-by-digest", "desired", "with-container", "with-tag", "with-child", "pulled-again", "present", "others", "of-no-pod"} {
		images[id] = h.registry.Push(id + ":1")
	}
	exists := func(id string) error {
		_, err := h.Docker.InspectImage(images[id].ByDigest)
		return err
	}
	h.pull(images["present"])
	h.pull(images["of-no-pod"])
	for id, image := range images {
		switch id {
		case "unneeded-by-digest":
			image.Ref = image.ByDigest
		case "others", "of-no-pod":
			continue
		}
		h.Write(id, imagePod(id, image.Ref))
	}
	other := newHost(t)
	other.Env = h.Env
	other.Write("others", imagePod("others", images["others"].Ref))
	q := other.Start(flags...)
	p := h.Start(flags...)
	for id, image := range images {
		if id == "others" {
			other.awaitRuns(id, image)
		} else if id != "of-no-pod" {
			h.awaitRuns(id, image)
		}
	}

	// This is done by a person meanwhile; the container never starts.
	c, err := h.Docker.CreateContainer(docker.CreateContainerOptions{Config: &docker.Config{Image: images["with-container"].Ref}})
	h.Must(err)
	t.Cleanup(func() { h.removeByID(c.ID) })
	mine := h.registry.Addr() + "/mine"
	h.Must(h.Docker.TagImage(images["with-tag"].Ref, docker.TagImageOptions{Repo: mine, Tag: "1"}))
	var dir bytes.Buffer
	file := fstest.MapFS{"Dockerfile": {Data: []byte("FROM " + images["with-child"].Ref + "\nLABEL mine=yes\n"), Mode: 0o644}}
	h.Must(dockertools.WriteLayer(&dir, file))
	h.Must(h.Docker.BuildImage(docker.BuildImageOptions{Name: mine + ":2", InputStream: &dir, OutputStream: io.Discard}))
	h.pull(images["pulled-again"])
	h.Await("the kubelet hears of the pull", func() error {
		records, err := filepath.Glob(filepath.Join(h.RootDir, "image_manager/pulled/*"))
		if len(records) != 6 {
			err = fmt.Errorf("the kubelet has %d records of its own pulls, %v", len(records), err)
		}
		return err
	})
	q.Kill()
	p.Kill()
	other.MustRun("-cleanup")
	for id := range images {
		if id != "desired" && id != "others" && id != "of-no-pod" {
			h.Remove(id)
		}
	}
	p = h.Start(append(flags, "-file_check_frequency=1s")...)
	for _, id := range []string{"unneeded", "unneeded-by-digest"} {
		h.AwaitGone(id)
		h.Await(id+" is collected", func() error {
			if err := exists(id); !errors.Is(err, docker.ErrNoSuchImage) {
				return fmt.Errorf("its inspect: %v", err)
			}
			return nil
		})
		p.AwaitLog("removed image "+h.registry.Addr()+"/"+id, "nobody needs it")
		delete(images, id)
	}
	h.AwaitUp("desired")
	for id := range images {
		if err := exists(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, name := range []string{dockertools.PauseImage, dockertools.HelloImage, images["with-child"].Ref} {
		if _, err := h.Docker.InspectImage(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

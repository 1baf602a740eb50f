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

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/registrytest"
)

// A pressure is reported, and without the gate Eviction that is all.
func TestIntegrationAPressureIsReported(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("web")
	p := h.start("-eviction_hard=memory.available<100%,nodefs.available<0,imagefs.available<0,nodefs.inodesFree<0")
	h.awaitUp("web")
	want := "Ready=True MemoryPressure=True DiskPressure=False PIDPressure=False"
	h.await("the conditions are "+want, func() error {
		var node struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		err := p.askJSON("/node", &node)
		var got []string
		for _, c := range node.Status.Conditions {
			got = append(got, c.Type+"="+c.Status)
		}
		if text := strings.Join(got, " "); err == nil && text != want {
			err = fmt.Errorf("they are %s", text)
		}
		return err
	})
	h.await("-status shows it and fails", func() error {
		r := h.run("-status")
		if err := hasWords(r.stdout, []string{"node " + h.hostname + ": MemoryPressure since ", "less than 100%"}); r.exit != 1 || err != nil {
			return fmt.Errorf("exit %d, %w\n%s", r.exit, err, r.stderr)
		}
		return nil
	})
}

// Of all images only that goes which this kubelet has pulled and nobody needs.
func TestIntegrationLongImagesAreCollected(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	flags := []string{"-feature_gates=ImageGarbageCollection=true", "-image_gc_high_threshold=0", "-image_gc_low_threshold=0", "-minimum_image_ttl_duration=0s"}
	images := map[string]registrytest.Image{}
	for _, id := range []string{"unneeded", "unneeded-by-digest", "desired", "with-container", "with-tag", "with-child", "pulled-again", "present", "others", "of-no-pod"} {
		images[id] = h.registry.Push(id + ":1")
	}
	exists := func(id string) error {
		_, err := h.docker.InspectImage(images[id].ByDigest)
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
		h.write(id, imagePod(id, image.Ref))
	}
	other := newHost(t)
	other.env = h.env
	other.write("others", imagePod("others", images["others"].Ref))
	q := other.start(flags...)
	p := h.start(flags...)
	for id, image := range images {
		if id == "others" {
			other.awaitRuns(id, image)
		} else if id != "of-no-pod" {
			h.awaitRuns(id, image)
		}
	}

	// What a person does meanwhile; the container never starts.
	c, err := h.docker.CreateContainer(docker.CreateContainerOptions{Config: &docker.Config{Image: images["with-container"].Ref}})
	h.must(err)
	t.Cleanup(func() { h.removeByID(c.ID) })
	mine := h.registry.Addr() + "/mine"
	h.must(h.docker.TagImage(images["with-tag"].Ref, docker.TagImageOptions{Repo: mine, Tag: "1"}))
	var dir bytes.Buffer
	file := fstest.MapFS{"Dockerfile": {Data: []byte("FROM " + images["with-child"].Ref + "\nLABEL mine=yes\n"), Mode: 0o644}}
	h.must(dockertools.WriteLayer(&dir, file))
	h.must(h.docker.BuildImage(docker.BuildImageOptions{Name: mine + ":2", InputStream: &dir, OutputStream: io.Discard}))
	h.pull(images["pulled-again"])
	h.await("the kubelet hears of the pull", func() error {
		records, err := filepath.Glob(filepath.Join(h.rootDir, "image_manager/pulled/*"))
		if len(records) != 6 {
			err = fmt.Errorf("it has %d records of its own pulls, %v", len(records), err)
		}
		return err
	})
	q.kill()
	p.kill()
	other.mustRun("-cleanup")
	for id := range images {
		if id != "desired" && id != "others" && id != "of-no-pod" {
			h.remove(id)
		}
	}
	p = h.start(append(flags, "-file_check_frequency=1s")...)
	for _, id := range []string{"unneeded", "unneeded-by-digest"} {
		h.awaitGone(id)
		h.await(id+" is collected", func() error {
			if err := exists(id); !errors.Is(err, docker.ErrNoSuchImage) {
				return fmt.Errorf("its inspect: %v", err)
			}
			return nil
		})
		p.awaitLog("removed image "+h.registry.Addr()+"/"+id, "nobody needs it")
		delete(images, id)
	}
	h.awaitUp("desired")
	for id := range images {
		if err := exists(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, name := range []string{dockertools.PauseImage, helloImage, images["with-child"].Ref} {
		if _, err := h.docker.InspectImage(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

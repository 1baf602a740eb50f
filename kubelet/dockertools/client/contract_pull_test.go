package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/dockertools/registrytest"
)

// contractRegistry is a registry that the Docker under test can reach. What is set
// holds for images that are pushed later.
type contractRegistry interface {
	Addr() string
	Push(repoTag string) (byDigest string)
	SetAuth(user, password string)
	HoldBlobs() // no pull gets further than the middle
}

type realRegistry struct{ *registrytest.Registry }

func (r realRegistry) Push(repoTag string) string { return r.Registry.Push(repoTag).ByDigest }

// fakeRegistry is what a Fake knows of remote images.
type fakeRegistry struct {
	fake   *dockertest.Fake
	remote dockertest.RemoteImage
	pushed int
}

func (r *fakeRegistry) Addr() string { return "127.0.0.1:5000" }

func (r *fakeRegistry) Push(repoTag string) (byDigest string) {
	r.pushed++
	repo, _, _ := strings.Cut(repoTag, ":")
	byDigest = fmt.Sprintf("%s/%s@sha256:%064d", r.Addr(), repo, r.pushed)
	r.fake.AddRemoteImage(r.Addr()+"/"+repoTag, r.remote)
	r.fake.AddRemoteImage(byDigest, r.remote)
	return byDigest
}

func (r *fakeRegistry) SetAuth(user, password string) {
	r.remote.Auth = dockertools.Auth{Username: user, Password: password}
}

func (r *fakeRegistry) HoldBlobs() { r.remote.Takes = 24 * time.Hour }

func noProgress(dockertools.PullProgress) {}

// pull pulls an image, and returns its id.
func (d *contractDocker) pull(t *testing.T, image string) (id string) {
	t.Helper()
	must(t, d.PullImage(t.Context(), image, dockertools.Auth{}, noProgress))
	id, err := d.InspectImage(t.Context(), image)
	if err != nil || id == "" {
		t.Fatalf("the image that was pulled: %q, %v", id, err)
	}
	return id
}

func testPull(t *testing.T, d *contractDocker) {
	r := d.registry(t)
	r.Push("web:1")
	image := r.Addr() + "/web:1"
	if id, err := d.InspectImage(t.Context(), image); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Fatalf("before the pull: %q, %v", id, err)
	}
	var last dockertools.PullProgress
	err := d.PullImage(t.Context(), image, dockertools.Auth{}, func(p dockertools.PullProgress) {
		if p.Layers < last.Layers || p.LayersDone < last.LayersDone || p.Bytes < last.Bytes || p.TotalBytes < last.TotalBytes ||
			p.LayersDone > p.Layers || p.Bytes > p.TotalBytes {
			t.Errorf("progress %+v comes after %+v", p, last)
		}
		last = p
	})
	must(t, err)
	// How large they are may be among what a busy Docker leaves out.
	if last.Layers == 0 || last.LayersDone != last.Layers || last.Bytes != last.TotalBytes {
		t.Errorf("the pull has succeeded, and its progress ended with %+v", last)
	}

	id := d.pull(t, image) // the same again
	spec := d.spec(t, "c", "exit", "0")
	spec.Image = image
	c := d.create(t, spec)
	d.start(t, c)
	if details := d.ended(t, c); details.ExitCode != 0 || details.ImageID != id {
		t.Errorf("a container of image %q: %+v", id, details)
	}
	r.Push("web:1")
	if changed := d.pull(t, image); changed == id {
		t.Errorf("it has changed in the registry, and is still %s", changed)
	}
}

func testPullNames(t *testing.T, d *contractDocker) {
	r := d.registry(t)
	byDigest := r.Push("web:latest")
	other := r.Push("web:other")
	d.pull(t, r.Addr()+"/web") // that is "latest"
	for image, want := range map[string]error{
		r.Addr() + "/web:latest": nil,
		r.Addr() + "/web:other":  dockertools.ErrNoSuchImage, // and not every tag
	} {
		if _, err := d.InspectImage(t.Context(), image); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", image, err, want)
		}
	}
	d.pull(t, byDigest)
	d.pull(t, other)
	d.pull(t, strings.Replace(other, "@", ":any@", 1)) // the digest counts, not the tag
}

func testPullRefused(t *testing.T, d *contractDocker) {
	r := d.registry(t)
	r.SetAuth("user", "the secret")
	r.Push("web:1")
	auth := func(user, password string) dockertools.Auth {
		return dockertools.Auth{Username: user, Password: password, ServerAddress: r.Addr()}
	}
	for _, c := range []struct {
		name string
		auth dockertools.Auth
		want error
	}{
		{"web:1", auth("user", "the secret"), nil},
		{"web:2", auth("user", "the secret"), dockertools.ErrImageNotFound},
		{"nosuch:1", auth("user", "the secret"), dockertools.ErrImageNotFound},
		{"web@sha256:" + strings.Repeat("0", 64), auth("user", "the secret"), dockertools.ErrImageNotFound},
		{"web:1", dockertools.Auth{}, dockertools.ErrUnauthorised},
		{"web:1", auth("user", "no secret"), dockertools.ErrUnauthorised},
		{"web:1", auth("nobody", "the secret"), dockertools.ErrUnauthorised},
	} {
		image := r.Addr() + "/" + c.name
		err := d.PullImage(t.Context(), image, c.auth, noProgress)
		if !errors.Is(err, c.want) || err != nil && (!strings.Contains(err.Error(), image) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s with %v: %v; want %v that names the image, and no secret", image, c.auth, err, c.want)
		}
	}
}

func testPullCallerStops(t *testing.T, d *contractDocker) {
	r := d.registry(t)
	r.HoldBlobs()
	r.Push("web:1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := d.PullImage(ctx, r.Addr()+"/web:1", dockertools.Auth{}, func(p dockertools.PullProgress) {
		if p.LayersDone < p.Layers && p.Bytes > 0 && p.Bytes < p.TotalBytes {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the pull: %v, want the context's error", err)
	}
	if _, err := d.InspectImage(t.Context(), r.Addr()+"/web:1"); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Errorf("the image: %v", err)
	}
}

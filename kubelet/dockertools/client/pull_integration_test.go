package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/registrytest"
)

// pull pulls as nobody, and does not look how far it is.
func pull(t *testing.T, c *Client, image string) error {
	t.Helper()
	return c.PullImage(t.Context(), image, dockertools.Auth{}, noProgress)
}

// wantPulled checks that Docker has the image under a name, and that it runs.
func wantPulled(t *testing.T, c *Client, ref string, image registrytest.Image) {
	t.Helper()
	if id, err := c.InspectImage(t.Context(), ref); err != nil || id != image.ID {
		t.Fatalf("image %s has id %s, %v; want %s", ref, id, err, image.ID)
	}
	id := createContainer(t, c, dockertools.ContainerSpec{Name: "pulled", Image: ref, Command: []string{"/hello", "cat", "/content"}})
	if err := c.StartContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the container has ended", func() (bool, string) {
		details, err := c.InspectContainer(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return details.State.Ended(), fmt.Sprintf("%+v", details)
	})
	d := contractDocker{Interface: c}
	if got := strings.TrimSpace(d.log(t, id, wholeLog)); got != image.Content {
		t.Errorf("a container of %s has content %q, want %q", ref, got, image.Content)
	}
}

// wantMissing checks that Docker has no such image.
func wantMissing(t *testing.T, c *Client, ref string) {
	t.Helper()
	if id, err := c.InspectImage(t.Context(), ref); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Errorf("image %s: id %s, %v; want none", ref, id, err)
	}
}

func TestIntegrationPullGivesTheImageOfThatName(t *testing.T) {
	c := realDocker(t)
	for _, test := range []struct {
		name string
		ref  func(latest, other registrytest.Image) (ref string, want registrytest.Image)
	}{
		{"tag", func(_, other registrytest.Image) (string, registrytest.Image) { return other.Ref, other }},
		{"digest", func(_, other registrytest.Image) (string, registrytest.Image) { return other.ByDigest, other }},
		{"tag and digest", func(latest, other registrytest.Image) (string, registrytest.Image) {
			_, digest, _ := strings.Cut(latest.ByDigest, "@") // it counts, and not the tag
			return other.Ref + "@" + digest, latest
		}},
		{"neither", func(latest, _ registrytest.Image) (string, registrytest.Image) {
			return strings.TrimSuffix(latest.Ref, ":latest"), latest
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := registrytest.New(t)
			latest, other := r.Push("team/web"), r.Push("team/web:1.10", 1<<20)
			ref, want := test.ref(latest, other)
			if err := pull(t, c, ref); err != nil {
				t.Fatal(err)
			}
			wantPulled(t, c, ref, want)
			// Without a tag Docker's API would pull every one.
			if want == latest {
				wantMissing(t, c, other.Ref)
			} else {
				wantMissing(t, c, latest.Ref)
			}
		})
	}
}

func TestIntegrationPullAgainFollowsTheTag(t *testing.T) {
	c := realDocker(t)
	r := registrytest.New(t)
	first := r.Push("web:1")
	if err := pull(t, c, first.Ref); err != nil {
		t.Fatal(err)
	}

	// Step: the tag stays, and nothing is fetched.
	before, _ := r.Blobs()
	if err := pull(t, c, first.Ref); err != nil {
		t.Fatal(err)
	}
	wantPulled(t, c, first.Ref, first)
	if after, _ := r.Blobs(); after != before {
		t.Errorf("%d blobs were fetched again", after-before)
	}

	// Step: the tag moves, and the old image stays under its digest.
	second := r.Push("web:1")
	if err := pull(t, c, second.Ref); err != nil {
		t.Fatal(err)
	}
	wantPulled(t, c, second.Ref, second)
	wantPulled(t, c, first.ByDigest, first)
}

func TestIntegrationPullWhileTheRegistryIsDown(t *testing.T) {
	c := realDocker(t)
	r := registrytest.New(t)
	image := r.Push("web:1")
	r.Stop()
	err := pull(t, c, image.Ref)
	if err == nil || errors.Is(err, dockertools.ErrImageNotFound) || errors.Is(err, dockertools.ErrUnauthorised) {
		t.Fatalf("%v; want an error of neither kind", err)
	}
	for _, want := range []string{image.Ref, "connection refused"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	r.Start()
	if err := pull(t, c, image.Ref); err != nil {
		t.Fatal(err)
	}
	wantPulled(t, c, image.Ref, image)
}

func TestIntegrationPullCutHalfWay(t *testing.T) {
	c := realDocker(t)
	r := registrytest.New(t)
	image := r.Push("web:1", 1<<20)
	r.CutBlobs()
	err := pull(t, c, image.Ref)
	if err == nil || errors.Is(err, dockertools.ErrImageNotFound) || errors.Is(err, dockertools.ErrUnauthorised) {
		t.Fatalf("%v; want an error of neither kind", err)
	}
	wantMissing(t, c, image.Ref)
	r.MendBlobs()
	if err := pull(t, c, image.Ref); err != nil {
		t.Fatal(err)
	}
	wantPulled(t, c, image.Ref, image)
}

// The pull returns while the registry still holds it up: it does not wait for Docker.
func TestIntegrationPullEndsWithItsContext(t *testing.T) {
	c := realDocker(t)
	r := registrytest.New(t)
	image := r.Push("web:1", 1<<20)
	r.HoldBlobs()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.PullImage(ctx, image.Ref, dockertools.Auth{}, noProgress) }()
	r.AwaitHeld()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("%v; want %v", err, context.Canceled)
	}
	wantMissing(t, c, image.Ref)
	r.MendBlobs()
	if err := pull(t, c, image.Ref); err != nil {
		t.Fatal(err)
	}
	wantPulled(t, c, image.Ref, image)
}

func TestIntegrationPullTellsHowFarItIs(t *testing.T) {
	const big = 8 << 20
	c := realDocker(t)
	r := registrytest.New(t)
	image := r.Push("web:1", big, big)
	r.HoldBlobs()
	seen := make(chan dockertools.PullProgress, 10_000)
	ended := make(chan error, 1)
	go func() {
		ended <- c.PullImage(t.Context(), image.Ref, dockertools.Auth{}, func(p dockertools.PullProgress) { seen <- p })
		close(seen)
	}()

	// Step: all layers are held in the middle.
	last := awaitProgress(t, seen, "both big layers begun", func(p dockertools.PullProgress) bool { return p.TotalBytes > 2*big })
	if last.Bytes <= 0 || last.Bytes > last.TotalBytes*3/4 || last.LayersDone != 0 || last.Layers != 3 {
		t.Errorf("in the middle of 3 layers it says %+v", last)
	}

	// Step: it goes on, and the numbers only grow.
	r.MendBlobs()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for p := range seen {
		if p.Layers < last.Layers || p.LayersDone < last.LayersDone || p.Bytes < last.Bytes || p.TotalBytes < last.TotalBytes {
			t.Errorf("it went back from %+v to %+v", last, p)
		}
		last = p
	}
	if _, sent := r.Blobs(); last.LayersDone != last.Layers || last.Bytes != last.TotalBytes || last.Bytes > sent {
		t.Errorf("at the end, with %d bytes sent, it says %+v", sent, last)
	}
}

// awaitProgress reads until something fits.
func awaitProgress(t *testing.T, seen <-chan dockertools.PullProgress, what string, fits func(dockertools.PullProgress) bool) (p dockertools.PullProgress) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case p = <-seen:
			if fits(p) {
				return p
			}
		case <-deadline:
			t.Fatalf("no progress says: %s; the last: %+v", what, p)
		}
	}
}

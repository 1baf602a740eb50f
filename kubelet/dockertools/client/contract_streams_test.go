package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/dockertools/registrytest"
)

var wholeLog = dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true}

func noLine(dockertools.LogLine) error { return nil }

// log is the content of a log, as lines and as one text.
func (d *contractDocker) log(t *testing.T, id string, opts dockertools.LogOptions) (lines []dockertools.LogLine, text string) {
	t.Helper()
	unittest.Must(t, d.Logs(t.Context(), id, opts, func(line dockertools.LogLine) error {
		lines = append(lines, line)
		text += string(line.Text)
		return nil
	}))
	return lines, text
}

// serving runs a program that prints a line on stdout at once, and one on stderr when it is stopped.
func (d *contractDocker) serving(t *testing.T, name string) (id string) {
	t.Helper()
	id = d.create(t, d.spec(t, name, "serve", "-port", "8080"))
	d.start(t, id)
	d.awaitLog(t, id, servingLine)
	return id
}

func (d *contractDocker) awaitLog(t *testing.T, id, want string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the log is %q", want), func() (bool, string) {
		_, text := d.log(t, id, wholeLog)
		return text == want, text
	})
}

const (
	servingLine = "serving on [::]:8080\n"
	stopLine    = "hello: asked to stop: terminated\n"
)

func (d *contractDocker) stop(t *testing.T, id string) {
	t.Helper()
	unittest.Must(t, d.StopContainer(t.Context(), id, time.Hour))
}

// follower follows a log in a goroutine of its own.
type follower struct {
	lines chan string // closed at its end
	err   error       // of its end
}

func (d *contractDocker) follow(ctx context.Context, id string) *follower {
	f := &follower{lines: make(chan string, 100)}
	opts := wholeLog
	opts.Follow = true
	go func() {
		defer close(f.lines)
		ctx, cancel := context.WithTimeout(ctx, unittest.Limit())
		defer cancel()
		f.err = d.Logs(ctx, id, opts, func(line dockertools.LogLine) error {
			f.lines <- string(line.Text)
			return nil
		})
	}()
	return f
}

// reads checks the next line.
func (f *follower) reads(t *testing.T, want string) {
	t.Helper()
	got := ""
	for range strings.Count(want, "\n") {
		got += <-f.lines
	}
	if got != want {
		t.Errorf("the follower has %q, want %q", got, want)
	}
}

// ends checks that nothing more is printed, and the error at the end.
func (f *follower) ends(t *testing.T, want error) {
	t.Helper()
	if line, more := <-f.lines; more || !errors.Is(f.err, want) {
		t.Errorf("at its end the follower has %q, %v; want %v", line, f.err, want)
	}
}

func testLogFollow(t *testing.T, d *contractDocker) {
	id := d.serving(t, "c")
	for _, want := range []string{servingLine, servingLine + stopLine + servingLine} {
		f := d.follow(t.Context(), id)
		f.reads(t, want)
		select {
		case line := <-f.lines:
			t.Errorf("it ends, or has %q, while the container runs: %v", line, f.err)
		default:
		}
		d.stop(t, id)
		f.reads(t, stopLine)
		f.ends(t, nil)
		d.start(t, id)
		d.awaitLog(t, id, want+stopLine+servingLine)
	}
}

func testLogs(t *testing.T, d *contractDocker) {
	before := time.Now()
	if _, text := d.log(t, d.create(t, d.spec(t, "created", "flood", "-lines", "3")), wholeLog); text != "" {
		t.Errorf("a container that has never run has the log %q", text)
	}
	id := d.serving(t, "c")
	time.Sleep(time.Millisecond) // so that the two lines have two times
	d.stop(t, id)
	lines, both := d.log(t, id, wholeLog)
	if len(lines) != 2 || both != servingLine+stopLine {
		t.Fatalf("%+v, want one line of each stream", lines)
	}
	first, second := lines[0].Time, lines[1].Time
	if first.Before(before) || !second.After(first) || second.After(time.Now()) {
		t.Errorf("the lines are of %v and %v, and were printed after %v", first, second, before)
	}
	for _, c := range []struct {
		opts dockertools.LogOptions
		want string
	}{
		{dockertools.LogOptions{Tail: -1, Stdout: true}, servingLine},
		{dockertools.LogOptions{Tail: -1, Stderr: true}, stopLine},
		{dockertools.LogOptions{Tail: 10, Stdout: true, Stderr: true}, both},
		{dockertools.LogOptions{Tail: 2, Stdout: true, Stderr: true}, both},
		{dockertools.LogOptions{Tail: 1, Stdout: true, Stderr: true}, stopLine},
		{dockertools.LogOptions{Tail: 0, Stdout: true, Stderr: true}, ""},
		{dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: first}, both},
		{dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: second}, stopLine},
		{dockertools.LogOptions{Tail: -1, Stdout: true, Stderr: true, Since: second.Add(time.Nanosecond)}, ""},
	} {
		if _, got := d.log(t, id, c.opts); got != c.want {
			t.Errorf("with %+v the log is %q, want %q", c.opts, got, c.want)
		}
	}
	if err := d.Logs(t.Context(), id, dockertools.LogOptions{Tail: -1}, noLine); err == nil {
		t.Error("a log of neither stream is not an error")
	}
	enough := errors.New("enough")
	if err := d.Logs(t.Context(), id, wholeLog, func(dockertools.LogLine) error { return enough }); err != enough {
		t.Errorf("got %v, want the caller's own error", err)
	}
}

func testLogFollowEnds(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "flood", "-lines", "3"))
	for _, want := range []string{"", flood("3")} { // created, ended: no line is to come
		f := d.follow(t.Context(), id)
		f.reads(t, want)
		f.ends(t, nil)
		d.start(t, id)
		d.ended(t, id)
	}
	gone := errors.New("gone")
	for _, want := range []error{gone, nil} {
		ctx, cancel := context.WithCancelCause(t.Context())
		id := d.serving(t, fmt.Sprint("serving", want == nil))
		f := d.follow(ctx, id)
		f.reads(t, servingLine)
		if want == nil {
			d.RemoveContainer(t.Context(), id)
		} else {
			cancel(want)
		}
		f.ends(t, want)
		cancel(nil)
	}
}

// contractRegistry is a registry that the Docker under test can reach. Its settings apply to images that are pushed
// later.
type contractRegistry interface {
	Addr() string
	Push(repoTag string) (byDigest string)
	SetAuth(user, password string)
	HoldBlobs() // no pull gets further than the middle
}

type realRegistry struct{ *registrytest.Registry }

func (r realRegistry) Push(repoTag string) string { return r.Registry.Push(repoTag).ByDigest }

// fakeRegistry holds the remote images of a Fake.
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
	unittest.Must(t, d.PullImage(t.Context(), image, dockertools.Auth{}, noProgress))
	id, _, err := d.InspectImage(t.Context(), image)
	if err != nil || id == "" {
		t.Fatalf("the image that was pulled: %q, %v", id, err)
	}
	return id
}

func testPull(t *testing.T, d *contractDocker) {
	r := d.registry(t)
	r.Push("web:1")
	image := r.Addr() + "/web:1"
	if id, _, err := d.InspectImage(t.Context(), image); !errors.Is(err, dockertools.ErrNoSuchImage) {
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
	unittest.Must(t, err)
	// A busy Docker may leave out their sizes.
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
		t.Errorf("the image has changed in the registry, and the pull still returns %s", changed)
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
		if _, _, err := d.InspectImage(t.Context(), image); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", image, err, want)
		}
	}
	d.pull(t, byDigest)
	d.pull(t, other)
	d.pull(t, strings.Replace(other, "@", ":any@", 1)) // the digest counts, not the tag
}

// imageOf returns the image of an id as the list has it, with full names.
func (d *contractDocker) imageOf(t *testing.T, id string) (image dockertools.Image) {
	t.Helper()
	list, err := d.ListImages(t.Context())
	unittest.Must(t, err)
	if i := slices.IndexFunc(list, func(i dockertools.Image) bool { return i.ID == id }); i >= 0 {
		image = list[i]
	}
	for i, tag := range image.Tags {
		image.Tags[i] = dockertools.ImageName(tag)
	}
	slices.Sort(image.Tags)
	return image
}

func testImages(t *testing.T, d *contractDocker) {
	builtin, _, err := d.InspectImage(t.Context(), helloImage)
	unittest.Must(t, err)
	if i := d.imageOf(t, builtin); !slices.Contains(i.Tags, dockertools.ImageName(helloImage)) || i.Size == 0 ||
		len(i.Digests) > 0 && !strings.HasSuffix(i.Digests[0], "@"+i.ID) {
		t.Errorf("an image that was imported is listed as %+v", i)
	}
	r := d.registry(t)
	byDigest := r.Push("web:digest")
	if i := d.imageOf(t, d.pull(t, byDigest)); len(i.Tags) > 0 || !slices.Equal(i.Digests, []string{byDigest}) {
		t.Errorf("pulled by its digest %s, it is listed as %+v", byDigest, i)
	}
	unittest.Must(t, d.RemoveImage(t.Context(), byDigest))

	r.Push("web:1")
	image, another := r.Addr()+"/web:1", r.Addr()+"/again:2"
	id := d.pull(t, image)
	unittest.Must(t, d.hands.TagImage(image, another))
	if i := d.imageOf(t, id); !slices.Equal(i.Tags, []string{another, image}) || len(i.Digests) == 0 || i.Size < 1e6 || time.Since(i.Created).Abs() > time.Hour {
		t.Errorf("pulled, and tagged again, it is listed as %+v", i)
	}
	unittest.Must(t, d.RemoveImage(t.Context(), another)) // only the name
	unittest.Must(t, d.hands.BuildImage(another, image))
	layers, err := d.ImageLayers(t.Context(), id)
	built, builtErr := d.ImageLayers(t.Context(), another)
	if err != nil || builtErr != nil || len(layers) == 0 || len(built) < len(layers) || !slices.Equal(layers, built[:len(layers)]) {
		t.Errorf("it has the layers %q, %v, and an image that was built on it %q, %v", layers, err, built, builtErr)
	}
	unittest.Must(t, d.RemoveImage(t.Context(), another))
	if _, err := d.ImageLayers(t.Context(), another); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Errorf("the layers of an image that is gone: %v", err)
	}
	spec := d.spec(t, "c", "exit", "0")
	spec.Image = image
	c := d.create(t, spec)
	if err := d.RemoveImage(t.Context(), image); err == nil || !strings.Contains(err.Error(), image) {
		t.Errorf("a container that was never started has it, and its removal: %v; want a refusal", err)
	}
	if listed := d.listed(t, c).ImageID; listed != id {
		t.Errorf("its container is listed with the image %q, want %q", listed, id)
	}
	unittest.Must(t, d.RemoveContainer(t.Context(), c))
	eventually(t, "the image is removed", func() (bool, string) { // for a moment the container still counts
		err := d.RemoveImage(t.Context(), image)
		return err == nil, fmt.Sprint(err)
	})
	if err := d.RemoveImage(t.Context(), image); !errors.Is(err, dockertools.ErrNoSuchImage) || d.imageOf(t, id).ID != "" {
		t.Errorf("removed again: %v; it is listed as %+v", err, d.imageOf(t, id))
	}
}

func testContainerSizes(t *testing.T, d *contractDocker) {
	small, large := d.create(t, d.spec(t, "small", "sleep")), d.running(t, d.spec(t, "large"))
	unittest.Must(t, d.hands.Write(large, 100_000))
	sizes, err := d.ContainerSizes(t.Context(), map[string]string{labelTest: d.run})
	unittest.Must(t, err)
	if size, ok := sizes[small]; !ok || size >= 100_000 || sizes[large] < 100_000 {
		t.Errorf("the sizes are %v, want at least %d for %s and less for %s", sizes, 100_000, large, small)
	}
	if sizes, err := d.ContainerSizes(t.Context(), map[string]string{d.name(t, "none"): ""}); err != nil || len(sizes) > 0 {
		t.Errorf("the sizes of no containers are %v, %v", sizes, err)
	}
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
	if _, _, err := d.InspectImage(t.Context(), r.Addr()+"/web:1"); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Errorf("the image: %v", err)
	}
}

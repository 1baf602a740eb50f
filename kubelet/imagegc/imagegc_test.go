package imagegc

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/node"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// Each image but the first is spared, for one reason.
func TestCandidates(t *testing.T) {
	w := World{
		Pulled: map[string]string{"docker.io/library/gone:1": "changed", "docker.io/library/only@sha256:" + strings.Repeat("a", 64): "by digest"},
		Images: []dockertools.Image{
			{ID: "unneeded", Tags: []string{"unneeded:1"}, Digests: []string{"unneeded@sha256:1"}},
			{ID: "by digest", Digests: []string{"only@sha256:" + strings.Repeat("a", 64)}},
			{ID: "tagged", Tags: []string{"tagged:1", "mine:1"}, Digests: []string{"tagged@sha256:1"}},
			{ID: "built", Tags: []string{"built:1"}},
			{ID: "not pulled by us", Tags: []string{"present:1"}, Digests: []string{"present@sha256:1"}},
			{ID: "newer", Tags: []string{"gone:1"}, Digests: []string{"gone@sha256:1"}},
			{ID: "desired", Tags: []string{"desired:latest"}, Digests: []string{"desired@sha256:1"}},
			{ID: "has a container", Tags: []string{"dead:1"}, Digests: []string{"dead@sha256:1"}},
			{ID: "two digests", Digests: []string{"a@sha256:1", "b@sha256:1"}},
			{ID: "base", Tags: []string{"base:1"}, Digests: []string{"base@sha256:1"}},
			{ID: "on base"}, // built, without a name
			{ID: "built on built", Tags: []string{"above:1"}, Digests: []string{"above@sha256:1"}, Created: time.Unix(1, 0)}, // and adds no layer
			{ID: "base of an unneeded one", Tags: []string{"under:1"}, Digests: []string{"under@sha256:1"}},
		},
		Layers: map[string][]string{
			"base": {"x"}, "on base": {"x", "y"}, "base of an unneeded one": {"a"}, "unneeded": {"a", "b"}, "built": {"b", "a"}, "built on built": {"b", "a"},
		},
		Containers: []dockertools.Container{{ID: "c", Image: "renamed:1", ImageID: "has a container", ListState: dockertools.StateExited}},
		Needed:     map[string]bool{"docker.io/library/desired:latest": true},
	}
	for _, i := range w.Images[:2] {
		w.Layers[i.ID] = append(w.Layers[i.ID], i.ID)
	}
	for name, id := range map[string]string{
		"unneeded:1": "unneeded", "tagged:1": "tagged", "mine:1": "tagged", "built:1": "built", "dead:1": "has a container", "base:1": "base",
		"desired:latest": "desired", "under:1": "base of an unneeded one", "above:1": "built on built",
	} {
		w.Pulled["docker.io/library/"+name] = id
	}
	var got []string
	for _, image := range Candidates(w) {
		got = append(got, image.ID)
	}
	if diff := cmp.Diff([]string{"unneeded", "by digest", "built on built", "base of an unneeded one"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// host is a Docker with a kubelet that only collects images.
type host struct {
	*dockertest.Fake
	dir      string
	desired  []string
	unread   bool // a source
	pressure bool
	events   []string
	removed  int
}

func newHost(t *testing.T) *host {
	return &host{Fake: dockertest.NewFake(), dir: t.TempDir()}
}

// collector starts a kubelet.
func (h *host) collector(opts Options) *Collector {
	return &Collector{
		Interface: h.Fake, Options: opts, RootDir: h.dir,
		Needed:   func() ([]string, bool) { return h.desired, !h.unread },
		Pressure: func() bool { return h.pressure },
		Note:     func(reason, message string) { h.events = append(h.events, reason+": "+message) },
		Removed:  func() { h.removed++ },
	}
}

// pull pulls images that are new in the registry.
func (h *host) pull(t *testing.T, c dockertools.Interface, images ...string) {
	t.Helper()
	for _, image := range images {
		h.AddRemoteImage(image, dockertest.RemoteImage{})
	}
	h.pullSame(t, c, images...)
}

func (h *host) pullSame(t *testing.T, c dockertools.Interface, images ...string) {
	t.Helper()
	for _, image := range images {
		unittest.Must(t, c.PullImage(t.Context(), image, dockertools.Auth{}, func(dockertools.PullProgress) {}))
	}
}

// check compares the images that Docker has.
func (h *host) check(t *testing.T, when string, want ...string) {
	t.Helper()
	list, err := h.ByHand().ListImages(t.Context())
	unittest.Must(t, err)
	var got []string
	for _, image := range list {
		for _, tag := range image.Tags {
			got = append(got, strings.TrimPrefix(tag, "docker.io/library/"))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", when, diff)
	}
}

// collect collects images in a file system that is full by a percentage, and compares those that are left.
func (h *host) collect(t *testing.T, c *Collector, percent uint64, when string, want ...string) {
	t.Helper()
	c.Collect(t.Context(), full(percent))
	h.check(t, when, want...)
}

func full(percent uint64) node.Facts {
	return node.Facts{ImageFS: node.Amount{Available: (100 - percent) << 20, Total: 100 << 20}} // an image has 10 MiB
}

var always = Options{High: 0, Low: 0}

func TestWhatSomebodyNeedsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.AddImage("built:1", nil)
		h.pull(t, h.ByHand(), "byhand:1", "present:1")
		c := h.collector(always)
		h.pull(t, c, "desired:1", "dead:1", "tagged:1", "built-on:1", "unneeded:1", "present:1") // the last one is newer in its registry now
		unittest.Must(t, h.BuildImage("child:1", "built-on:1"))
		h.desired = []string{"desired:1"}
		id, err := h.ByHand().CreateContainer(t.Context(), dockertools.ContainerSpec{Image: "dead:1"})
		if err != nil || h.TagImage("tagged:1", "mine:1") != nil {
			t.Fatal(err)
		}
		again := h.collector(always) // another kubelet
		again.RootDir = t.TempDir()
		h.pull(t, again, "others:1")
		h.unread = true
		all := []string{"built-on:1", "built:1", "byhand:1", "child:1", "dead:1", "desired:1", "mine:1", "others:1", "present:1", "tagged:1", "unneeded:1"}
		h.collect(t, c, 50, "while a source was not read", all...)
		h.unread = false
		h.collect(t, again, 50, "what the other kubelet has pulled is gone", slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "others:1" })...)
		h.pull(t, again, "others:1")
		h.collect(t, c, 50, "what this one has pulled and nobody needs is gone", "built-on:1", "built:1", "byhand:1", "child:1", "dead:1", "desired:1", "mine:1", "others:1", "present:1", "tagged:1")
		if len(h.events) != 2 || h.removed != 2 || !slices.Contains(h.events, "ImageCollected: docker.io/library/unneeded:1 (10.49MB): nobody needs it, and their file system is 50 % full") {
			t.Errorf("%d were counted, and the events are %q", h.removed, h.events)
		}

		// Neither a removed container nor a removed image needs an image any longer.
		h.ForceRemoveImage("child:1")
		unittest.Must(t, h.ByHand().RemoveContainer(t.Context(), id))
		h.collect(t, c, 50, "after that", "built:1", "byhand:1", "desired:1", "mine:1", "others:1", "present:1", "tagged:1")
	})
}

// An image that was pulled by this kubelet earlier, or equals an image of somebody else, is theirs.
func TestWhatAPersonPullsAgainIsTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.collector(always)
		h.pull(t, c, "a:1", "b:1")
		h.desired = []string{"b:1"}
		c.Collect(t.Context(), full(50))
		h.pullSame(t, h.ByHand(), "a:1") // it was collected
		h.ForceRemoveImage("b:1")
		c.Collect(t.Context(), full(50))
		h.pullSame(t, h.ByHand(), "b:1") // it was removed by hand

		h.pull(t, h.ByHand(), "c:1")
		unittest.Must(t, h.TagImage("c:1", "other:1"))
		h.ForceRemoveImage("c:1")
		h.pullSame(t, c, "c:1") // a name of theirs
		h.ForceRemoveImage("other:1")
		h.desired = nil
		h.collect(t, c, 50, "all are theirs", "a:1", "b:1", "c:1")
	})
}

// A running kubelet gets an event of every pull, and knows its own pulls. If somebody else pulls at the same time, both
// may need the image.
func TestAPullOfWhatIsThereIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.collector(always)
		go c.Watch(t.Context())
		synctest.Wait()
		h.SetFault(func(call dockertest.Call) (slow dockertest.Fault) {
			if call.Method == "InspectImage" { // so that events come before records
				slow.Delay = 100 * time.Millisecond
			}
			return slow
		})
		h.pull(t, c, "ours:1", "again:1", "theirs:1")
		h.pullSame(t, c, "again:1")
		if err := c.PullImage(t.Context(), "none:1", dockertools.Auth{}, func(dockertools.PullProgress) {}); err == nil {
			t.Error("a pull succeeded, of an image that no registry has")
		}
		h.AddRemoteImage("both:1", dockertest.RemoteImage{Takes: time.Minute})
		for _, docker := range []dockertools.Interface{h.ByHand(), c} {
			go docker.PullImage(t.Context(), "both:1", dockertools.Auth{}, func(dockertools.PullProgress) {})
			time.Sleep(time.Second)
		}
		time.Sleep(58500 * time.Millisecond) // only the first has ended
		h.pullSame(t, h.ByHand(), "theirs:1", "both:1")
		time.Sleep(time.Minute)
		forgets := func(when string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.pulls) != 0 {
				t.Errorf("%s it remembers %v", when, c.pulls)
			}
		}
		forgets("after these pulls")
		h.Down() // which ends the stream; the next one begins after a second
		h.Up()
		synctest.Wait()
		h.pull(t, c, "missed:1")
		time.Sleep(2 * time.Second)
		forgets("after a pull without its event")
		h.pullSame(t, h.ByHand(), "missed:1")
		synctest.Wait()
		h.collect(t, c, 50, "of five a person has pulled these", "both:1", "missed:1", "theirs:1")
	})
}

func TestANewerImageOfThisKubeletIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.collector(always)
		h.pull(t, c, "a:1")
		h.AddRemoteImage("a:1", dockertest.RemoteImage{Takes: time.Minute})
		pulled := make(chan error)
		go func() {
			pulled <- c.PullImage(t.Context(), "a:1", dockertools.Auth{}, func(dockertools.PullProgress) {})
		}()
		time.Sleep(time.Second)
		h.collect(t, c, 50, "while it is pulled again", "a:1")
		unittest.Must(t, <-pulled)
		h.collect(t, c, 50, "after that")
	})
}

func TestOnlyAFullDiskIsCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.collector(Options{High: 85, Low: 80, MinAge: 2 * time.Minute})
		pass := func(percent uint64, minutes int) {
			for range 6 * minutes {
				c.Collect(t.Context(), full(percent))
				time.Sleep(10 * time.Second)
			}
		}
		h.pull(t, c, "a:1", "b:1", "c:1", "d:1")
		h.desired = []string{"b:1"}
		pass(84, 10)
		h.check(t, "below the threshold", "a:1", "b:1", "c:1", "d:1")
		if calls := h.Calls()["ListImages"]; calls > 4+10 {
			t.Errorf("in ten minutes the images were listed %d times", calls)
		}
		h.desired = nil
		pass(84, 1)
		c.Collect(t.Context(), node.Facts{}) // the file system is not known
		c.Collect(t.Context(), full(85))     // 5 MiB too much
		h.check(t, "one that was unneeded long ago is enough", "b:1", "c:1", "d:1")
		h.collect(t, c, 90, "b is unneeded for a minute", "b:1", "d:1")
		h.collect(t, c, 81, "until the low threshold", "b:1")
		h.collect(t, c, 81, "b is unneeded for a minute", "b:1")
		c.Collect(t.Context(), full(79))
		pass(84, 5)
		h.check(t, "which was met", "b:1")
		h.pressure = true
		c.Collect(t.Context(), node.Facts{})
		h.check(t, "under pressure")

		c = h.collector(Options{High: 100, Low: 80})
		h.pressure = false
		h.pull(t, c, "a:1")
		pass(100, 5)
		h.check(t, "100 is never", "a:1")
	})
}

func TestAnImageThatDockerKeepsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		c := h.collector(Options{MinAge: time.Minute})
		h.pull(t, c, "a:1", "b:1")
		c.Collect(t.Context(), full(50))
		time.Sleep(time.Minute)
		id := ""
		h.SetFault(func(call dockertest.Call) dockertest.Fault {
			if call.Method == "RemoveImage" && h.Calls()["RemoveImage"] == 1 {
				id, _ = h.ByHand().CreateContainer(t.Context(), dockertools.ContainerSpec{Image: "a:1"})
			}
			return dockertest.Fault{}
		})
		h.collect(t, c, 50, "of two, one got a container in the last moment", "a:1")
		unittest.Must(t, h.ByHand().RemoveContainer(t.Context(), id))
		h.collect(t, c, 50, "its time begins again", "a:1")
		time.Sleep(time.Minute)
		h.collect(t, c, 50, "and is over")
	})
}

// If the kubelet is killed after any call, the next one removes its images or leaves them, and never removes those of
// others.
func TestKilledAfterEveryCall(t *testing.T) {
	for n := 1; ; n++ {
		finished := false
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			h.pull(t, h.ByHand(), "byhand:1")
			work := func(ctx context.Context) {
				c := h.collector(always)
				for _, image := range []string{"a:1", "byhand:1", "b:1"} {
					h.AddRemoteImage(image, dockertest.RemoteImage{})
					_ = c.PullImage(ctx, image, dockertools.Auth{}, func(dockertools.PullProgress) {})
				}
				h.desired = []string{"b:1"}
				c.Collect(ctx, full(50))
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			h.StopAfter(n, stop)
			work(ctx)
			finished = ctx.Err() == nil
			h.StopAfter(0, nil)
			h.collector(always).Collect(t.Context(), full(50))
			list, err := h.ByHand().ListImages(t.Context())
			for _, image := range list {
				if image.Tags[0] == "docker.io/library/a:1" && finished {
					t.Error("a:1 was not collected")
				}
			}
			if _, _, byHand := h.ByHand().InspectImage(t.Context(), "byhand:1"); byHand != nil || err != nil {
				t.Errorf("killed after %d calls: %v, %v", n, byHand, err)
			}
			files, _ := filepath.Glob(h.dir + "/image_manager/pulled/*")
			if len(files) > 2 {
				t.Errorf("killed after %d calls: records %v", n, files)
			}
		})
		if finished {
			return
		}
	}
}

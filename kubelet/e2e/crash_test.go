package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var crashSeed = flag.Uint64("crash.seed", 0, "`seed` of the random moments at which the kubelet is killed; 0 takes a new one")

const crashes = 20

// TestIntegrationKillTheKubelet kills the kubelet again and again while it starts, edits
// and removes pods, and then leaves one alone.
func TestIntegrationKillTheKubelet(t *testing.T) {
	t.Parallel()
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat the same moments: -crash.seed=%d", seed)
	w := newCrashWorld(t, rand.New(rand.NewPCG(seed, 0)))
	for range crashes {
		w.crash()
	}
	p := w.start()
	w.await("a kubelet that is left alone reaches the desired state", w.isAsDesired)
	w.mustBeUntouched()
	w.check(fileHolds(w.keepsake(), "still here"))

	ids := w.ids()
	p.stop()
	p = w.start()
	p.awaitUp(slices.Collect(maps.Keys(w.desired))...)
	w.mustBe("after another start", ids)
}

// crashWorld is a host whose pods change all the time:
//   - steady is never edited, and none of its containers may change;
//   - kept is edited and never removed: the data of its volume stays, and so do its
//     containers but the edited one;
//   - the others come, are edited, and go.
type crashWorld struct {
	*host
	random  *rand.Rand
	desired map[string]int // the version of each pod
	last    int            // the newest version of any pod
	healthy map[string]string
}

var passing = []string{"one", "two", "three"}

func newCrashWorld(t *testing.T, random *rand.Rand) *crashWorld {
	w := &crashWorld{host: newHost(t), random: random, desired: map[string]int{}}
	w.writePod("steady")
	w.writePod("kept")
	p := w.start()
	w.await("the first pods are up", w.isAsDesired)
	w.writeFile(w.keepsake(), "still here")
	w.healthy = w.healthyIDs()
	p.kill()
	return w
}

// crashPod has a container that every edit changes and one that none does.
const crashPod = `version: v1beta1
id: NAME
uuid: uid-NAME
volumes: [{name: data, source: {emptyDir: {}}}]
containers:
  - name: edited
    image: HELLO
    command: [/hello, sleep]
    env: [{name: EDIT, value: "VERSION"}]
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: same, image: HELLO, command: [/hello, sleep]}
`

// writePod writes a pod in a form that it has not had before.
func (w *crashWorld) writePod(name string) {
	w.last++
	w.desired[name] = w.last
	w.write(name, strings.NewReplacer("NAME", name, "VERSION", fmt.Sprint(w.last)).Replace(crashPod))
}

func (w *crashWorld) keepsake() string {
	return filepath.Join(w.emptyDirs("uid-kept"), "data", "keepsake")
}

// healthyIDs returns the ids of the containers that no edit is about.
func (w *crashWorld) healthyIDs() map[string]string {
	ids := w.ids()
	maps.DeleteFunc(ids, func(name, _ string) bool {
		return !strings.Contains(name, "_steady.default.file_") &&
			(!strings.Contains(name, "_kept.default.file_") || strings.HasPrefix(name, "k8s_edited."))
	})
	return ids
}

// crash lets a kubelet work on some changes, kills it at a random moment and checks
// what must hold even then. The moment is a number of Docker requests and a little
// more, so that it falls into the work however fast the machine is.
func (w *crashWorld) crash() {
	w.t.Helper()
	w.change()
	p := w.start("-sync_frequency=100ms")
	calls := 1 + w.random.IntN(30)
	w.awaitCalls(p, calls)
	w.change()
	more := 1 + w.random.IntN(30)
	w.awaitCalls(p, calls+more)
	time.Sleep(time.Duration(w.random.IntN(20)) * time.Millisecond) // the random moment itself
	p.kill()
	live := map[string]bool{}
	for _, c := range w.containers() {
		if name := c.of + " of " + c.pod; c.live() && live[name] {
			w.t.Errorf("two live containers %s\n%s", name, w.describe())
		}
		live[c.of+" of "+c.pod] = live[c.of+" of "+c.pod] || c.live()
	}
	w.mustBeUntouched()
}

// change edits, removes or adds one or more of the pods.
func (w *crashWorld) change() {
	w.t.Helper()
	for range 1 + w.random.IntN(3) {
		name := passing[w.random.IntN(len(passing))]
		_, there := w.desired[name]
		switch {
		case w.random.IntN(4) == 0:
			w.writePod("kept")
		case there && w.random.IntN(2) == 0:
			w.remove(name)
			delete(w.desired, name)
		default:
			w.writePod(name)
		}
	}
}

// awaitCalls returns when the kubelet has made so many requests to Docker. It makes
// one at every sync, so there is always another.
func (w *crashWorld) awaitCalls(p *process, calls int) {
	w.t.Helper()
	w.await(fmt.Sprintf("the kubelet makes %d requests to Docker", calls), func() error {
		page, err := p.metrics()
		if made := page.dockerCalls(); err == nil && made < float64(calls) {
			err = fmt.Errorf("it has made %v", made)
		}
		return err
	})
}

// mustBeUntouched checks that what nobody edited is unchanged.
func (w *crashWorld) mustBeUntouched() {
	w.t.Helper()
	if now := w.healthyIDs(); !maps.Equal(now, w.healthy) {
		w.t.Errorf("containers that were never edited have changed:\nbefore %v\nnow    %v", w.healthy, now)
	}
}

// isAsDesired checks that there are all pods in their last form, and nothing else: no
// other pod, no container that was never started, no other volume.
func (w *crashWorld) isAsDesired() error {
	var uids []string
	for name, version := range w.desired {
		uids = append(uids, "uid-"+name)
		if err := w.whole(name, "edited", "same"); err != nil {
			return err
		}
		c, err := w.one(name, "edited")
		if err != nil {
			return err
		}
		detail, err := w.inspect(c.id)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("EDIT=%d", version); !slices.Contains(detail.Config.Env, want) {
			return fmt.Errorf("%s has env %q, want %q", c, detail.Config.Env, want)
		}
	}
	for _, c := range w.containers() {
		if _, desired := w.desired[strings.TrimSuffix(c.pod, ".default.file")]; !desired || c.state == "created" {
			return fmt.Errorf("%s is left", c)
		}
	}
	slices.Sort(uids)
	if err := dirHolds(filepath.Join(w.rootDir, "trash")); err != nil {
		return err
	}
	return dirHolds(filepath.Join(w.rootDir, "pods"), uids...)
}

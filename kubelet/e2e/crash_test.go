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

	"kubelet14/kubelet/e2e/hosttest"
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
	p := w.Start()
	w.Await("a kubelet that is left alone reaches the desired state", w.isAsDesired)
	w.mustBeUntouched()
	w.Check(hosttest.FileHolds(w.keepsake(), "still here"))

	ids := w.IDs()
	p.Stop()
	p = w.Start()
	p.AwaitUp(slices.Collect(maps.Keys(w.desired))...)
	w.MustBe("after another start", ids)
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
	p := w.Start()
	w.Await("the first pods are up", w.isAsDesired)
	w.WriteFile(w.keepsake(), "still here")
	w.healthy = w.healthyIDs()
	p.Kill()
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
	w.Write(name, strings.NewReplacer("NAME", name, "VERSION", fmt.Sprint(w.last)).Replace(crashPod))
}

func (w *crashWorld) keepsake() string {
	return filepath.Join(w.EmptyDirs("uid-kept"), "data", "keepsake")
}

// healthyIDs returns the ids of the containers that no edit is about.
func (w *crashWorld) healthyIDs() map[string]string {
	ids := w.IDs()
	maps.DeleteFunc(ids, func(name, _ string) bool {
		return !strings.Contains(name, "_steady.default.file_") &&
			(!strings.Contains(name, "_kept.default.file_") || strings.HasPrefix(name, "k8s_edited."))
	})
	return ids
}

// crash lets a kubelet work on some changes, kills it at a random moment and checks what must hold even then. The
// moment is a number of Docker requests and a little more, so that the kubelet is busy then on any machine.
func (w *crashWorld) crash() {
	w.T.Helper()
	w.change()
	p := w.Start("-sync_frequency=100ms")
	calls := 1 + w.random.IntN(30)
	w.awaitCalls(p, calls)
	w.change()
	more := 1 + w.random.IntN(30)
	w.awaitCalls(p, calls+more)
	time.Sleep(time.Duration(w.random.IntN(20)) * time.Millisecond) // the random moment itself
	p.Kill()
	live := map[string]bool{}
	for _, c := range w.Containers() {
		if name := c.Of + " of " + c.Pod; c.Live() && live[name] {
			w.T.Errorf("two live containers %s\n%s", name, w.Describe())
		}
		live[c.Of+" of "+c.Pod] = live[c.Of+" of "+c.Pod] || c.Live()
	}
	w.mustBeUntouched()
}

// change edits, removes or adds one or more of the pods.
func (w *crashWorld) change() {
	w.T.Helper()
	for range 1 + w.random.IntN(3) {
		name := passing[w.random.IntN(len(passing))]
		_, there := w.desired[name]
		switch {
		case w.random.IntN(4) == 0:
			w.writePod("kept")
		case there && w.random.IntN(2) == 0:
			w.Remove(name)
			delete(w.desired, name)
		default:
			w.writePod(name)
		}
	}
}

// awaitCalls returns when the kubelet has made so many requests to Docker. It makes
// one at every sync, so there is always another.
func (w *crashWorld) awaitCalls(p *hosttest.Process, calls int) {
	w.T.Helper()
	w.Await(fmt.Sprintf("the kubelet makes %d requests to Docker", calls), func() error {
		page, err := p.Metrics()
		if made := page.DockerCalls(); err == nil && made < float64(calls) {
			err = fmt.Errorf("it has made the requests %v", made)
		}
		return err
	})
}

// mustBeUntouched checks that what nobody edited is unchanged.
func (w *crashWorld) mustBeUntouched() {
	w.T.Helper()
	if now := w.healthyIDs(); !maps.Equal(now, w.healthy) {
		w.T.Errorf("containers that were never edited have changed:\nbefore %v\nnow    %v", w.healthy, now)
	}
}

// isAsDesired checks that all pods are as last written, and that nothing else is there: no other pod, no container that
// was never started, no other volume.
func (w *crashWorld) isAsDesired() error {
	var uids []string
	for name, version := range w.desired {
		uids = append(uids, "uid-"+name)
		if err := w.Whole(name, "edited", "same"); err != nil {
			return err
		}
		c, err := w.One(name, "edited")
		if err != nil {
			return err
		}
		detail, err := w.Inspect(c.ID)
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("EDIT=%d", version); !slices.Contains(detail.Config.Env, want) {
			return fmt.Errorf("%s has env %q, want %q", c, detail.Config.Env, want)
		}
	}
	for _, c := range w.Containers() {
		if _, desired := w.desired[strings.TrimSuffix(c.Pod, ".default.file")]; !desired || c.State == "created" {
			return fmt.Errorf("%s is left", c)
		}
	}
	slices.Sort(uids)
	if err := hosttest.DirHolds(filepath.Join(w.RootDir, "trash")); err != nil {
		return err
	}
	return hosttest.DirHolds(filepath.Join(w.RootDir, "pods"), uids...)
}

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var crashSeed = flag.Uint64("crash.seed", 0, "`seed` of the random moments at which the kubelet is killed; 0 takes a new one")

const crashes = 20

// TestIntegrationKillTheKubelet kills the kubelet again and again while it starts,
// edits and removes pods, and then leaves one alone.
func TestIntegrationKillTheKubelet(t *testing.T) {
	t.Parallel()
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to have the same moments again: -crash.seed=%d", seed)

	w := newCrashWorld(t, rand.New(rand.NewPCG(seed, 0)))
	for n := range crashes {
		w.crash(n)
	}
	p := w.h.start()
	w.h.eventually("a kubelet that is left alone ends at what is wanted", w.isAsWanted)
	w.mustBeUntouched()
	if kept, err := os.ReadFile(w.keepsake("kept")); err != nil || string(kept) != "still here" {
		t.Errorf("the volume of a pod that was edited and never removed holds %q, %v", kept, err)
	}

	ids := w.h.ids()
	p.stop()
	p = w.h.start()
	for name := range w.wanted {
		p.says("pod "+name+".default.file", "is up")
	}
	if now := w.h.ids(); !maps.Equal(ids, now) {
		t.Errorf("the next start changes containers that were right:\nbefore %v\nafter  %v", ids, now)
	}
	p.stop()
}

// crashWorld is a host whose pods change all the time:
//   - steady is never edited, and never may one of its containers change;
//   - kept is edited and never removed: its volume's data stays, and so do its
//     containers but the one that the edits are about;
//   - the others come, are edited, and go.
type crashWorld struct {
	h       *host
	random  *rand.Rand
	wanted  map[string]int    // the version of each pod that is wanted
	last    int               // the newest version of any pod
	healthy map[string]string // see healthyIDs; as they were at first
}

var passing = []string{"one", "two", "three"}

func newCrashWorld(t *testing.T, random *rand.Rand) *crashWorld {
	w := &crashWorld{h: newHost(t), random: random, wanted: map[string]int{}}
	w.write("steady")
	w.write("kept")
	p := w.h.start()
	w.h.eventually("the first pods are up", w.isAsWanted)
	if err := os.WriteFile(w.keepsake("kept"), []byte("still here"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.healthy = w.healthyIDs()
	p.kill()
	return w
}

// crashPod has a container that every edit changes and one that none does.
const crashPod = `version: v1beta1
id: NAME
uuid: uid-NAME
volumes:
  - name: data
    source: {emptyDir: {}}
containers:
  - name: edited
    image: HELLO
    command: [/hello, sleep]
    env: [{name: EDIT, value: "VERSION"}]
    volumeMounts: [{name: data, mountPath: /data}]
  - {name: same, image: HELLO, command: [/hello, sleep]}
`

// write makes a pod wanted, in a form that it has not had before.
func (w *crashWorld) write(name string) {
	w.last++
	w.wanted[name] = w.last
	w.h.write(name+".yaml", strings.NewReplacer("NAME", name, "VERSION", fmt.Sprint(w.last)).Replace(crashPod))
}

func (w *crashWorld) keepsake(name string) string {
	return filepath.Join(w.h.rootDir, "pods", "uid-"+name, "volumes", "kubernetes.io~empty-dir", "data", "keepsake")
}

// healthyIDs are the ids of all that no edit is about.
func (w *crashWorld) healthyIDs() map[string]string {
	ids := w.h.ids()
	maps.DeleteFunc(ids, func(name, _ string) bool {
		return !strings.Contains(name, "_steady.default.file_") &&
			(!strings.Contains(name, "_kept.default.file_") || strings.HasPrefix(name, "k8s_edited."))
	})
	return ids
}

// crash lets a kubelet work on some changes, kills it at a random moment and checks
// what must hold even then. The moment is a number of Docker calls and a little
// more: so it falls into the work however fast the machine is.
func (w *crashWorld) crash(n int) {
	w.h.t.Helper()
	w.change()
	p := w.h.start("-v=6", "-sync_frequency=100ms")
	calls := 1 + w.random.IntN(30)
	w.awaitCalls(p, calls)
	w.change()
	more := 1 + w.random.IntN(30)
	w.awaitCalls(p, calls+more)
	time.Sleep(time.Duration(w.random.IntN(20)) * time.Millisecond) // the random moment itself
	p.kill()
	w.h.t.Logf("crash %d: changes after %d calls, killed %d calls later; wanted %v", n, calls, more, w.wanted)

	live := map[string]int{}
	for _, c := range w.h.containers() {
		if c.live() {
			live[c.of+" of "+c.pod]++
		}
	}
	for container, count := range live {
		if count > 1 {
			w.h.t.Errorf("%d live containers %s\n%s", count, container, w.h.describe())
		}
	}
	w.mustBeUntouched()
}

// change edits, removes or adds one or more of the pods.
func (w *crashWorld) change() {
	w.h.t.Helper()
	for range 1 + w.random.IntN(3) {
		name := passing[w.random.IntN(len(passing))]
		_, there := w.wanted[name]
		switch {
		case w.random.IntN(4) == 0:
			w.write("kept")
		case there && w.random.IntN(2) == 0:
			w.h.remove(name + ".yaml")
			delete(w.wanted, name)
		default:
			w.write(name)
		}
	}
}

// awaitCalls returns when the kubelet has made so many Docker calls. It looks at
// Docker at every tick, so there is always another one.
func (w *crashWorld) awaitCalls(p *process, calls int) {
	w.h.t.Helper()
	w.h.eventually(fmt.Sprintf("the kubelet makes %d Docker calls", calls), func() error {
		if made := strings.Count(p.log.String(), "] docker: "); made < calls {
			return fmt.Errorf("it has made %d", made)
		}
		return nil
	})
}

// mustBeUntouched checks that what nobody edited is as it was.
func (w *crashWorld) mustBeUntouched() {
	w.h.t.Helper()
	if now := w.healthyIDs(); !maps.Equal(now, w.healthy) {
		w.h.t.Errorf("containers that were never edited have changed:\nbefore %v\nnow    %v", w.healthy, now)
	}
}

// isAsWanted checks that there is everything that is wanted, in its last form, and
// nothing else: no pod, no creation that was never started, no volume.
func (w *crashWorld) isAsWanted() error {
	var uids []string
	for name, version := range w.wanted {
		uids = append(uids, "uid-"+name)
		if err := w.h.whole(name, "edited", "same"); err != nil {
			return err
		}
		for _, c := range w.h.containers() {
			if c.pod != name+".default.file" || c.of != "edited" || !c.live() {
				continue
			}
			detail, err := w.h.inspect(c.id)
			if err != nil {
				return err
			}
			if want := fmt.Sprintf("EDIT=%d", version); !slices.Contains(detail.Config.Env, want) {
				return fmt.Errorf("%s has env %q, want %q", c, detail.Config.Env, want)
			}
		}
	}
	for _, c := range w.h.containers() {
		name := strings.TrimSuffix(c.pod, ".default.file")
		if _, wanted := w.wanted[name]; !wanted || c.state == "created" {
			return fmt.Errorf("%s is left", c)
		}
	}
	slices.Sort(uids)
	if err := dirHolds(filepath.Join(w.h.rootDir, "pods"), uids); err != nil {
		return err
	}
	return dirHolds(filepath.Join(w.h.rootDir, "trash"), nil)
}

// dirHolds checks the names in a directory, which may be missing when it is to be
// empty.
func dirHolds(dir string, want []string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if err == nil && !slices.Equal(names, want) {
		err = fmt.Errorf("%s holds %v, want %v", dir, names, want)
	}
	return err
}

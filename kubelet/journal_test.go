package kubelet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
)

// journal is written by the containers themselves: each run of a process, in order. It checks that init containers run
// alone and first: nothing runs beside one; and before a container begins, the init containers before it have succeeded
// in its network, one after the other, and none of another version of the pod has begun since. No container of one UID
// runs twice at the same time.
type journal struct {
	mu      sync.Mutex
	runs    []*journalRun
	forms   map[string]journalForm // by the hash of a container
	byHand  bool                   // containers are started by hand, even beside others
	doubles int                    // that ran beside another attempt
}

type journalRun struct {
	dockertools.NameParts
	network string // the id of the network container
	over    bool
	code    int
}

// journalForm is the version of a pod that a container belongs to.
type journalForm struct {
	inits  []string // the hashes of the init containers
	before int      // how many of them are before this container
	isInit bool     // and no sidecar
	stays  bool     // a sidecar: what is after it needs only its beginning
	once   bool     // nothing starts twice, in whatever network
}

// expect records the versions of pods whose containers may begin.
func (j *journal) expect(pods []api.Pod) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range pods {
		made, form := plan.NewPod(p, dockertools.PauseImage, time.Time{}), journalForm{once: p.Manifest.RestartPolicy.Never != nil}
		for _, init := range made.Init {
			form.inits = append(form.inits, init.Hash)
		}
		if j.forms == nil {
			j.forms = map[string]journalForm{}
		}
		for i, c := range made.InitAndApps() {
			form.before, form.isInit = min(i, len(form.inits)), made.IsInit(c.Name)
			form.stays = c.IsSidecar()
			j.forms[c.Hash] = form
		}
	}
}

func (j *journal) begin(t *testing.T, run *journalRun) {
	j.mu.Lock()
	defer j.mu.Unlock()
	form := j.forms[run.Hash]
	since := 0 // the first run that counts
	for i, r := range j.runs {
		of, known := j.forms[r.Hash]
		if r.UID != run.UID || !known {
			continue
		}
		beside := (of.stays || form.stays) && r.network == run.network
		if !r.over && (of.isInit || form.isInit) && !beside {
			t.Errorf("%v begins while %v runs\n%s", run, r, j.describe())
		}
		if !r.over && r.Name == run.Name && r.network != "" { // no program of a stranger
			if j.doubles++; !j.byHand {
				t.Errorf("%v begins while %v runs\n%s", run, r, j.describe())
			}
		}
		if of.isInit && !slices.Equal(of.inits, form.inits) && !form.once {
			since = i + 1
		}
	}
	for _, hash := range form.inits[:form.before] {
		i := slices.IndexFunc(j.runs[since:], func(r *journalRun) bool {
			return r.Hash == hash && r.UID == run.UID && (r.over && r.code == 0 || !j.forms[hash].isInit) && (r.network == run.network || form.once)
		})
		if i < 0 {
			t.Errorf("%v begins before the init container %s has succeeded\n%s", run, hash, j.describe())
		}
		since += i + 1
	}
	j.runs = append(j.runs, run)
}

func (j *journal) end(run *journalRun, code int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	run.over, run.code = true, code
}

func (r *journalRun) String() string {
	return fmt.Sprintf("%s in %.6s (over %v, exit %d)", r.NameParts, r.network, r.over, r.code)
}

func (j *journal) describe() (text string) {
	for _, r := range j.runs {
		text += fmt.Sprintln(" ", r)
	}
	return text
}

// TestInitContainersRunAloneAndFirst edits a pod, undoes it, kills the kubelet, removes attempts and
// ends containers in any order, with little time in between.
func TestInitContainersRunAloneAndFirst(t *testing.T) {
	for seed := range unittest.Seeds(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				r, ofPrograms := rand.New(rand.NewPCG(seed, 19)), rand.New(rand.NewPCG(seed, 20))
				w.program = func(name string) dockertest.Program { // the fake calls it for one container at a time
					isInit, after := name == "one" || name == "two", time.Duration(ofPrograms.IntN(2000))*time.Millisecond
					return dockertest.Program{Exits: isInit || ofPrograms.IntN(4) == 0, After: after, ExitCode: ofPrograms.IntN(4) / 3}
				}
				form := func() api.Pod {
					tag := func(name string) string { return fmt.Sprintf("%s:%d", name, r.IntN(2)) }
					p := withInit(pod("web", []string{tag("app"), "app2"}[:1+r.IntN(2)]...), []string{tag("one"), "side", "two"}[:1+r.IntN(3)]...)
					if init := p.Manifest.InitContainers; len(init) > 1 {
						init[1].Sidecar = true
					}
					return p
				}
				want := form()
				k := w.start(want)
				for range 20 {
					wait(time.Duration(r.IntN(1500)) * time.Millisecond)
					switch r.IntN(6) {
					case 0, 1:
						want = form()
						k.set(want)
					case 2: // it is killed in the middle of an edit, which may be undone meanwhile
						edited := form()
						w.dies(1+r.IntN(9), func() {
							k.set(edited)
							wait(time.Duration(r.IntN(4000)) * time.Millisecond)
							k.end()
						})
						w.disturb(r)
						want = []api.Pod{want, edited, form()}[r.IntN(3)]
						k = w.start(want)
					default:
						w.disturb(r)
					}
				}
				wait(0) // no container starts now
				w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "one" || name == "two"} }
				k.set(want)
				wait(3 * time.Minute)
				if n := len(want.Manifest.Staying()) + 1; len(w.live()) != n {
					t.Errorf("%d containers run, want %d\n%s", len(w.live()), n, w.describe())
				}
			})
		})
	}
}

// disturb removes or ends containers as somebody might by hand.
func (w *world) disturb(r *rand.Rand) {
	all := w.docker.Containers()
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	what := r.IntN(5)
	for i, c := range all {
		parts, _ := dockertools.ParseContainerName(c.Name)
		switch live := c.ListState.Live(); {
		case what == 0 && live && i < 2: // docker kill
			w.docker.Kill(c.ID, 137)
		case what == 1 && live && parts.Name == api.NetworkContainerName: // docker restart
			w.docker.Restart(c.ID)
		case what == 2 && !live, what > 2 && !live && i < 3: // docker container prune, docker rm
			w.docker.ByHand().RemoveContainer(w.t.Context(), c.ID)
		}
	}
}

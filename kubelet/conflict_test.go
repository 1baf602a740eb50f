package kubelet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// Two kubelets with one hostname and two root_dirs start at the same time: each lists the containers before the other
// has created one. The second is killed before it can give way.
func TestTwoRootDirsSideBySide(t *testing.T) {
	secondRoot := t.TempDir()
	inWorld(t, func(first *world) {
		t := first.t
		first.importPause()
		first.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: 3 * time.Second}))
		k := first.start(pod("web", "main"))
		time.Sleep(2 * time.Second)
		second := &world{t: t, docker: first.docker, rootDir: secondRoot}
		kl, closeRoot := second.newKubelet()
		updates := make(chan api.PodUpdate, 1)
		updates <- set(pod("more", "main"))
		ctx, kill := context.WithTimeout(t.Context(), 4*time.Second)
		defer kill()
		first.must(kl.Run(ctx, updates))
		closeRoot()
		first.docker.SetFault(nil)
		settle()
		of := func(rootDir string) (n int) {
			for _, c := range first.docker.Containers() {
				if c.Labels[dockertools.LabelRootDir] == rootDir {
					n++
				}
			}
			return n
		}
		k.set(pod("web", "main"), pod("more", "main"))
		settle()
		if n, others := of(first.rootDir), of(secondRoot); n != 2 || others == 0 {
			t.Fatalf("the first has %d containers, the second %d\n%s", n, others, first.describe())
		}
		if message := fmt.Sprintf("%+v", k.statuses(first)[0].Containers[1].State.Waiting); !strings.Contains(message, secondRoot) || !strings.Contains(message, "-cleanup") {
			t.Errorf("the message of a pod whose names the second has is %q", message)
		}
		// The first goes on, and each removes only its own containers.
		k.set(pod("web", "main"), pod("new", "main"))
		settle()
		if k.kl.errors.Last("look for other kubelets") == "" {
			t.Error("the first kubelet does not log that there are containers of another")
		}
		if n := of(first.rootDir); n != 4 {
			t.Errorf("the first kubelet has %d containers, want 4\n%s", n, first.describe())
		}
		k.end()
		other := &world{t: t, docker: first.docker, rootDir: first.rootDir}
		other.options = func(o *Options) { o.Identity.Hostname = "other" }
		kl, closeRoot = other.newKubelet()
		if err := kl.Cleanup(t.Context()); err == nil || !strings.Contains(err.Error(), `"other"`) || !strings.Contains(err.Error(), `"host"`) {
			t.Errorf("-cleanup with another hostname and the same root_dir, whose volumes are mounted: %v", err)
		}
		first.checkVolumes(pod("web"), pod("new"))
		closeRoot()
		first.cleanup()
		if n, others := of(first.rootDir), of(secondRoot); n != 0 || others == 0 {
			t.Errorf("after -cleanup of the first: %d of its own, %d of the second", n, others)
		}
		second.cleanup()
		if all := first.docker.Containers(); len(all) > 0 {
			t.Errorf("after -cleanup of both:\n%s", first.describe())
		}
	})
}

// The containers that -runonce has created beside an older kubelet are removed, so it reports the conflict and no pod.
func TestRunOnceBesideAnotherRootDir(t *testing.T) {
	secondRoot := t.TempDir()
	inWorld(t, func(first *world) {
		first.importPause()
		first.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: 3 * time.Second}))
		first.start(pod("web", "main"))
		time.Sleep(2 * time.Second)
		second := &world{t: first.t, docker: first.docker, rootDir: secondRoot}
		results, err := second.runOnce(set(pod("more", "main")))
		if conflict := (*dockertools.IdentityConflictError)(nil); len(results) > 0 || !errors.As(err, &conflict) {
			first.t.Errorf("it reports %+v, %v", results, err)
		}
		first.settle("the other goes on", "web/main", "web/net")
	})
}

// Every call takes a different time. One kubelet goes on, and nothing of the other is left.
func TestTwoRootDirsInTheSameInstant(t *testing.T) {
	for seed := range unittest.Seeds(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			secondRoot, random, mu := t.TempDir(), rand.New(rand.NewPCG(seed, 0)), sync.Mutex{}
			longest := []int{1, 30, 1000, 3000}[seed%4] // milliseconds
			inWorld(t, func(w *world) {
				w.importPause()
				w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
					if c.Method == "MakeNetwork" { // a mutex is held meanwhile, and a bubble's clock stands still while somebody waits for one
						return dockertest.Fault{}
					}
					mu.Lock()
					defer mu.Unlock()
					return dockertest.Fault{Delay: time.Duration(random.IntN(longest)) * time.Millisecond}
				})
				ctx, cancel := context.WithCancel(w.t.Context())
				ended := make(chan error, 2)
				for _, rootDir := range []string{w.rootDir, secondRoot} {
					k := &world{t: w.t, docker: w.docker, rootDir: rootDir}
					kl, closeRoot := k.newKubelet()
					updates := make(chan api.PodUpdate, 1)
					updates <- set(pod("web", "main"), pod("db", "main", "side"), pod("more", "main"))
					go func() {
						defer closeRoot()
						ended <- kl.Run(ctx, updates)
					}()
				}
				wait(5 * time.Minute)
				if conflict := (*dockertools.IdentityConflictError)(nil); len(ended) != 1 || !errors.As(<-ended, &conflict) {
					w.t.Errorf("%d kubelets have ended, want one, with the conflict", len(ended))
				}
				w.check("of both", "db/main", "db/net", "db/side", "more/main", "more/net", "web/main", "web/net")
				roots := map[string]bool{}
				for _, c := range w.docker.Containers() {
					roots[c.Labels[dockertools.LabelRootDir]] = true
				}
				if len(roots) != 1 {
					w.t.Errorf("there are containers of %v\n%s", roots, w.describe())
				}
				cancel()
				wait(time.Minute)
			})
		})
	}
}

// Docker may lose a container and keep its name.
func TestALostContainerOfAPodThatRunsOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{Exits: true} }
		never := pod("job", "main")
		never.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
		w.run(never).end()
		w.byHand(dockertools.Interface.RemoveContainer, "k8s_main.")
		w.docker.SetFault(when("CreateContainer", func(c dockertest.Call) (fault dockertest.Fault) {
			if strings.HasSuffix(c.Container, "_1") {
				fault.Before = dockertools.ErrNameTaken
			}
			return fault
		}, "k8s_main"))
		k := w.run(never)
		if w.newest("main") > 0 || !strings.Contains(k.main(w).State.Waiting.Message, "another id") {
			t.Errorf("the container has run again, or its status does not explain why not: %+v\n%s", k.main(w).State, w.describe())
		}
		again := never
		again.UID = "another"
		w.docker.SetFault(nil)
		k.set(again)
		settle()
		if w.newest("main") != 1 {
			t.Errorf("with another uid it has not run\n%s", w.describe())
		}
	})
}

// A root_dir was moved and the host renamed, so no container shows to whom the volumes belong.
func TestAMovedRootDirOfAnotherHostname(t *testing.T) {
	moved := filepath.Join(t.TempDir(), "moved")
	inWorld(t, func(w *world) {
		w.run(pod("web", "main")).end()
		w.must(os.Rename(w.rootDir, moved))
		w.rootDir = moved
		w.options = func(o *Options) { o.Identity.Hostname = "renamed" }
		kl, closeRoot := w.newKubelet()
		updates := make(chan api.PodUpdate, 1)
		updates <- set()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
		defer cancel()
		if err := kl.Run(ctx, updates); err == nil || !strings.Contains(err.Error(), "-hostname_override=host") {
			w.t.Errorf("the kubelet ends with %v", err)
		}
		closeRoot()
		w.checkVolumes(pod("web"))
		w.check("as before", "web/main", "web/net")
	})
}

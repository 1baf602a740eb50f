package kubelet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// Two kubelets with one hostname and two root_dirs start at the same time: each lists the
// containers before the other has made one.
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
		updates, ended := make(chan api.PodUpdate, 1), make(chan error)
		updates <- set(pod("more", "main"))
		go func() { ended <- kl.Run(t.Context(), updates) }()
		if conflict := (*dockertools.IdentityConflictError)(nil); !errors.As(<-ended, &conflict) {
			t.Error("the second kubelet ends without an error about the first")
		}
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
		if n, others := of(first.rootDir), of(secondRoot); n != 2 || others == 0 {
			t.Fatalf("the first has %d containers, the second %d\n%s", n, others, first.describe())
		}
		// The first goes on. Each removes what is its own.
		k.set(pod("web", "main"), pod("new", "main"))
		settle()
		if _, logged := k.kl.logged.Load("look for other kubelets"); !logged {
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

package kubelet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// manyPods returns more pods than may start at once.
func manyPods(name string) (pods []api.Pod) {
	for i := range 100 {
		pods = append(pods, pod(fmt.Sprintf("%s%d", name, i), "main"))
	}
	return pods
}

func TestStuckStartsHoldUpNoOtherPod(t *testing.T) {
	for _, method := range []string{"CreateContainer", "StartContainer"} {
		inWorld(t, func(w *world) {
			w.importPause()
			w.docker.SetFault(on(method, dockertest.Fault{Delay: time.Hour}, "_stuck"))
			k := w.start(manyPods("stuck")...)
			wait(time.Second)
			statuses, _, err := k.kl.Statuses()
			w.must(err)
			waits := func(p api.PodStatus) bool {
				return strings.Contains(fmt.Sprintf("%+v", p.Containers[1].State.Waiting), "started before it")
			}
			if !slices.ContainsFunc(statuses, waits) {
				t.Errorf("no pod says that it waits for its turn: %+v", statuses)
			}
			k.set(append(manyPods("stuck"), pod("web", "main"))...)
			w.after(5*time.Minute, method, "web/main", "web/net")
			began := time.Now()
			if k.end(); time.Since(began) > 0 {
				t.Errorf("the kubelet ended after %v", time.Since(began))
			}
		})
	}
}

// FUSE mounts a file system that never answers, like that of a dead file server. Where the kernel does not let this
// user mount, nothing is tested.
func TestADeadFileServerHoldsUpNoOtherPod(t *testing.T) {
	w := &world{t: t, docker: dockertest.NewFake(), rootDir: t.TempDir()}
	w.docker.AddImage("hello:1", nil)
	dead, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Logf("no FUSE for this user: %v", err)
		return
	}
	defer dead.Close() // which ends what waits for it
	dir := filepath.Join(t.TempDir(), "dead")
	w.must(os.Mkdir(dir, 0o755))
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", dead.Fd(), os.Getuid(), os.Getgid())
	if err := syscall.Mount("dead", dir, "fuse", syscall.MS_NOSUID|syscall.MS_NODEV, options); errors.Is(err, fs.ErrPermission) {
		t.Logf("no mounts for this user: %v", err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	pods := append(manyPods("stuck"), pod("web", "main"))
	for i := range pods[:100] {
		pods[i].Manifest.Volumes[0].Source = &api.VolumeSource{HostDir: &api.HostDir{Path: dir, Type: api.HostDirDirectory}}
	}
	k := w.start(pods...)
	for isUp := false; !isUp; {
		statuses, newer, err := k.kl.Statuses()
		if err != nil { // no sync yet
			time.Sleep(time.Millisecond)
			continue
		}
		web := statuses[len(statuses)-1]
		if isUp = web.Phase == api.PodRunning; !isUp {
			<-newer
		}
	}
	k.end()
}

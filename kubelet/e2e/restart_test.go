package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

func TestIntegrationRestartOnManifestsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, id := range []string{"broken", "doubled", "removed", "good"} {
		h.write(id+".yaml", sleeper(id))
	}
	p := h.start()
	h.eventually("the pods are up", func() error { return h.sleepersAre("broken", "doubled", "removed", "good") })
	before := h.ids()
	p.kill()

	h.write("broken.yaml", "version: v1beta1\nid: broken\ncontainers: 7\n")
	h.write("doubled-again.yaml", sleeper("doubled"))
	h.remove("removed.yaml")
	p = h.start()
	p.says("broken.yaml", "containers")
	p.says("doubled.yaml", "doubled-again.yaml")
	good := h.killAndAwait("good")
	h.mustKeep(before, "broken", "doubled", "removed")

	h.write("broken.yaml", sleeper("broken"))
	p.says("pod broken.default.file", "is up")
	h.killAndAwait("good")
	h.mustKeep(before, "broken", "doubled", "removed")

	h.remove("doubled-again.yaml")
	h.eventually("the removed pod goes once every file is good", func() error { return h.gone("removed") })
	h.eventually("the others are whole", func() error { return h.sleepersAre("broken", "doubled", "good") })
	h.mustKeep(before, "broken", "doubled")
	if h.live("good", "net").id != good.netnsOf {
		t.Errorf("the network container of a pod of which another one was killed has changed\n%s", h.describe())
	}
	p.stop()
}

func TestIntegrationRestartChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", twoContainers)
	h.write("other.yaml", sleeper("other"))
	p := h.start()
	h.eventually("the pods are up", h.wholeAll)
	before := h.ids()

	p.stop()
	p.said("stopped", "the pods go on running", "-cleanup")
	if now := h.ids(); !maps.Equal(before, now) {
		t.Errorf("the pods did not stay as they were:\nbefore %v\nafter the stop %v", before, now)
	}
	p = h.start()
	p.says("pod pod.default.file", "is up")
	p.says("pod other.default.file", "is up")
	if now := h.ids(); !maps.Equal(before, now) {
		t.Errorf("a restart changed containers:\nbefore %v\nafter  %v", before, now)
	}
	p.stop()
}

// A kubelet that is asked to end does not wait for a container that it is stopping.
func TestIntegrationEndDoesNotWaitForAGracePeriod(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", strings.ReplaceAll(sleeper("pod"), "sleep]", "sleep, -ignore-term]"))
	p := h.start()
	h.eventually("the pod is up", func() error { return h.sleepersAre("pod") })
	stubborn := h.stubborn("pod")

	h.remove("pod.yaml")
	h.logSays(stubborn, "asked to stop:")
	p.stop()
	if now, err := h.inspect(stubborn.id); err != nil || !now.State.Running {
		t.Errorf("the kubelet ended only when the container had: %+v, %v", now, err)
	}
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: stubborn.id}); err != nil {
		t.Error(err) // else -cleanup waits for the grace period
	}
}

// The kubelet cannot end at the first signal here: nobody reads its log, and it
// hangs in writing it.
func TestIntegrationSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	cmd := exec.Command(kubeletBinary, h.args("-config="+h.manifests)...)
	cmd.Stderr = fullPipe(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
	})
	h.eventually("it has begun, and catches signals", func() error {
		_, err := os.Stat(filepath.Join(h.rootDir, "kubelet14.lock"))
		return err
	})
	signals := 0
	h.eventually("it ends", func() error {
		select {
		case <-done:
			return nil
		default:
			signals++
			cmd.Process.Signal(syscall.SIGTERM)
			return fmt.Errorf("it runs after %d signals", signals)
		}
	})
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM || signals < 2 {
		t.Errorf("it ended with %v after %d signals, want: by the second SIGTERM or one after that", cmd.ProcessState, signals)
	}
}

// fullPipe is a file to write to that blocks.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := syscall.Write(fds[1], make([]byte, 4096)); err != nil {
			break
		}
	}
	if err := syscall.SetNonblock(fds[1], false); err != nil {
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(fds[1]), "full pipe")
	t.Cleanup(func() {
		w.Close()
		syscall.Close(fds[0])
	})
	return w
}

// sleepersAre checks that pods of one container are whole.
func (h *host) sleepersAre(ids ...string) error {
	for _, id := range ids {
		if err := h.whole(id, "main"); err != nil {
			return err
		}
	}
	return nil
}

// killAndAwait kills the container of a pod of one and waits for the next one,
// which shows that the kubelet is at work.
func (h *host) killAndAwait(id string) container {
	h.t.Helper()
	old := h.live(id, "main")
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: old.id}); err != nil {
		h.t.Fatal(err)
	}
	h.eventually("the kubelet mends pod "+id, func() error {
		if err := h.sleepersAre(id); err != nil {
			return err
		}
		if h.live(id, "main").id == old.id {
			return fmt.Errorf("%s is not dead yet", old)
		}
		return nil
	})
	return h.live(id, "main")
}

// mustKeep checks that the live containers of some pods are what they were.
func (h *host) mustKeep(before map[string]string, ids ...string) {
	h.t.Helper()
	now := h.ids()
	for name, id := range before {
		pod, _, _ := strings.Cut(strings.Split(name, "_")[2], ".")
		if slices.Contains(ids, pod) && now[name] != id {
			h.t.Errorf("container %s of pod %s did not stay\n%s", name, pod, h.describe())
		}
	}
}

// said checks the log of a kubelet that has ended.
func (p *process) said(words ...string) {
	p.t.Helper()
	if !p.log.hasLine(words) && !p.out.hasLine(words) {
		p.t.Errorf("the kubelet did not say %q\n%s%s", words, p.log, p.out)
	}
}

//go:build chaos

package chaos

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/e2e/hosttest"
)

// world is a daemon, a kubelet and what they work on. Its methods are for the test's goroutine.
type world struct {
	*hosttest.Host
	t       *testing.T
	dockerd *hosttest.Dockerd
	proxy   *proxy
	web     *hosttest.WebServer
	witness *witness
	enough  func() bool // ends the run
	journal string      // a directory
	clock   *os.File    // see clockFile

	patience time.Duration // how long a calm waits for the end of what is left over; 0: as for all else

	pods      map[string]*pod   // as they are wanted
	files     map[string]string // the names of their manifests; those of the web server have none
	directory string            // of the manifests, wherever it is
	down      bool              // dockerd does not run
	mounted   bool              // the root_dir is a file system of its own
	touched   map[string]bool   // ids of network containers that a person has ended
	strangers map[string]*docker.Container

	kubelet *exec.Cmd
	ended   chan struct{} // closed when it has ended
	logged  int64         // the size of the log when it started
	others  []*exec.Cmd   // kubelets of the same hostname
	log     *os.File      // of all kubelets
}

const rootSize = "size=16m"

// newWorld starts everything, with a kubelet that has changes.
func newWorld(t *testing.T, seed uint64, changes ...change) *world {
	t.Helper()
	hosttest.Prepare(t)
	binary := build(t, append(changes, ownClock...)...)
	root := filepath.Join(hosttest.BuildDir, fmt.Sprintf("root-%d", time.Now().UnixNano()))
	unittest.Must(t, os.Mkdir(root, 0o755))
	err := syscall.Mount("tmpfs", root, "tmpfs", 0, rootSize) // before the box, which gets a copy of the mounts
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		t.Fatal(err)
	}
	mounted := err == nil
	t.Cleanup(func() {
		if mounted {
			unittest.Must(t, syscall.Unmount(root, syscall.MNT_DETACH))
		}
	})
	d := hosttest.NewDockerd(t)
	h := hosttest.NewOn(t, d.Endpoint)
	h.RootDir, h.Binary = root, binary
	w := &world{
		Host: h, t: t, dockerd: d, mounted: mounted, journal: filepath.Join(h.Dir, "journal"), directory: h.Manifests,
		pods: map[string]*pod{}, files: map[string]string{}, touched: map[string]bool{}, web: hosttest.NewWebServer(t),
		strangers: map[string]*docker.Container{},
	}
	w.clock, err = os.Create(filepath.Join(h.Dir, "clock"))
	h.Must(err)
	w.setClock(0)
	h.Env = append(h.Env, clockFile+"="+w.clock.Name())
	h.Must(os.Mkdir(w.journal, 0o777))
	w.log, err = os.Create(filepath.Join(t.ArtifactDir(), "kubelet.log"))
	h.Must(err)
	d.Start()
	w.importTenant()
	socket := strings.TrimPrefix(d.Endpoint, "unix://")
	w.proxy = newProxy(t, filepath.Join(h.Dir, "proxy"), socket)
	w.witness = newWitness(t, seed, socket, w.journal)
	w.makeStrangers()
	for _, p := range newPods() {
		w.put(p)
		w.witness.allowAll(p, 1)
	}
	w.startKubelet()
	t.Cleanup(func() { // before -cleanup, which needs a daemon
		w.undo()
		w.endKubelet(syscall.SIGTERM)
		w.log.Close()
		w.clock.Close()
		for id := range w.strangers { // they have labels that -cleanup must not take for its own
			w.Check(w.Docker.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true}))
		}
	})
	return w
}

// importTenant gives the daemon the image of the pods.
func (w *world) importTenant() {
	dir, err := unittest.Root()
	w.Must(err)
	program := filepath.Join(w.Dir, "tenant")
	build := exec.Command("go", "build", "-C", dir, "-trimpath", "-ldflags", "-s -w", "-o", program, "./kubelet/e2e/chaos/testdata/tenant")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	w.Must(err)
	var layer bytes.Buffer
	w.Must(dockertools.WriteLayer(&layer, fstest.MapFS{"tenant": {Mode: 0o755, Data: data}}))
	name, tag, _ := strings.Cut(image, ":")
	w.Must(w.Docker.ImportImage(docker.ImportImageOptions{Repository: name, Tag: tag, Source: "-", InputStream: &layer, OutputStream: io.Discard}))
}

// makeStrangers makes what the kubelet must not touch: a container with a name like its own, and one with its labels.
func (w *world) makeStrangers() {
	for name, labels := range map[string]map[string]string{
		"k8s_main.01234567_plain-a.default.file_uid_1": nil,
		"committed": {dockertools.LabelHostname: w.Hostname, dockertools.LabelRootDir: w.RootDir, dockertools.LabelName: "k8s_of_another"},
	} {
		c, err := w.run(name, labels, docker.AlwaysRestart())
		w.Must(err)
		w.strangers[c.ID], err = w.Inspect(c.ID)
		w.Must(err)
	}
	_, err := w.Docker.CreateNetwork(docker.CreateNetworkOptions{Name: "stranger"})
	w.Must(err)
	_, err = w.Docker.CreateVolume(docker.CreateVolumeOptions{Name: "stranger"})
	w.Must(err)
	w.WriteFile(filepath.Join(w.journal, "stranger"), "still here")
}

// run runs a container as a person does.
func (w *world) run(name string, labels map[string]string, restart docker.RestartPolicy) (*docker.Container, error) {
	c, err := w.Docker.CreateContainer(docker.CreateContainerOptions{
		Name:       name,
		Config:     &docker.Config{Image: image, Cmd: []string{"/tenant", "run", name, "0"}, Labels: labels},
		HostConfig: &docker.HostConfig{Binds: []string{w.journal + ":/journal"}, RestartPolicy: restart, NetworkMode: "none"},
	})
	if err == nil {
		err = w.Docker.StartContainer(c.ID, nil)
	}
	return c, err
}

// put makes a pod wanted as it is.
func (w *world) put(p *pod) {
	w.pods[p.name] = p
	if p.file == "" {
		w.web.Put(p.name, p.manifest(w.journal))
		return
	}
	path := filepath.Join(w.directory, p.file+".yaml")
	if old, there := w.files[p.name]; there && old != p.file {
		w.Must(os.Rename(filepath.Join(w.directory, old+".yaml"), path))
	}
	w.ReplaceFile(path, p.manifest(w.journal), 0o644)
	w.files[p.name] = p.file
}

// drop makes a pod unwanted.
func (w *world) drop(name string) {
	if p := w.pods[name]; p.file == "" {
		w.web.Drop(name)
	} else {
		w.Must(os.Remove(filepath.Join(w.directory, w.files[name]+".yaml")))
		delete(w.files, name)
	}
	delete(w.pods, name)
}

// startKubelet starts the kubelet. One that ends by itself is a violation.
func (w *world) startKubelet() {
	flags := []string{
		"-config=" + w.Manifests, "-config_wait", "-manifest_url=" + w.web.URL(), "-docker_endpoint=" + w.proxy.Endpoint,
		"-file_check_frequency=1s", "-http_check_frequency=1s", "-max_restart_backoff=4s",
	}
	if *port != 0 {
		flags = append(flags, "-address=127.0.0.1", fmt.Sprint("-port=", *port))
	}
	w.kubelet, w.ended = w.Command(flags...), make(chan struct{})
	cmd, ended := w.kubelet, w.ended
	cmd.Stdout, cmd.Stderr = w.log, w.log
	cmd.SysProcAttr.Setpgid = true // Ctrl-C is for the test, which ends it
	w.logged = w.logSize()
	w.Must(cmd.Start())
	go func() {
		cmd.Wait()
		close(ended)
	}()
}

// runs reports whether the kubelet runs.
func (w *world) runs() bool {
	select {
	case <-w.ended:
		return false
	default:
		return true
	}
}

// endKubelet ends the kubelet, if it runs.
func (w *world) endKubelet(signal syscall.Signal) {
	if w.runs() {
		w.kubelet.Process.Signal(signal)
		<-w.ended
		// One that has logged nothing may not have begun to catch signals.
		if code := w.kubelet.ProcessState.ExitCode(); signal == syscall.SIGTERM && code != 0 && w.logSize() > w.logged {
			w.witness.violate("", "the kubelet ended with exit code %d after SIGTERM", code)
		}
	}
}

func (w *world) logSize() int64 {
	info, err := w.log.Stat()
	w.Must(err)
	return info.Size()
}

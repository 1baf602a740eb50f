//go:build chaos

package chaos

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// do carries an operation out, and first tells the witness what it allows.
func (w *world) do(op operation) {
	w.witness.operation(op)
	switch {
	case slices.Contains(edits, op.what):
		w.edit(op)
	case slices.Contains(themes["people"], op.what):
		w.person(op)
	case slices.Contains(themes["kubelet"], op.what):
		w.faultOfKubelet(op)
	case slices.Contains(themes["docker"], op.what):
		w.faultOfDocker(op)
	case slices.Contains(themes["answers"], op.what):
		if op.what == "connections broken" {
			w.proxy.breakAll()
			break
		}
		for range 1 + op.n%4 {
			w.proxy.arm(spoiling{how: op.what, of: regexp.MustCompile(targets[op.n%len(targets)]), late: time.Duration(op.n%20) * time.Second})
		}
	default:
		w.faultOfOther(op)
	}
	time.Sleep(op.gap)
}

func (w *world) edit(op operation) {
	p := op.want
	switch op.what {
	case "edit":
		w.witness.allowEdit(&p)
	case "add":
		w.witness.removed(&p) // perhaps in an earlier round
		w.witness.allowAll(&p, 1)
	case "scale":
		w.witness.allowScale(w.pods[p.name], &p)
	case "remove":
		w.witness.removed(&p)
		w.drop(p.name)
		return
	}
	w.put(&p)
}

// person does to a container what people do. It may not be there.
func (w *world) person(op operation) {
	w.needDocker()
	p := w.podOf(op.pod)
	if p == nil {
		return
	}
	c, err := w.One(fullName(p, op.pod), op.of)
	if err != nil {
		w.witness.say("%s: %v", op, err)
		return
	}
	w.witness.allowPerson(op, p, c.ID)
	if op.of == "net" && op.what != "pause" && op.what != "update" {
		w.touched[c.ID] = true
	}
	switch op.what {
	case "kill":
		err = w.Docker.KillContainer(docker.KillContainerOptions{ID: c.ID})
	case "stop":
		err = w.Docker.StopContainer(c.ID, 3)
	case "rm":
		err = w.Docker.RemoveContainer(docker.RemoveContainerOptions{ID: c.ID, Force: true})
	case "restart":
		err = w.Docker.RestartContainer(c.ID, 3)
	case "pause":
		err = w.Docker.PauseContainer(c.ID)
	case "update":
		err = w.Docker.UpdateContainer(c.ID, docker.UpdateContainerOptions{RestartPolicy: docker.AlwaysRestart()})
	}
	if err != nil {
		w.witness.say("%s: %v", op, err)
	}
}

// podOf returns the wanted pod of which Docker has a pod, or nil.
func (w *world) podOf(name string) *pod {
	for _, p := range w.pods {
		if slices.Contains(p.names(), name) {
			return p
		}
	}
	return nil
}

func (w *world) faultOfKubelet(op operation) {
	switch op.what {
	case "kubelet killed":
		w.endKubelet(syscall.SIGKILL)
	case "kubelet stopped":
		w.endKubelet(syscall.SIGTERM)
	case "clock set back":
		w.setClock(1 + op.n%24)
		return
	case "second kubelet":
		w.awaitOther(w.startOther(w.RootDir, "second")) // the end of the first one would give it the lock
		return
	case "kubelet of the same hostname":
		name := fmt.Sprint("other-", len(w.others))
		w.others = append(w.others, w.startOther(filepath.Join(w.Dir, name), name+"-socket"))
		return
	}
	if op.n%3 > 0 { // otherwise it stays down until it is needed or the calm
		time.Sleep(op.gap)
		w.startKubelet()
	}
}

// startOther starts a second kubelet, which must end by itself and do nothing.
func (w *world) startOther(root, socket string) *exec.Cmd {
	if !w.runs() {
		w.startKubelet()
	}
	w.Await("the first kubelet has the lock, and serves", func() error {
		client, address := w.Client(), "localhost"
		if *port != 0 {
			client, address = http.DefaultClient, fmt.Sprint("127.0.0.1:", *port)
		}
		resp, err := client.Get("http://" + address + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err
	})
	cmd := w.Command("-config="+w.Manifests, "-root_dir="+root, "-address=unix:"+filepath.Join(w.Dir, socket), "-docker_endpoint="+w.proxy.Endpoint)
	cmd.Stdout, cmd.Stderr = w.log, w.log
	w.Must(cmd.Start())
	return cmd
}

// awaitOthers waits until the kubelets of the same hostname have ended.
func (w *world) awaitOthers() {
	for _, cmd := range w.others {
		w.awaitOther(cmd)
	}
	w.others = nil
}

// awaitOther waits until a second kubelet has ended.
func (w *world) awaitOther(cmd *exec.Cmd) {
	limit := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	limit.Stop()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		w.witness.violate("", "a second kubelet ended with %v, not with exit code 1", err)
	}
}

func (w *world) faultOfDocker(op operation) {
	w.needDocker()
	switch op.what {
	case "docker frozen":
		w.dockerd.Signal("STOP")
		time.Sleep(time.Duration([]int{1, 5, 30}[op.n%3]) * time.Second)
		w.dockerd.Signal("CONT")
	case "docker killed":
		w.witness.dockerEnds(w.pods)
		w.dockerd.End("KILL")
		w.down = true
	case "docker stopped":
		w.witness.dockerEnds(w.pods)
		w.dockerd.End("TERM")
		w.down = true
	}
}

// needDocker starts dockerd if it is down.
func (w *world) needDocker() {
	if w.down {
		w.dockerd.EndForgotten()
		w.dockerd.Start()
		w.down = false
	}
}

func (w *world) faultOfOther(op operation) {
	fill := filepath.Join(w.RootDir, "fill")
	switch op.what {
	case "manifest spoilt":
		if p := w.podOf(op.pod); p != nil && p.file != "" {
			w.ReplaceFile(filepath.Join(w.directory, p.file+".yaml"), strings.Replace(p.manifest(w.journal), "containers:", "containers: [", 1), 0o644)
		}
	case "directory moved away":
		w.move(w.Manifests + ".away")
	case "server lies":
		lie := lies[op.n%len(lies)]
		w.web.Answer(lie.status, lie.body)
	case "disk full":
		if w.mounted {
			_ = os.WriteFile(fill, make([]byte, 32<<20), 0o644) // until there is no room
		}
	case "disk freed":
		_ = os.Remove(fill)
	}
}

// move moves the directory of the manifests.
func (w *world) move(to string) {
	if w.directory != to {
		w.Must(os.Rename(w.directory, to))
		w.directory = to
	}
}

// undo ends all faults.
func (w *world) undo() {
	w.needDocker()
	w.dockerd.Signal("CONT")
	w.proxy.calm()
	w.setClock(0)
	w.web.Serve()
	w.move(w.Manifests)
	w.faultOfOther(operation{what: "disk freed"})
	for _, p := range w.pods {
		if p.file != "" {
			w.put(p)
		}
	}
	w.Await("what people did to containers is undone", w.undoPeople)
	if !w.runs() {
		w.startKubelet()
	}
}

// undoPeople ends pauses and restart policies. A container may end meanwhile: then Docker refuses, and the next try does not see it.
func (w *world) undoPeople() (err error) {
	for _, c := range w.Containers() {
		if c.State == "paused" {
			err = errors.Join(err, w.Docker.UnpauseContainer(c.ID))
		}
	}
	for id := range w.witness.updated() {
		if c, inspectErr := w.Inspect(id); inspectErr == nil && c.HostConfig.RestartPolicy.Name == "always" {
			err = errors.Join(err, w.Docker.UpdateContainer(id, docker.UpdateContainerOptions{RestartPolicy: docker.NeverRestart()}))
		}
	}
	return err
}

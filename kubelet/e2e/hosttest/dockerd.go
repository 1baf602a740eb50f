package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// Dockerd is a Docker daemon of a test. It runs in a container of the machine's Docker,
// the box, with the programs of the machine and with its own namespaces. So it needs no
// more rights than to use Docker, touches no bridge or mount of the machine, and its
// processes and mounts go with the box, however the test ends.
type Dockerd struct {
	t        *testing.T
	outer    *docker.Client // the machine's Docker
	box      string         // id of the container
	logFile  string
	Endpoint string // its address
	daemon   string // id of the exec that is the daemon
}

const (
	boxPidFile = "/run/docker.pid"
	// boxProgram keeps the box alive, and reaps the children of a dockerd that was killed.
	boxProgram = "while :; do sleep 3600; done"
)

// NewDockerd makes the box. No dockerd runs in it yet.
func NewDockerd(t *testing.T) *Dockerd {
	t.Helper()
	Prepare(t)
	outer, err := Connect("")
	unittest.Must(t, err)
	dir, err := os.MkdirTemp(BuildDir, "")
	unittest.Must(t, err)
	d := &Dockerd{t: t, outer: outer, logFile: filepath.Join(dir, "log"), Endpoint: "unix://" + filepath.Join(dir, "sock")}
	box, err := outer.CreateContainer(docker.CreateContainerOptions{
		Config: &docker.Config{
			Image: dockertools.HelloImage,
			Cmd:   []string{"/bin/sh", "-c", boxProgram},
			// By this label a later run finds the box of a test that was killed.
			Labels:  map[string]string{"kubelet14.hostname": fmt.Sprintf("%s%d-dockerd", hostnamePrefix, os.Getpid())},
			Volumes: map[string]struct{}{"/var/lib/docker": {}}, // overlays do not stack
		},
		HostConfig: boxHostConfig(BuildDir),
	})
	unittest.Must(t, err)
	d.box = box.ID
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(d.logFile)
			t.Logf("end of the test's dockerd's log:\n%s", log[max(0, len(log)-5000):])
		}
		if err := outer.RemoveContainer(docker.RemoveContainerOptions{ID: d.box, Force: true, RemoveVolumes: true}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		// So it leaves no empty control groups, which outlive the box.
		if e, err := outer.InspectExec(d.daemon); err == nil && e.Running {
			d.End("TERM")
		}
	})
	unittest.Must(t, outer.StartContainer(d.box, nil))
	return d
}

// boxHostConfig gives a box the programs of the machine, a shared directory and the
// rights that a dockerd needs. They are less than "privileged", which not every virtual
// machine allows.
func boxHostConfig(shared string) *docker.HostConfig {
	c := &docker.HostConfig{
		Binds:         []string{shared + ":" + shared, "/sys/fs/cgroup:/sys/fs/cgroup"},
		Tmpfs:         map[string]string{"/run": "exec"},
		NetworkMode:   "none",
		CgroupnsMode:  "host",
		CapAdd:        []string{"SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE"},
		SecurityOpt:   []string{"seccomp=unconfined", "apparmor=unconfined", "label=disable"},
		MaskedPaths:   []string{"/nothing"}, // an empty list would be left out of the request
		ReadonlyPaths: []string{"/nothing"},
	}
	for _, path := range []string{"/bin", "/lib", "/lib64", "/sbin", "/usr"} {
		if _, err := os.Stat(path); err == nil {
			c.Binds = append(c.Binds, path+":"+path+":ro")
		}
	}
	return c
}

// Start starts the daemon with more flags and waits until it answers.
func (d *Dockerd) Start(flags ...string) {
	d.t.Helper()
	const command = "exec dockerd --host=%s --group=%d --pidfile=%s --exec-root=/run/docker --iptables=false --ip-masq=false %s >>%s 2>&1"
	d.daemon = d.exec(fmt.Sprintf(command, d.Endpoint, os.Getgid(), boxPidFile, strings.Join(flags, " "), d.logFile))
	client, err := Connect(d.Endpoint)
	unittest.Must(d.t, err)
	if err := unittest.Wait(client.Ping); err != nil {
		d.t.Fatalf("the test's dockerd does not answer: %v", err)
	}
}

// Signal sends the daemon a signal; it arrives soon.
func (d *Dockerd) Signal(signal string) {
	d.t.Helper()
	d.exec(fmt.Sprintf("kill -%s $(cat %s)", signal, boxPidFile))
}

// End ends the daemon with a signal and waits until it has ended.
func (d *Dockerd) End(signal string) {
	d.t.Helper()
	d.Signal(signal)
	d.awaitExec(d.daemon)
}

// awaitExec waits until a command in the box has ended.
func (d *Dockerd) awaitExec(id string) {
	d.t.Helper()
	if err := unittest.Wait(func() error {
		e, err := d.outer.InspectExec(id)
		if err == nil && e.Running {
			err = fmt.Errorf("%s still runs", strings.Join(append([]string{e.ProcessConfig.EntryPoint}, e.ProcessConfig.Arguments...), " "))
		}
		return err
	}); err != nil {
		d.t.Fatalf("the box of the test's dockerd: %v", err)
	}
}

// EndForgotten ends, while the daemon is down, the programs that the next one will not know, and their shims, without which
// containerd cleans up after them. A daemon that was killed while it started a container has not written down that it runs.
func (d *Dockerd) EndForgotten() {
	d.t.Helper()
	id := d.exec(`for shim in /proc/[0-9]*; do
	set -- $(tr '\0' ' ' 2>/dev/null <$shim/cmdline)
	case $1 in *containerd-shim*) ;; *) continue ;; esac
	while [ $# -gt 0 ] && [ "$1" != -id ]; do shift; done
	grep -q '"Running":true' /var/lib/docker/containers/$2/config.v2.json || kill -KILL $(cat $shim/task/*/children) ${shim#/proc/}
done`)
	d.awaitExec(id)
}

// exec starts a shell command in the box.
func (d *Dockerd) exec(command string) (id string) {
	d.t.Helper()
	e, err := d.outer.CreateExec(docker.CreateExecOptions{Container: d.box, Cmd: []string{"/bin/sh", "-c", command}})
	if err == nil {
		err = d.outer.StartExec(e.ID, docker.StartExecOptions{Detach: true})
	}
	if err != nil {
		d.t.Fatalf("%s: %v", command, err)
	}
	return e.ID
}

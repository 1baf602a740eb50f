//go:build chaos

package chaos

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

const (
	firstTold   = 20 * time.Second // when a calm begins to say what it waits for, then after twice the time
	keptPort    = 8 * firstTold    // when it asks whether a port is the reason; a start that is slow has it too
	startFactor = 2                // how much longer than a bare start each start of the kubelet may take
	keptDead    = 2                // attempts of each container that have ended and are not left over
)

var errOrphan = errors.New("it is left over")

// calm undoes all faults, and waits until the state is what the manifests say.
func (w *world) calm(theme string) error {
	w.witness.say("calm")
	alone := w.runs()
	w.undo()
	starts := w.witness.count(func(t *table) int { return t.starts })
	began, restarted, err := w.awaitWhole()
	took := time.Since(began)
	w.awaitOthers()
	if w.enough() {
		return nil
	}
	if !w.runs() {
		w.witness.violate("", "the kubelet ended by itself (it ran before the calm: %v)", alone)
		w.startKubelet()
	}
	starts = w.witness.count(func(t *table) int { return t.starts }) - starts
	var bare, limit time.Duration // 0: none
	judged := ""
	if *calmLimit > 0 {
		bare = w.bareStart()
		limit = *calmLimit + startFactor*bare*time.Duration(starts)
		judged = fmt.Sprintf(", limit %.0f s", limit.Seconds())
	}
	w.checkStrangers(restarted || theme == "docker" || theme == "all")
	w.witness.newRound()
	w.witness.mu.Lock()
	defer w.witness.mu.Unlock()
	w.witness.rounds++
	w.witness.longest = max(w.witness.longest, took)
	switch {
	case errors.Is(err, errOrphan):
		w.witness.orphans++
		w.witness.violateLocked("", "%v after %v", err, took)
	case err != nil:
		w.witness.late++
		w.witness.violateLocked("", "not whole %v after the calm: %v", took, err)
	case took > limit && limit > 0:
		w.witness.late++
		w.witness.violateLocked("", "whole only after %v; %d starts, of which a bare one takes %v, may take %v", took, starts, bare, limit)
	}
	fmt.Fprintf(w.witness.out, "%6.0f s  round %d (%s): whole in %.1f s%s; %d starts; so far %d operations, %d containers, %d violations\n",
		time.Since(w.witness.began).Seconds(), w.witness.rounds, theme, took.Seconds(), judged, starts, w.witness.operations, w.witness.made, len(w.witness.violations))
	return err
}

// awaitWhole waits until the state is what the manifests say, and returns since when it has waited. It restarts dockerd, at most
// once, if that keeps a port.
func (w *world) awaitWhole() (began time.Time, restarted bool, err error) {
	for {
		began = time.Now()
		told, keepsPort := firstTold, false
		var orphan error
		err = unittest.Wait(func() error {
			err := w.whole()
			took := time.Since(began)
			if w.patience > 0 && took > w.patience && errors.Is(err, errOrphan) {
				orphan = err
				return nil
			}
			if err != nil && took > told {
				if keepsPort = told == keptPort && !restarted && w.dockerKeepsPort(); keepsPort {
					return nil
				}
				fmt.Fprintf(w.witness.out, "%6.0f s  the calm goes on: %v\n", time.Since(w.witness.began).Seconds(), err)
				told *= 2
			}
			return err
		})
		if !keepsPort {
			return began, restarted, cmp.Or(orphan, err)
		}
		w.restartDocker()
		restarted = true
	}
}

func (w *witness) count(of func(*table) int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return of(&w.table)
}

// dockerKeepsPort reports whether Docker keeps a port of a container that has ended. Docker 20.10 does when it is ended soon
// after its start, and nobody can have the port until its next one.
func (w *world) dockerKeepsPort() bool {
	for _, p := range w.pods {
		if _, err := w.One(fullName(p, p.name), "net"); p.kind.name != "port" || err == nil {
			continue
		}
		c, err := w.Docker.CreateContainer(docker.CreateContainerOptions{
			Config:     &docker.Config{Image: image, Cmd: []string{"/tenant", "probe"}, ExposedPorts: map[docker.Port]struct{}{"80/tcp": {}}},
			HostConfig: &docker.HostConfig{PortBindings: map[docker.Port][]docker.PortBinding{"80/tcp": {{HostPort: fmt.Sprint(p.port())}}}},
		})
		w.Must(err)
		err = w.Docker.StartContainer(c.ID, nil)
		w.Must(w.Docker.RemoveContainer(docker.RemoveContainerOptions{ID: c.ID, Force: true}))
		if err != nil && strings.Contains(err.Error(), "port is already allocated") {
			return true
		}
	}
	return false
}

func (w *world) restartDocker() {
	fmt.Fprintln(w.witness.out, "        Docker keeps a port of a container that has ended: dockerd is restarted")
	w.witness.dockerEnds(w.pods)
	w.dockerd.End("TERM")
	w.dockerd.Start()
}

// bareStart measures how long a container takes to be made and started on this daemon now.
func (w *world) bareStart() time.Duration {
	began := time.Now()
	c, err := w.run("bare", nil, docker.NeverRestart())
	took := time.Since(began)
	w.Must(err)
	w.Must(w.Docker.RemoveContainer(docker.RemoveContainerOptions{ID: c.ID, Force: true}))
	return took
}

// whole checks that Docker, the volumes and the journal are as the manifests say, and that nothing else is there.
func (w *world) whole() error {
	if !w.runs() || w.enough() { // that it does not run is a violation of its own
		return nil
	}
	all, wanted, uids, dead := w.Containers(), map[string]*pod{}, []string{}, map[string]int{}
	for _, p := range w.pods {
		for _, name := range p.names() {
			wanted[fullName(p, name)] = p
			one := func(of string) (hosttest.Container, error) { return all.One(fullName(p, name), of) }
			if err := w.wholePod(p, name, one); err != nil && !w.forgotten(p, all, fullName(p, name)) {
				return err
			}
		}
	}
	for _, c := range all {
		if _, stranger := w.strangers[c.ID]; stranger {
			continue
		}
		if c.State == "exited" {
			dead[c.Pod+"/"+c.Of]++
		}
		p := wanted[c.Pod]
		switch {
		case p == nil, c.Of != "net" && !slices.Contains(p.containers(), c.Of):
			return fmt.Errorf("%s, which no manifest asks for: %w", c, errOrphan)
		case dead[c.Pod+"/"+c.Of] > keptDead:
			return fmt.Errorf("%s, beside %d other dead attempts: %w", c, keptDead, errOrphan)
		case c.State == "created" && !p.crashes(c.Of) && !w.failed(c.ID):
			return fmt.Errorf("%s: %w", c, errOrphan)
		case c.Live() && w.touched[c.ID]:
			return fmt.Errorf("%s lives, and the others have lost its network", c)
		}
		uids = append(uids, strings.Split(c.Name, "_")[3])
	}
	slices.Sort(uids)
	return errors.Join(dirHolds(filepath.Join(w.RootDir, "trash"), nil), dirHolds(filepath.Join(w.RootDir, "pods"), slices.Compact(uids)))
}

// wholePod checks one pod of Docker.
func (w *world) wholePod(p *pod, name string, one func(of string) (hosttest.Container, error)) error {
	if p.kind.policy == "Never" {
		return nil // what of it lives depends on what was done to it
	}
	net, err := one("net")
	if err != nil {
		return err
	}
	lives := []string{"main", "side"}
	if p.kind.sidecar {
		lives = p.containers()
	}
	for _, of := range lives {
		if p.crashes(of) {
			continue
		}
		c, err := one(of)
		if err != nil {
			return err
		}
		if c.Labels["kubelet14.network_container"] != net.ID || c.State != "running" {
			return fmt.Errorf("%s is not in the network of %s", c, net)
		}
	}
	w.witness.mu.Lock()
	defer w.witness.mu.Unlock()
	if got := w.witness.version[name+"/main"]; got != fmt.Sprint(p.version) && !p.crashes("main") {
		return fmt.Errorf("%s/main has version %s, and version %d is wanted", name, got, p.version)
	}
	return nil
}

// forgotten reports whether Docker says of the newest attempt of a container with the policy OnFailure that it has succeeded, which
// none does. A dockerd that is killed before it writes down how a container has ended says 0, so the kubelet takes it as done.
func (w *world) forgotten(p *pod, all []hosttest.Container, fullName string) bool {
	if p.kind.policy != "OnFailure" {
		return false
	}
	newest := map[string]hosttest.Container{}
	for _, c := range all {
		if c.Pod == fullName {
			newest[c.Of] = c
		}
	}
	for _, of := range p.containers() {
		if newest[of].State != "exited" {
			continue
		}
		if c, err := w.Inspect(newest[of].ID); err == nil && c.State.Status == "exited" && c.State.ExitCode == 0 {
			return true
		}
	}
	return false
}

// failed reports whether Docker could not start a container, which is then kept as a dead one is.
func (w *world) failed(id string) bool {
	c, err := w.Inspect(id)
	return err != nil || c.State.Error != ""
}

// fullName returns the full name of one of the pods of a manifest.
func fullName(p *pod, name string) string {
	if p.kind.web {
		return name + ".default.http"
	}
	return name + ".default.file"
}

// dirHolds checks that a directory, which may be missing, holds no other names.
func dirHolds(dir string, names []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if !slices.Contains(names, entry.Name()) {
			return fmt.Errorf("%s in %s: %w", entry.Name(), dir, errOrphan)
		}
	}
	return nil
}

// checkStrangers checks that what is not the kubelet's is as it was. Only a dockerd that ended may have restarted the containers.
func (w *world) checkStrangers(dockerEnded bool) {
	problem := func(err error) {
		if err != nil {
			w.witness.mu.Lock()
			w.witness.strangers++
			w.witness.violateLocked("", "a stranger was touched: %v", err)
			w.witness.mu.Unlock()
		}
	}
	for id, before := range w.strangers {
		var now *docker.Container
		err := unittest.Wait(func() (err error) { // dockerd that has started starts them too, but not at once
			if now, err = w.Inspect(id); err == nil && !now.State.Running && (!dockerEnded || now.State.Error == "") {
				err = fmt.Errorf("%s is %s (%+v)", before.Name, now.State.Status, now.State)
			}
			return err
		})
		if err == nil && !now.State.Running {
			fmt.Fprintf(w.witness.out, "        Docker has not restarted %s, and starts it now: %s\n", before.Name, now.State.Error)
			if err = w.Docker.StartContainer(id, nil); err == nil {
				now, err = w.Inspect(id)
			}
		}
		if err == nil && !dockerEnded && !now.State.StartedAt.Equal(before.State.StartedAt) {
			err = fmt.Errorf("%s has started anew", before.Name)
		}
		if problem(err); err == nil {
			w.strangers[id] = now
		}
	}
	_, err := w.Docker.InspectVolume("stranger")
	problem(err)
	_, err = w.Docker.NetworkInfo("stranger")
	problem(err)
	problem(hosttest.FileHolds(filepath.Join(w.journal, "stranger"), "still here"))
}

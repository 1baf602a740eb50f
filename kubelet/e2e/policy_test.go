package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// policyRow is a row of the table of restart policies: a way to end under a policy,
// and what becomes of the pod.
type policyRow struct {
	policy string
	end    string // how the container ends, see policyEnds
	phase  string // of the pod afterwards; a running one has been started again
}

var policyTable = []policyRow{
	{"always", "exit-0", "running"},
	{"always", "exit-1", "running"},
	{"always", "killed", "running"},
	{"onFailure", "exit-0", "succeeded"},
	{"onFailure", "exit-1", "running"},
	{"onFailure", "killed", "running"},
	{"never", "exit-0", "succeeded"},
	{"never", "exit-1", "failed"},
	{"never", "killed", "failed"},
}

// policyEnds are the ways to end, by the signal that a person sends.
var policyEnds = map[string]docker.Signal{"exit-0": docker.SIGTERM, "exit-1": docker.SIGTERM, "killed": docker.SIGKILL}

func (r policyRow) pod() string { return strings.ToLower(r.policy) + "-" + r.end }

// manifest is a pod that ends when it is asked to, and notes each of its starts.
func (r policyRow) manifest(startsDir string) string {
	code := strings.TrimPrefix(r.end, "exit-")
	if r.end == "killed" {
		code = "0"
	}
	pod := testPod{id: r.pod(), containers: oneName, policy: r.policy, then: fmt.Sprintf(`, "-exit-on-term", %q`, code)}
	return pod.manifest(startsDir)
}

// is checks what has become of the pod, on Docker and in the kubelet's words.
func (r policyRow) is(h *host, starts startsOf, table statusTable) error {
	err, want := h.ended(r.pod()), 1
	if r.phase == "running" {
		err, want = h.whole(r.pod(), "main"), 2
	}
	if err != nil {
		return err
	}
	if got := starts.count(r.pod(), "main"); got != want {
		return fmt.Errorf("pod %s was started %d times, want %d", r.pod(), got, want)
	}
	return table.shows(r.pod()+"/", r.phase)
}

func TestIntegrationRestartPolicies(t *testing.T) {
	for _, test := range []struct {
		name  string
		alive bool // the kubelet, when the containers end
	}{{"containers end while the kubelet runs", true}, {"containers end while the kubelet is dead", false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			starts := startsOf{h, t.TempDir()}
			for _, row := range policyTable {
				h.write(row.pod()+".yaml", row.manifest(starts.dir))
			}
			p := h.start()
			h.eventually("all pods run, and handle signals", func() error {
				for _, row := range policyTable {
					if err := h.whole(row.pod(), "main"); err != nil {
						return err
					}
					if starts.count(row.pod(), "main") != 1 {
						return fmt.Errorf("pod %s has not noted its start", row.pod())
					}
				}
				return nil
			})
			if !test.alive {
				p.kill()
			}
			for _, row := range policyTable {
				err := h.docker.KillContainer(docker.KillContainerOptions{ID: h.live(row.pod(), "main").id, Signal: policyEnds[row.end]})
				if err != nil {
					t.Fatal(err)
				}
			}
			if !test.alive {
				h.eventually("all have ended", func() error {
					for _, c := range h.containers() {
						if c.of == "main" && c.live() {
							return fmt.Errorf("%s lives", c)
						}
					}
					return nil
				})
				p = h.start()
			}
			allAre := func() error {
				table, err := p.status()
				for i := 0; err == nil && i < len(policyTable); i++ {
					err = policyTable[i].is(h, starts, table)
				}
				return err
			}
			h.eventually("each policy is kept", allAre)
			before := h.ids()

			p.kill()
			p = h.start()
			for _, row := range policyTable {
				verdict := map[string]string{"running": "is up", "succeeded": "has done its work", "failed": "is not started again"}[row.phase]
				p.says("pod "+row.pod()+".default.file", verdict)
			}
			if err := allAre(); err != nil {
				t.Errorf("after another start of the kubelet: %v", err)
			}
			h.mustBe("after another start of the kubelet", before)
		})
	}
}

func TestIntegrationAFinishedPodGivesItsPortToAnother(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	port, dir := freePort(t), t.TempDir()
	first := strings.Replace(server("first", port), "containers:", "restartPolicy: {onFailure: {}}\ncontainers:", 1)
	h.write("first.yaml", first)
	h.write("second.yaml", server("second", port))
	p := h.start()
	h.eventually("the first pod has the port", func() error {
		if err := h.whole("first", "main"); err != nil {
			return err
		}
		_, err := get(port, "/healthz")
		return err
	})
	h.eventually("the second pod waits for it", func() error {
		return p.shows("second/main", "waiting", fmt.Sprintf("PortTaken: host port %d/tcp is taken by pod first.default.file", port))
	})

	get(port, "/exit?code=0")
	h.eventually("the second pod has it", func() error {
		if err := h.ended("first"); err != nil {
			return err
		}
		if err := h.whole("second", "main"); err != nil {
			return err
		}
		page, err := get(port, "/")
		if err == nil && !strings.Contains(page, "pod second") {
			err = fmt.Errorf("the page says %q", page)
		}
		return err
	})
	before := h.ids()
	p.kill()
	p = h.start()
	p.says("pod first.default.file", "has done its work")
	p.says("pod second.default.file", "is up")
	h.mustBe("after another start of the kubelet", before)

	// One with an edit that makes it work again has to wait in its turn.
	h.write("first.yaml", strings.Replace(first, `"80"]`, `"80", -show, `+dir+`]`, 1))
	h.eventually("the finished pod, which is wanted again, waits for the port", func() error {
		return p.shows("first/", "running", "PortTaken", "second.default.file")
	})
	h.mustBe("while it waits", before)
}

// The first container ends badly until the second has done its work.
func TestIntegrationRunOnceWaitsForOneThatFailsAtFirst(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := t.TempDir()
	h.write("pod.yaml", `version: v1beta1
id: pod
restartPolicy: {onFailure: {}}
volumes: [{name: data, source: {hostDir: {path: `+dir+`}}}]
containers:
  - name: reader
    image: HELLO
    command: [/hello, cat, /data/ready]
    volumeMounts: [{name: data, mountPath: /data}]
`)
	h.write("other.yaml", job("other", "/hello, sleep, -for, 10ms"))
	done := make(chan result)
	go func() { done <- h.run("-config="+h.manifests, "-runonce") }()
	h.eventually("it has failed twice", func() error {
		for _, c := range h.containers() {
			if c.of == "reader" && c.attempt == "2" && c.state == "exited" {
				return nil
			}
		}
		return fmt.Errorf("it has not")
	})
	if err := os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := <-done
	rows := r.table(t)
	if r.exit != 0 || rows["pod"].state != "finished" || rows["other"].state != "finished" {
		t.Errorf("exit %d, want 0, and the table is\n%s\n%s", r.exit, r.stdout, r.stderr)
	}
	for _, pod := range []string{"pod", "other"} {
		if err := h.ended(pod); err != nil {
			t.Error(err)
		}
	}
}

func TestIntegrationTheCountOfQuickEndsOutlivesTheKubelet(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", strings.ReplaceAll(job("pod", `/hello, exit, "7"`), "never", "always"))
	flags := []string{"-max_restart_backoff=1h", "-maximum_dead_containers_per_container=0"}
	p := h.start(flags...)
	ended := func(attempt string) (*docker.Container, error) {
		for _, c := range h.containers() {
			if c.of == "main" && c.attempt == attempt && c.state == "exited" {
				return h.inspect(c.id)
			}
		}
		return nil, fmt.Errorf("attempt %s has not ended", attempt)
	}
	h.eventually("the third attempt has ended", func() error { _, err := ended("3"); return err })
	p.kill()

	p = h.start(flags...)
	var fourth *docker.Container
	h.eventually("the fourth attempt has ended", func() (err error) { fourth, err = ended("4"); return err })
	third, err := ended("3")
	if err != nil {
		t.Fatal(err)
	}
	if wait := fourth.State.StartedAt.Sub(third.State.FinishedAt); wait < 2e9 || fourth.Config.Labels["kubelet14.quick_ends"] != "3" {
		t.Errorf("the fourth attempt came %v after the third, with a count of %q; want 2s at least, and 3", wait, fourth.Config.Labels["kubelet14.quick_ends"])
	}
	h.eventually("it is said", func() error {
		return p.shows("pod/main", "waiting", "BackOff: ", "exit code 7", "ended quickly 4 times in a row", "started again at ")
	})

	// Step: another form is another beginning.
	h.write("pod.yaml", strings.ReplaceAll(job("pod", `/hello, exit, "8"`), "never", "always"))
	var first *docker.Container
	h.eventually("the first attempt of the new form has ended", func() (err error) { first, err = ended("5"); return err })
	if count, there := first.Config.Labels["kubelet14.quick_ends"]; there || first.State.ExitCode != 8 {
		t.Errorf("it ended with %d, and has a count of %q; want 8, and none", first.State.ExitCode, count)
	}
	h.eventually("it has its second attempt at once", func() error { _, err := ended("6"); return err })
	if second, err := ended("6"); err != nil || second.Config.Labels["kubelet14.quick_ends"] != "1" {
		t.Errorf("the attempt after it has a count of %q (%v), want 1", second.Config.Labels["kubelet14.quick_ends"], err)
	}
}

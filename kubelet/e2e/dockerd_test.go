package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// A kubelet waits for Docker, and repairs every pod once when Docker has ended and come back. The second Docker has a
// log driver that keeps nothing. Neither has an image or a registry: the kubelet makes the demo's image from itself.
func TestIntegrationLongDockerComesAndGoes(t *testing.T) {
	t.Parallel()
	// Where told to, hello exits with 1 when it is stopped. With 0 its work would be done by the policy onFailure.
	pods := []struct {
		id, policy, flags string
		containers        []string
		before, after     bool   // whether they run before and after the restart; those that do were started once more
		phase             string // at the end
	}{
		{"always-1", "always", "", []string{"main", "side"}, true, true, "running"},
		{"always-2", "always", "", []string{"main", "side"}, true, true, "running"},
		{"always-3", "always", "", []string{"main"}, true, true, "running"},
		{"failing", "onFailure", `, "-exit-on-term", "1"`, []string{"main", "side"}, true, true, "running"},
		{"finished", "onFailure", `, "-for", "1ms"`, []string{"main", "side"}, false, false, "succeeded"},
		{"never-ended", "never", `, "-for", "1ms"`, []string{"main"}, false, false, "succeeded"},
		{"never-failed", "never", `, "-for", "1ms", "-exit", "3"`, []string{"main"}, false, false, "failed"},
		{"never-runs", "never", "", []string{"main", "side"}, true, false, ""}, // by how Docker ended it
	}
	for signal, driver := range map[string]string{"TERM": "json-file", "KILL": "none"} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			d := hosttest.NewDockerd(t)
			h := hosttest.NewOn(t, d.Endpoint)
			dir := filepath.Join(h.Dir, "starts") // the box shares it
			h.Must(os.Mkdir(dir, 0o755))
			for _, pod := range pods {
				h.Write(pod.id, noting(pod.id, pod.policy, dir, pod.flags, pod.containers...))
			}
			h.Write("job", hosttest.Job("job", "/hello, cat, /nosuch"))
			p := h.Start()
			unhealthy := func() error {
				a, err := p.Ask("GET", "/healthz")
				if err == nil && a.Status != http.StatusServiceUnavailable {
					err = fmt.Errorf("/healthz answers %+v", a)
				}
				return errors.Join(err, unittest.HasWords(a.Body, "cannot reach Docker at "+d.Endpoint))
			}
			h.Must(unittest.Wait(unhealthy))
			d.Start("--log-driver=" + driver)
			are := func(live func(i int) (lives bool, started int)) error {
				for i, pod := range pods {
					lives, started := live(i)
					err := h.Ended(pod.id)
					if lives {
						err = h.Whole(pod.id, pod.containers...)
					}
					for _, name := range pod.containers {
						err = errors.Join(err, starts(dir, pod.id, name, started))
					}
					if err != nil {
						return err
					}
				}
				return nil
			}
			h.Await("the pods come up with Docker", func() error { return are(func(i int) (bool, int) { return pods[i].before, 1 }) })

			// A container that ends sooner after its start than the longest back-off counts as a crash, also when its pod ends with it.
			h.Await("every container has run for a while", func() error {
				for _, c := range h.Containers() {
					if !c.Live() {
						continue
					}
					detail, err := h.Inspect(c.ID)
					if err == nil && time.Since(detail.State.StartedAt) < hosttest.MaxRestartBackoff {
						err = fmt.Errorf("%s has run since %v", c, detail.State.StartedAt)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			d.End(signal)
			h.Must(unittest.Wait(unhealthy))
			d.Start("--log-driver=" + driver)
			after := func() error {
				return are(func(i int) (bool, int) {
					if pods[i].after {
						return true, 2
					}
					return false, 1
				})
			}
			h.Await("every pod is whole again, once", after)
			for _, c := range h.Containers() {
				if crashes := c.Labels["kubelet14.quick_ends"]; crashes != "" {
					t.Errorf("%s: the restart of Docker counts as crash %s", c, crashes)
				}
			}

			// A new kubelet looks at every pod.
			p.Stop()
			p = h.Start()
			for _, pod := range pods {
				if pod.phase != "" {
					p.AwaitShows(pod.id, pod.phase)
				}
				if pod.phase == "running" {
					p.AwaitUp(pod.id)
				}
			}
			h.Check(after())

			// The limits of logs apply to one driver only.
			log := h.MustInspect(h.Live("always-1", "main").ID).HostConfig.LogConfig
			if log.Type != driver || (len(log.Config) > 0) != (driver == "json-file") {
				t.Errorf("the log is kept as %+v, want %s", log, driver)
			}
			p.AwaitShows("job/main", "terminated", "Error: ")
			if err := p.Shows("job/main", "terminated", "/nosuch"); (err == nil) != (driver == "json-file") {
				t.Errorf("the message of the job with log driver %s: %v", driver, err)
			}
		})
	}
}

// noting is a pod whose containers note each of their starts in a directory of the
// host, and then do as their flags say.
func noting(id, policy, dir, flags string, containers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: v1beta1\nid: %s\nrestartPolicy: {%s: {}}\n", id, policy)
	fmt.Fprintf(&b, "volumes: [{name: starts, source: {hostDir: {path: %q}}}]\ncontainers:\n", dir)
	for _, name := range containers {
		fmt.Fprintf(&b, "  - name: %s\n    image: HELLO\n    volumeMounts: [{name: starts, mountPath: /starts}]\n", name)
		fmt.Fprintf(&b, "    command: [/hello, append%s, /starts/%s.%s, started]\n", flags, id, name)
	}
	return b.String()
}

// starts checks how often a container has noted a start.
func starts(dir, pod, container string, want int) error {
	data, err := os.ReadFile(filepath.Join(dir, pod+"."+container))
	if got := strings.Count(string(data), "\n"); got != want && (err == nil || errors.Is(err, os.ErrNotExist)) {
		err = fmt.Errorf("container %q of pod %s was started %d times, want %d", container, pod, got, want)
	}
	return err
}

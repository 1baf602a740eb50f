package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/e2e/hosttest"
)

// hungry takes 64 MB although its limit is 16, again and again: a busy Docker does not notice each time that a
// container ran out of memory, least of all just after a start.
func hungry(id string) string {
	return strings.Replace(hosttest.Crashing(id, `/hello, eat, -over, 8s, "67108864"`), "image:", "memory: 16777216, image:", 1)
}

// reason is a row of /pods that is expected.
type reason struct {
	pod, state string
	words      []string
}

// TestIntegrationLongReasons reads in /pods why a pod does not run, and how a container
// ended.
func TestIntegrationLongReasons(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	later := filepath.Join(dir, "later")
	port, release := takePort(t)
	defer release()
	say := func(words string) string { return `/hello, say, -exit, "3", ` + words }
	pods := map[string]struct {
		manifest string
		reasons  []reason
	}{
		"crashes": {hosttest.Crashing("crashes", "/hello, cat, /nosuch"), []reason{
			{"crashes", "failing", nil},
			{"crashes/main", "waiting", []string{"BackOff: ", "exit code 1", "open /nosuch: no such file or directory"}},
			{"crashes/net", "running", nil},
		}},
		"oom": {hungry("oom"), []reason{
			{"oom/main", "waiting", []string{"BackOff: ", "used more than its memory limit"}},
		}},
		"port": {hosttest.Server("port", port), []reason{
			{"port", "failing", nil},
			{"port/main", "waiting", []string{"NetworkContainer: waits for the network container"}},
			{"port/net", "waiting", []string{"PortTaken: ", "address already in use"}},
		}},
		"dir": {hosttest.WithHostDir("dir", later), []reason{
			{"dir", "failing", nil},
			{"dir/main", "waiting", []string{"HostDirMissing: ", later, "does not exist"}},
			{"dir/net", "running", nil},
		}},
		"command": {strings.ReplaceAll(hosttest.Sleeper("command"), "/hello", "/hullo"), []reason{
			{"command/main", "waiting", []string{"CommandNotFound: ", "/hullo", "no such file or directory"}},
		}},
		"failed": {hosttest.Job("failed", "/hello, cat, /nosuch"), []reason{
			{"failed", "failed", nil},
			{"failed/main", "terminated", []string{"Error: ", "/nosuch: no such file"}},
			{"failed/net", "terminated", []string{"Completed: "}},
		}},
		// Termination messages.
		"says": {hosttest.Job("says", say(`/dev/termination-log, "sorry\nno memory\n"`)), []reason{
			{"says/main", "terminated", []string{"Error: ", "sorry", "no memory"}},
		}},
		"succeeds": {hosttest.Job("succeeds", `/hello, say, /dev/termination-log, "42 rows"`), []reason{
			{"succeeds", "succeeded", nil},
			{"succeeds/main", "terminated", []string{"Completed: 42 rows"}},
		}},
		"elsewhere": {strings.Replace(hosttest.Job("elsewhere", say("/last, sorry")), "image:", "terminationMessagePath: /last, image:", 1), []reason{
			{"elsewhere/main", "terminated", []string{"Error: ", "sorry"}},
		}},
		"as-a-user": {strings.Replace(hosttest.Job("as-a-user", say("/dev/termination-log, sorry")), "HELLO", h.imageOfUser("1000:1000"), 1), []reason{
			{"as-a-user/main", "terminated", []string{"Error: ", "sorry"}},
		}},
	}
	h.WriteSleepers("good")
	for id, pod := range pods {
		h.Write(id, pod.manifest)
	}
	p := h.Start("-max_restart_backoff=1m", "-sync_frequency=1s")
	h.AwaitUp("good")
	for _, pod := range pods {
		for _, r := range pod.reasons {
			p.AwaitShows(r.pod, r.state, r.words...)
		}
	}
	h.Must(os.Mkdir(later, 0o755))
	release()
	h.AwaitUp("dir", "port")
	p.AwaitShows("dir/main", "running")

	// The next kubelet knows the messages too.
	p.Kill()
	p = h.Start("-file_check_frequency=1s") // the wait before all pods are removed
	for _, id := range []string{"says", "succeeds", "elsewhere", "as-a-user"} {
		for _, r := range pods[id].reasons {
			p.AwaitShows(r.pod, r.state, r.words...)
		}
	}
	h.Remove("good")
	for id := range pods {
		h.Remove(id)
	}
	h.Await("the messages go with their pods", h.NoVolumes)
}

// imageOfUser makes an image of the demo whose containers run as a user.
func (h *host) imageOfUser(user string) string {
	h.T.Helper()
	c, err := h.Docker.CreateContainer(docker.CreateContainerOptions{Config: &docker.Config{Image: dockertools.HelloImage, Cmd: []string{"/hello"}}})
	h.Must(err)
	defer h.removeByID(c.ID)
	return h.commit(c.ID, &docker.Config{User: user})
}

// commit makes an image of a container, which goes with the test.
func (h *host) commit(id string, config *docker.Config) (image string) {
	h.T.Helper()
	image = "kubelet14/" + h.Hostname
	made, err := h.Docker.CommitContainer(docker.CommitContainerOptions{Container: id, Repository: image, Tag: "test", Run: config})
	h.Must(err)
	h.T.Cleanup(func() { h.Check(h.Docker.RemoveImageExtended(made.ID, docker.RemoveImageOptions{Force: true})) })
	return image + ":test"
}

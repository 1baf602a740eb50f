package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api"
)

// pods are what /pods tells, by name.
func (w *window) pods() (map[string]api.PodStatus, error) {
	a, err := w.ask("GET", "/pods")
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("/pods answers %d %s", a.status, a.body)
	}
	var list struct{ Items []api.PodStatus }
	if err == nil {
		err = json.Unmarshal([]byte(a.body), &list)
	}
	pods := map[string]api.PodStatus{}
	for _, pod := range list.Items {
		pods[pod.Name] = pod
	}
	return pods, err
}

// tells compares what is told of a container with what Docker has.
func tells(c api.ContainerStatus, d *docker.Container, restarts int) error {
	var state error
	switch {
	case d.State.Running && (c.State.Running == nil || !c.State.Running.StartedAt.Equal(d.State.StartedAt)):
		state = fmt.Errorf("it runs since %v, and is told to be %+v", d.State.StartedAt, c.State)
	case !d.State.Running && (c.State.Terminated == nil || endedOtherwise(c.State.Terminated, d)):
		state = fmt.Errorf("it has ended as %+v, and is told to have as %+v", d.State, c.State.Terminated)
	}
	if c.Image != helloImage || c.ImageID != d.Image || c.RestartCount != restarts {
		state = errors.Join(state, fmt.Errorf("its image is told to be %s, %s, after %d restarts; want %s, %s, %d", c.Image, c.ImageID, c.RestartCount, helloImage, d.Image, restarts))
	}
	return state
}

func endedOtherwise(end *api.ContainerStateTerminated, d *docker.Container) bool {
	return end.ExitCode != d.State.ExitCode || !end.StartedAt.Equal(d.State.StartedAt) || !end.FinishedAt.Equal(d.State.FinishedAt)
}

func TestIntegrationPodsAreToldAsDockerHasThem(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", sleeper("web"))
	h.write("done.yaml", job("done", `/hello, exit, "3"`))
	w := h.startServing()
	h.eventually("the pods have come up", func() error { return errors.Join(h.sleepersAre("web"), h.ended("done")) })
	killed := h.live("web", "main")
	h.killAndAwait("web")

	main, net, done := h.live("web", "main"), h.live("web", "net"), h.newest("done", "main")
	var of []*docker.Container
	for _, c := range []container{main, net, done, killed} {
		d, err := h.inspect(c.id)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, d)
	}
	h.eventually("/pods tells what Docker has", func() error {
		pods, err := w.pods()
		web, done := pods["web"], pods["done"]
		if err != nil || len(pods) != 2 || len(web.Containers) != 2 || len(done.Containers) != 2 {
			return fmt.Errorf("%+v, %v", pods, err)
		}
		err = errors.Join(tells(web.Containers[0], of[0], 1), tells(done.Containers[0], of[2], 0))
		if last := web.Containers[0].Last; last == nil || endedOtherwise(last, of[3]) {
			err = errors.Join(err, fmt.Errorf("before, it has ended as %+v, and is told to have as %+v", of[3].State, last))
		}
		if ip := of[1].NetworkSettings.IPAddress; web.PodIP != ip || web.Containers[1].PodIP != ip || done.PodIP != "" {
			err = errors.Join(err, fmt.Errorf("the IPs are told to be %q, %q and %q, want %s twice and none", web.PodIP, web.Containers[1].PodIP, done.PodIP, ip))
		}
		if web.UID != h.uid("web") || web.Source != "file" || !strings.HasSuffix(web.Origin, "web.yaml") || web.Phase != api.PodRunning || done.Phase != api.PodFailed {
			err = errors.Join(err, fmt.Errorf("the pods are told to be %+v and %+v", web, done))
		}
		return err
	})

	a := w.mustAsk("GET", "/podInfo?podID=web&podNamespace=default")
	info := map[string]api.ContainerStatus{}
	if err := json.Unmarshal([]byte(a.body), &info); err != nil || a.status != http.StatusOK || len(info) != 2 {
		t.Fatalf("/podInfo answers %d %s, %v", a.status, a.body, err)
	}
	app := info["main"]
	app.ImageID = of[0].Image // 2014 had no field for it
	if err := tells(app, of[0], 1); err != nil {
		t.Error(err)
	}
	if net := info["net"]; net.PodIP != of[1].NetworkSettings.IPAddress || net.State.Running == nil || !net.State.Running.StartedAt.Equal(of[1].State.StartedAt) {
		t.Errorf("of the network container it tells %+v", net)
	}
}

// Who starts the kubelet in a terminal is told the link with the token there, and only there:
// not even the longest log has it, whatever is asked with it.
func TestIntegrationTheTokenIsForATerminalAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", sleeper("web"))
	w := h.startServing("-v=9")
	h.eventually("the pod is up", func() error { return h.sleepersAre("web") })
	for request, want := range map[string]int{
		"GET /pods": 200, "GET /containerLogs/default/web/main": 200, "POST /run/default/web/main?cmd=/hello&cmd=env": 200,
		"GET /nothing?token=" + w.token: 404, "GET /" + w.token: 404,
	} {
		method, path, _ := strings.Cut(request, " ")
		if a := w.mustAsk(method, path); a.status != want {
			t.Errorf("%s: it answers %d %s, want %d", request, a.status, a.body, want)
		}
	}
	w.p.stop()
	for _, text := range []string{w.p.log.String(), w.p.out.String()} {
		if strings.Contains(text, w.token) {
			t.Errorf("the token is told\n%s", text)
		}
	}

	terminal, screen := newTerminal(t)
	log := &buffer{}
	cmd := exec.Command(kubeletBinary, h.args("-config="+h.manifests, "-enable_server", "-port=0")...)
	cmd.Stdout, cmd.Stderr = terminal, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	link := ""
	h.eventually("the terminal has the link", func() error {
		_, rest, _ := strings.Cut(screen.String(), "Look at the pods: ")
		var whole bool
		if link, _, whole = strings.Cut(rest, "\r\n"); !whole {
			return fmt.Errorf("it has %q", screen)
		}
		return nil
	})
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 || !strings.HasSuffix(link, "?token="+w.token) {
		t.Errorf("the link %s answers %s, with the cookies %v", link, resp.Status, resp.Cookies())
	}
	if strings.Contains(log.String(), w.token) {
		t.Errorf("the log has the token\n%s", log)
	}
}

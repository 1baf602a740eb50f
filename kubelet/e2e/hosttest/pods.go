package hosttest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"kubelet14/api/unittest"

	docker "github.com/fsouza/go-dockerclient"
)

// Logs returns what a container has written.
func (h *Host) Logs(id string) string {
	h.T.Helper()
	var b Buffer
	h.Must(h.Docker.Logs(docker.LogsOptions{Container: id, OutputStream: &b, ErrorStream: &b, Stdout: true, Stderr: true}))
	return b.String()
}

func (h *Host) AwaitLogOf(c Container, words string) {
	h.T.Helper()
	h.Await(fmt.Sprintf("the log of %s holds %q", c.Name, words), func() error { return unittest.HasWords(h.Logs(c.ID), words) })
}

// Stubborn returns the container "main" of a pod once SIGTERM does not end it any
// more: a process that has just begun does not ignore it yet.
func (h *Host) Stubborn(pod string) Container {
	h.T.Helper()
	c := h.Live(pod, "main")
	h.AwaitLogOf(c, "will go on when asked to stop")
	return c
}

// browser keeps no connections: the next container at an address is another one.
var browser = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}

// Ask fetches a page from a server in a pod, at the address of the pod, and checks that it is found and holds some words.
func (h *Host) Ask(id, path string, words ...string) error {
	c, err := h.One(id, "net")
	if err != nil {
		return err
	}
	net, err := h.Inspect(c.ID)
	if err != nil {
		return err
	}
	resp, err := browser.Get("http://" + Address(net) + ":8080" + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %s: %s", path, resp.Status, body)
	}
	return errors.Join(err, unittest.HasWords(string(body), words...))
}

// AwaitRun runs the program hello with these words in the container "main" of a pod, until it prints all of want.
func (p *Process) AwaitRun(pod, words string, want ...string) {
	p.t.Helper()
	p.h.Await(fmt.Sprintf("in %s hello %s prints %q", pod, words, want), func() error {
		r, err := p.Ask("POST", "/run/default/"+pod+"/main?cmd=/hello&cmd="+strings.ReplaceAll(words, " ", "&cmd="))
		return errors.Join(err, unittest.HasWords(r.Body, want...))
	})
}

// Address returns the address of a network container.
func Address(net *docker.Container) string {
	return net.NetworkSettings.Networks[net.HostConfig.NetworkMode].IPAddress
}

// MustServe waits until a pod is up and its server answers. It may answer before
// Docker lists it as running.
func (h *Host) MustServe(id, path string) {
	h.T.Helper()
	h.Await("pod "+id+" serves "+path, func() error {
		if err := h.Up(id); err != nil {
			return err
		}
		return h.Ask(id, path)
	})
}

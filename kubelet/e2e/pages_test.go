package e2e

import (
	"fmt"
	"io"
	"net/http"

	docker "github.com/fsouza/go-dockerclient"
)

// logs returns what a container has written.
func (h *host) logs(id string) string {
	h.t.Helper()
	var b buffer
	h.must(h.docker.Logs(docker.LogsOptions{Container: id, OutputStream: &b, ErrorStream: &b, Stdout: true, Stderr: true}))
	return b.String()
}

func (h *host) awaitLogOf(c container, words string) {
	h.t.Helper()
	h.await(fmt.Sprintf("the log of %s holds %q", c.name, words), func() error { return hasWords(h.logs(c.id), []string{words}) })
}

// stubborn returns the container "main" of a pod once SIGTERM does not end it any
// more: a process that has just begun does not ignore it yet.
func (h *host) stubborn(pod string) container {
	h.t.Helper()
	c := h.live(pod, "main")
	h.awaitLogOf(c, "will go on when asked to stop")
	return c
}

// get fetches a page and checks that it is found and holds some words.
func get(url string, words ...string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %s: %s", url, resp.Status, body)
	}
	if err == nil {
		err = hasWords(string(body), words)
	}
	return string(body), err
}

// answers checks what a port of this machine answers.
func answers(port int, path string, words ...string) error {
	_, err := get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path), words...)
	return err
}

// ask fetches a page from a server in a pod, at the address of the pod.
func (h *host) ask(id, path string) error {
	c, err := h.one(id, "net")
	if err != nil {
		return err
	}
	net, err := h.inspect(c.id)
	if err == nil {
		_, err = get("http://" + net.NetworkSettings.IPAddress + ":8080" + path)
	}
	return err
}

// mustServe waits until a pod is up and its server answers. It may answer before
// Docker lists it as running.
func (h *host) mustServe(id, path string) {
	h.t.Helper()
	h.await("pod "+id+" serves "+path, func() error {
		if err := h.up(id); err != nil {
			return err
		}
		return h.ask(id, path)
	})
}

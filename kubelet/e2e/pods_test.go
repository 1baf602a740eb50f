package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

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

// browser keeps no connections: the next container at an address is another one.
var browser = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}

// get fetches a page and checks that it is found and holds some words.
func get(url string, words ...string) (string, error) {
	resp, err := browser.Get(url)
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

// ask fetches a page from a server in a pod, at the address of the pod, and checks that it holds some words.
func (h *host) ask(id, path string, words ...string) error {
	c, err := h.one(id, "net")
	if err != nil {
		return err
	}
	net, err := h.inspect(c.id)
	if err == nil {
		_, err = get("http://"+address(net)+":8080"+path, words...)
	}
	return err
}

// address returns the address of a network container.
func address(net *docker.Container) string {
	return net.NetworkSettings.Networks[net.HostConfig.NetworkMode].IPAddress
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

// sleeper is the smallest pod.
func sleeper(id string) string {
	return "version: v1beta1\nid: " + id + "\ncontainers:\n  - {name: main, image: HELLO, command: [/hello, sleep]}\n"
}

// twoContainers is a pod with the containers "main" and "side".
func twoContainers(id string) string {
	return sleeper(id) + "  - {name: side, image: HELLO, command: [/hello, sleep]}\n"
}

// job is a pod that runs one command once, to its end.
func job(id, command string) string {
	return "restartPolicy: {never: {}}\n" + strings.Replace(sleeper(id), "/hello, sleep", command, 1)
}

// crashing is a pod whose container ends and is started again.
func crashing(id, command string) string {
	return strings.Replace(job(id, command), "never", "always", 1)
}

// server is a pod that holds a port of the host.
func server(id string, port int) string {
	return fmt.Sprintf("%s    ports: [{containerPort: 80, hostPort: %d}]\n", block(id, `/hello, serve, -port, "80"`), port)
}

// block is a sleeper in block style, to which lines of its container can be added.
func block(id, command string) string {
	return "version: v1beta1\nid: " + id + "\ncontainers:\n  - name: main\n    image: HELLO\n    command: [" + command + "]\n"
}

// serverWith is a pod with a web server, which keeps a diary in a directory of the
// host. More are lines of the container.
func serverWith(id, dir string, more ...string) string {
	return "volumes: [{name: data, source: {hostDir: {path: " + dir + "}}}]\n" +
		block(id, `/hello, serve, -port, "8080", -diary, /data/`+id) +
		"    ports: [{name: http, containerPort: 8080}]\n    volumeMounts: [{name: data, mountPath: /data}]\n    " +
		strings.Join(more, "\n    ") + "\n"
}

// withHostDir is a sleeper with a directory of the host.
func withHostDir(id, dir string) string {
	return strings.Replace(sleeper(id), "[/hello, sleep]", "[/hello, sleep], volumeMounts: [{name: data, mountPath: /data}]", 1) +
		"volumes: [{name: data, source: {hostDir: {path: " + dir + "}}}]\n"
}

// emptyDirPod is a pod that notes each start of its container "writer" in its EmptyDir.
// More are lines of the manifest.
func emptyDirPod(more ...string) string {
	return strings.Join(append(more, `version: v1beta1
id: pod
volumes: [{name: data, source: {emptyDir: {}}}]
containers:
  - name: main
    image: HELLO
    command: [/hello, sleep]
    env: [{name: ROUND, value: "1"}]
    volumeMounts: [{name: data, mountPath: /data}]
  - name: writer
    image: HELLO
    command: [/hello, append, /data/log, begun]
    volumeMounts: [{name: data, mountPath: /data}]
`), "\n")
}

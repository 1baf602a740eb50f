package e2e

import (
	"fmt"
	"strings"

	"kubelet14/kubelet/e2e/hosttest"
)

// twoContainers is a pod with the containers "main" and "side".
func twoContainers(id string) string {
	return hosttest.Sleeper(id) + "  - {name: side, image: HELLO, command: [/hello, sleep]}\n"
}

// job is a pod that runs one command once, to its end.
func job(id, command string) string {
	return "restartPolicy: {never: {}}\n" + strings.Replace(hosttest.Sleeper(id), "/hello, sleep", command, 1)
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
	return strings.Replace(hosttest.Sleeper(id), "[/hello, sleep]", "[/hello, sleep], volumeMounts: [{name: data, mountPath: /data}]", 1) +
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

package hosttest

import (
	"fmt"
	"strings"
)

// Sleeper is the smallest pod.
func Sleeper(id string) string {
	return "version: v1beta1\nid: " + id + "\ncontainers:\n  - {name: main, image: HELLO, command: [/hello, sleep]}\n"
}

// TwoContainers is a pod with the containers "main" and "side".
func TwoContainers(id string) string {
	return Sleeper(id) + "  - {name: side, image: HELLO, command: [/hello, sleep]}\n"
}

// Job is a pod that runs one command once, to its end.
func Job(id, command string) string {
	return "restartPolicy: {never: {}}\n" + strings.Replace(Sleeper(id), "/hello, sleep", command, 1)
}

// Crashing is a pod whose container ends and is started again.
func Crashing(id, command string) string {
	return strings.Replace(Job(id, command), "never", "always", 1)
}

// Server is a pod that holds a port of the host.
func Server(id string, port int) string {
	return fmt.Sprintf("%s    ports: [{containerPort: 80, hostPort: %d}]\n", Block(id, `/hello, serve, -port, "80"`), port)
}

// Block is a sleeper in block style, to which lines of its container can be added.
func Block(id, command string) string {
	return "version: v1beta1\nid: " + id + "\ncontainers:\n  - name: main\n    image: HELLO\n    command: [" + command + "]\n"
}

// ServerWith is a pod with a web server, which keeps a diary in a directory of the
// host. More are lines of the container.
func ServerWith(id, dir string, more ...string) string {
	return "volumes: [{name: data, source: {hostDir: {path: " + dir + "}}}]\n" +
		Block(id, `/hello, serve, -port, "8080", -diary, /data/`+id) +
		"    ports: [{name: http, containerPort: 8080}]\n    volumeMounts: [{name: data, mountPath: /data}]\n    " +
		strings.Join(more, "\n    ") + "\n"
}

// WithHostDir is a sleeper with a directory of the host.
func WithHostDir(id, dir string) string {
	return strings.Replace(Sleeper(id), "[/hello, sleep]", "[/hello, sleep], volumeMounts: [{name: data, mountPath: /data}]", 1) +
		"volumes: [{name: data, source: {hostDir: {path: " + dir + "}}}]\n"
}

// EmptyDirPod is a pod that notes each start of its container "writer" in its EmptyDir.
// More are lines of the manifest.
func EmptyDirPod(more ...string) string {
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

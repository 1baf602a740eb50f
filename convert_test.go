package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api/unittest"
)

// The comments above a Pod are about this pod alone: each manifest is printed with the comments and fields that it
// needs.
func TestConvert(t *testing.T) {
	for _, test := range []struct{ name, manifest, want string }{
		{"all", `version: v1beta1
id: web.example
uuid: u-1
dnsPolicy: ClusterFirst
volumes: [{name: data, source: {hostDir: {path: /data}}}, {name: tmp}]
containers:
- name: main
  image: example.com:5000/web
  command: [sh, -c, "echo $(date) $$ $HOME"]
  ports: [{name: http, containerPort: 80, hostPort: 8080}]
  env: [{name: A, value: 010}]
  cpu: 500
  memory: 67108864
  privileged: true
  volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
  livenessProbe: {exec: {command: [sh, -c, "kill -0 $$"]}}
  lifecycle: {postStart: {httpGet: {path: /started}}}
- name: side
  image: side:1
  livenessProbe: {tcpSocket: {port: "80"}, initialDelaySeconds: 7}
`, `# - left out: the uuid u-1; a cluster gives each pod its own
# - left out, since kubelet14 does not use it: dnsPolicy (Docker's DNS is used)
# - a crashing container waits 10 s to 5 min for its next start; in kubelet14 1 s to -max_restart_backoff
# - "/data" must be on the node that gets the pod; a type such as Directory checks that
# - containers start one after the other, each after the postStart hook of the one before; in kubelet14 side by side
# - $( became $$( and $$ became $$$$: v1 replaces variables
# - an image that is latest is pulled at every start, and with IfNotPresent once; in kubelet14 for each version of the container
# - command became args: the image's ENTRYPOINT stays
# - cpu became requests.cpu, which a node must have free
# - limits.memory is also what a node must have free
# - privileged: the namespace must allow it
# - in the command of the livenessProbe $$ and variables in $( ) are replaced; in kubelet14 they are not
# - every answer to an httpGet hook is good; in kubelet14 its status must be 200 to 399
# - a container without cpu has the least share; in kubelet14 that of a whole core
apiVersion: v1
kind: Pod
metadata:
  name: web.example
spec:
  containers:
  - args:
    - sh
    - -c
    - echo $$(date) $$$$ $HOME
    env:
    - name: A
      value: "010"
    image: example.com:5000/web
    lifecycle:
      postStart:
        httpGet:
          path: /started
          port: 80
    livenessProbe:
      exec:
        command:
        - sh
        - -c
        - kill -0 $$
      failureThreshold: 1
      initialDelaySeconds: 20
      periodSeconds: 20
      successThreshold: 1
      timeoutSeconds: 5
    name: main
    ports:
    - containerPort: 80
      hostPort: 8080
      name: http
    resources:
      limits:
        memory: 64Mi
      requests:
        cpu: 500m
    securityContext:
      privileged: true
    terminationMessagePolicy: FallbackToLogsOnError
    volumeMounts:
    - mountPath: /data
      name: data
      readOnly: true
  - image: side:1
    livenessProbe:
      failureThreshold: 1
      initialDelaySeconds: 7
      periodSeconds: 20
      successThreshold: 1
      tcpSocket:
        port: 80
      timeoutSeconds: 5
    name: side
    terminationMessagePolicy: FallbackToLogsOnError
  terminationGracePeriodSeconds: 10
  volumes:
  - hostPath:
      path: /data
    name: data
  - emptyDir: {}
    name: tmp
`},
		{"a Pod of today", `apiVersion: v1
kind: Pod
metadata: {name: web, uid: u-1}
spec: {nodeName: here, dnsPolicy: None, dnsConfig: {nameservers: [1.1.1.1]}, containers: [{name: main, image: a, args: [$(A)], livenessProbe: {tcpSocket: {port: 80}}}]}
`, `# - this is a v1 Pod already: its own file also works with kubectl, and has what is left out here, such as dnsPolicy
# - left out: the uuid u-1; a cluster gives each pod its own
# - left out, since kubelet14 does not use it: spec.nodeName
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - args:
    - $(A)
    image: a
    livenessProbe:
      tcpSocket:
        port: 80
    name: main
  dnsConfig:
    nameservers:
    - 1.1.1.1
  dnsPolicy: None
`},
	} {
		path := filepath.Join(t.TempDir(), "new\nline.yaml")
		unittest.Must(t, os.WriteFile(path, []byte(test.manifest), 0o644))
		stdout, stderr, exit := program(t, "-convert", "-config="+path, "-allow_privileged", "-sync_frequency=20s", "-root_dir=/no/such/dir")
		want := "---\n# From " + strconv.Quote(path) + "\n" + test.want
		if diff := cmp.Diff(want, stdout); exit != 0 || stderr != "" || diff != "" {
			t.Errorf("%s: exit code %d, %q (-want +got):\n%s", test.name, exit, stderr, diff)
		}
	}
}

// If anything in a directory cannot be converted, nothing is printed and all of it is named.
func TestConvertAllOrNothing(t *testing.T) {
	const good = "version: v1beta1\nrestartPolicy: {never: {}}\ncontainers: [{name: main, image: 'a:1'}]\n"
	dir := t.TempDir()
	write := func(name, text string) {
		unittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("good.yaml", good)
	stdout, _, exit := program(t, "-convert", "-config="+dir)
	note := strings.Contains(stdout, "this name comes from the path") && !strings.Contains(stdout, "a crashing container")
	if exit != 0 || !note || !strings.Contains(stdout, "\n  name: goodyaml") || !strings.Contains(stdout, "\n  restartPolicy: Never") {
		t.Errorf("exit code %d, and a manifest without an id is\n%s", exit, stdout)
	}
	write("net.yaml", good+"---\nversion: v1beta1\nid: net\ncontainers: []\n")
	write("ports.yaml", `version: v1beta1
id: ports
volumes: [{name: v, source: {hostDir: {path: /a/../b}}}]
containers: [{name: main, image: a, ports: [{name: a-name-of-16-abc, containerPort: 1}, {name: "80", containerPort: 2},
  {name: a--b, containerPort: 3}, {name: just-15-letters, containerPort: 4}]}]
`)
	for range 2 {
		stdout, stderr, exit := program(t, "-convert", "-config="+dir)
		wants := []string{"net.yaml (document 2): containers: v1 has no", "ports.yaml: containers[0].ports[0].name: v1", "].ports[1].name: v1",
			"].ports[2].name: v1", "ports.yaml: volumes[0].source.hostDir.path: v1"}
		if _, err := os.Stat(filepath.Join(dir, "bad.yaml")); err == nil { // then the others are not looked at
			wants = []string{"bad.yaml:1:1: version: required value", "\n> 1 | containers: []", `pod "ports" is in`}
		}
		unittest.Says(t, stderr, wants...)
		if exit != 1 || stdout != "" || strings.Contains(stderr, "ports[3]") || !strings.HasPrefix(stderr, "kubelet14: nothing is converted: ") {
			t.Errorf("exit code %d, prints %q and\n%s", exit, stdout, stderr)
		}
		write("bad.yaml", "containers: []\n")
		write("same.yaml", "version: v1beta1\nid: ports\ncontainers: []\n")
	}
}

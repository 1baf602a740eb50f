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
	all, err := os.ReadFile("testdata/convert.yaml")
	converted, wantErr := os.ReadFile("testdata/converted.yaml")
	unittest.Must(t, err, wantErr)
	for _, test := range []struct{ name, manifest, want string }{
		{"all", string(all), string(converted)},
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

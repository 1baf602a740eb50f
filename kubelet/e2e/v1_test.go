package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// kubeadm's control plane: its four files are accepted unchanged. A plan makes no root_dir.
func TestIntegrationStaticPodsOfACluster(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	r := h.MustRun("-dry_run", "-config=testdata/cluster", "-root_dir="+h.RootDir)
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		r.MustExit(t, 0, "pod "+name+".kube-system.file", "create "+name+" (attempt 1)")
	}
	if _, err := os.Lstat(h.RootDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the root_dir is there: %v", err)
	}
}

const todayPod = `apiVersion: v1
kind: Pod
metadata: {name: pod, labels: {app: web}, annotations: {note: a b}}
spec:
  hostname: www
  hostAliases: [{ip: 10.9.8.7, hostnames: [db, cache]}]
  dnsPolicy: None
  dnsConfig: {nameservers: [10.9.8.6], searches: [local], options: [{name: ndots, value: "2"}]}
  volumes:
  - {name: new, hostPath: {path: DIR/new, type: DirectoryOrCreate}}
  - {name: own, downwardAPI: {items: [{path: memory, resourceFieldRef: {containerName: status, resource: limits.memory, divisor: 1Mi}}]}}
  containers:
  - name: main
    image: HELLO
    command: [/hello, serve]
    args: [-port, $(PORT), -show, $(FILE)]
    env:
    - {name: PORT, value: "8080"}
    - {name: FILE, value: /etc/$(NAME)}
    - {name: NAME, value: hosts}
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: URL, value: "http://$(IP):$(PORT)/$$(PORT)"}
    - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
    resources: {limits: {cpu: 64}}
  - name: status
    image: HELLO
    command: [/hello, append, /new/log, hello]
    resources: {limits: {memory: 64Mi}}
    volumeMounts: [{name: new, mountPath: /new}, {name: new, mountPath: /old, readOnly: true}, {name: own, mountPath: /own}]
    securityContext: {runAsUser: 0, runAsGroup: 2000, readOnlyRootFilesystem: true, capabilities: {drop: [ALL], add: [NET_ADMIN]}}
`

func TestIntegrationFieldsOfToday(t *testing.T) {
	t.Parallel()
	h, dir := newHost(t), t.TempDir()
	h.Write("pod", strings.ReplaceAll(todayPod, "DIR", dir))
	p := h.Start()
	h.Await("the pod is up", func() error { return h.Whole("pod", "main", "status") })
	p.AwaitUp("pod")
	main, ip := h.MustInspect(h.Live("pod", "main").ID), hosttest.Address(h.MustInspect(h.Live("pod", "net").ID))
	if got, want := strings.Join(main.Args, " "), "serve -port 8080 -show /etc/$(NAME)"; got != want {
		t.Errorf("its arguments are %q, want %q", got, want)
	}
	if labels := main.Config.Labels; labels["kubelet14.label/app"] != "web" || labels["kubelet14.annotation/note"] != "a b" {
		t.Errorf("its labels are %q", labels)
	}
	if quota := main.HostConfig.CPUQuota; quota != 64*100_000 {
		t.Errorf("its limit is %d, want 64 cores, however many there are", quota)
	}
	for command, words := range map[string][]string{
		"main?cmd=/hello&cmd=env":                                {"CPUS=64\n", "\nIP=" + ip, "\nURL=http://" + ip + ":8080/$(PORT)\n", "\nhostname: www"},
		"status?cmd=/hello&cmd=cat&cmd=/own/memory":              {"64"},
		"main?cmd=/hello&cmd=cat&cmd=/etc/hosts":                 {"10.9.8.7\tdb\n", "10.9.8.7\tcache\n"},
		"main?cmd=/hello&cmd=cat&cmd=/etc/resolv.conf":           {"search default local\n", "options ndots:2"},
		"status?cmd=/hello&cmd=cat&cmd=/proc/self/status":        {"\nGid:\t2000\t", "\nCapEff:\t0000000000001000\n"},
		"status?cmd=/hello&cmd=say&cmd=/file&cmd=it+can+written": {"read-only file system"},
		"status?cmd=/hello&cmd=say&cmd=/old/log&cmd=so+can+this": {"read-only file system"},
	} {
		unittest.Says(t, p.MustAsk("POST", "/run/default/pod/"+command).Body, words...)
	}
	if info, err := os.Stat(filepath.Join(dir, "new")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the directory that is made: %v, %v", info, err)
	}
}

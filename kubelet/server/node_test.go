package server

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/node"
)

// underPressure is a node with little memory, whose disk cannot be read.
var underPressure = node.Status{
	Facts: node.Facts{Cores: 2, MachineID: "machine", BootID: "boot", SystemUUID: "only for root",
		Memory: node.Amount{Available: 2e9, Total: 24_646_656 << 10}, NodeFS: node.Amount{Available: 3e9, Total: 264_212_084 << 10}},
	Docker: dockertools.Info{Version: "20.10.24", OS: "linux", Arch: "amd64", OSImage: "Debian GNU/Linux 12", Kernel: "6.1.0", RootDir: "/images"},
	Conditions: []node.Condition{
		{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "well", Since: noon, ReadAt: noon.Add(time.Hour)},
		{Type: "MemoryPressure", Status: "True", Reason: "KubeletHasInsufficientMemory", Message: "memory.available is low", Since: noon},
		{Type: "DiskPressure", Status: "Unknown", Since: noon}, {Type: "PIDPressure", Status: "False", Since: noon},
	},
}

// The answer has these fields as kubectl get --raw /api/v1/nodes/NAME shows them.
func TestTheNode(t *testing.T) {
	s := serve(t, &fakeKubelet{node: underPressure})
	got := s.ask(t, "GET /node", withToken)
	for old, new := range map[string]string{`"` + dockertools.HostIP() + `"`: `"IP"`, fmt.Sprint(s.listener.Addr().(*net.TCPAddr).Port): "10250"} {
		got.body = strings.ReplaceAll(got.body, old, new)
	}
	want := parseJSON(t, `{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "test-host"}, "status": {
		"addresses": [{"type": "InternalIP", "address": "IP"}, {"type": "Hostname", "address": "test-host"}],
		"capacity": {"cpu": "2", "memory": "24646656Ki", "ephemeral-storage": "264212084Ki"},
		"daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
		"nodeInfo": {"machineID": "machine", "bootID": "boot", "systemUUID": "", "kernelVersion": "6.1.0", "osImage": "Debian GNU/Linux 12",
			"operatingSystem": "linux", "architecture": "amd64", "containerRuntimeVersion": "docker://20.10.24", "kubeletVersion": "v-test", "kubeProxyVersion": ""},
		"conditions": [
			{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "well",
				"lastTransitionTime": "2014-10-23T12:00:00Z", "lastHeartbeatTime": "2014-10-23T13:00:00Z"},
			{"type": "MemoryPressure", "status": "True", "reason": "KubeletHasInsufficientMemory", "message": "memory.available is low",
				"lastTransitionTime": "2014-10-23T12:00:00Z", "lastHeartbeatTime": "0001-01-01T00:00:00Z"},
			{"type": "DiskPressure", "status": "Unknown", "reason": "", "message": "",
				"lastTransitionTime": "2014-10-23T12:00:00Z", "lastHeartbeatTime": "0001-01-01T00:00:00Z"},
			{"type": "PIDPressure", "status": "False", "reason": "", "message": "",
				"lastTransitionTime": "2014-10-23T12:00:00Z", "lastHeartbeatTime": "0001-01-01T00:00:00Z"}]}}`)
	if diff := cmp.Diff(want, parseJSON(t, got.body)); diff != "" || got.status != http.StatusOK {
		t.Errorf("%d, -want +got\n%s", got.status, diff)
	}
}

// A kubelet in a container may see neither the addresses and interfaces of Docker's host nor its amounts. They are missing then.
func TestWhatAContainerDoesNotSee(t *testing.T) {
	elsewhere := node.Status{Docker: dockertools.Info{Version: "20.10.24", Name: "host"}}
	s := serve(t, &fakeKubelet{node: elsewhere})
	for path, missing := range map[string]string{"/node": `InternalIP "cpu" "memory" ephemeral-storage`, "/stats/": `rx_bytes "has_network":true`} {
		got := s.ask(t, "GET "+path, withToken)
		for _, name := range strings.Fields(missing) {
			if strings.Contains(got.body, name) || got.status != http.StatusOK {
				t.Errorf("GET %s: %d, and the answer has %s:\n%s", path, got.status, name, got.body)
			}
		}
	}
}

// A pressure is shown, but /healthz does not fail: a monitor that restarts unhealthy programs would make it worse.
func TestAPressureIsShown(t *testing.T) {
	k := withContainers()
	s := serve(t, k)
	if got := s.ask(t, "GET /status", withToken); !strings.Contains(got.body, "node test-host: no pressure\n") {
		t.Errorf("without a pressure:\n%s", got.body)
	}
	if got := s.ask(t, "GET /"); strings.Contains(got.body, `id="node"`) {
		t.Errorf("without a pressure the page has one:\n%s", got.body)
	}
	k.set(func() { k.node = underPressure })
	if got := s.ask(t, "GET /"); !strings.Contains(got.body, `<p id="node" class="alert busy">node test-host: MemoryPressure since 12:00:00: memory.available is low`) {
		t.Errorf("the page does not show it:\n%s", got.body)
	}
	got := s.ask(t, "GET /status", withToken)
	const want = "node test-host: MemoryPressure since 12:00:00: memory.available is low; DiskPressure is not known\n"
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, want) || !strings.HasSuffix(got.body, "\nMemoryPressure: memory.available is low\n") {
		t.Errorf("it answers %d, want 503 and %q:\n%s", got.status, want, got.body)
	}
	if got := s.ask(t, "GET /healthz"); got.status != http.StatusOK {
		t.Errorf("/healthz answers %d: %s", got.status, got.body)
	}
}

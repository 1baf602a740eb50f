package kubelet

import (
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

func portPod(name string, ports ...api.Port) *wantedPod {
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = api.ProtocolTCP
		}
	}
	return &wantedPod{Pod: api.Pod{UID: name}, fullName: name + ".default.test", ports: ports}
}

func holder(pod string, ports ...dockertools.PublishedPort) dockertools.Owned {
	for i := range ports {
		if ports[i].Protocol == "" {
			ports[i].Protocol = "tcp"
		}
	}
	return dockertools.Owned{
		Container: dockertools.Container{State: dockertools.StateRunning, Ports: ports},
		Of:        dockertools.NameParts{Name: "net", PodFullName: pod + ".default.test"},
	}
}

// checkBlocked takes the pods that must wait, each with the pod that the reason must
// name.
func checkBlocked(t *testing.T, blocked map[string]trouble, want map[string]string) {
	t.Helper()
	for pod, by := range want {
		if reason := blocked[pod+".default.test"].message; !strings.Contains(reason, "pod "+by+".default.test") {
			t.Errorf("pod %s: %q, want it to wait for %s", pod, reason, by)
		}
	}
	if len(blocked) != len(want) {
		t.Errorf("blocked: %v, want %v", blocked, want)
	}
}

func TestAdmit(t *testing.T) {
	tcp := func(n int) api.Port { return api.Port{HostPort: n} }
	held := func(n int) dockertools.PublishedPort { return dockertools.PublishedPort{HostPort: n} }
	tests := []struct {
		name        string
		pods        []*wantedPod // in the order of their names
		list        []dockertools.Owned
		wantBlocked map[string]string
	}{
		{"different ports", []*wantedPod{portPod("a", tcp(80)), portPod("b", tcp(81))}, nil, nil},
		{"first by name", []*wantedPod{portPod("a", tcp(80)), portPod("b", tcp(80))}, nil, map[string]string{"b": "a"}},
		{"the holder before the first by name", []*wantedPod{portPod("a", tcp(80)), portPod("b", tcp(80))},
			[]dockertools.Owned{holder("b", held(80))}, map[string]string{"a": "b"}},
		{"a pod being removed still holds", []*wantedPod{portPod("a", tcp(80))},
			[]dockertools.Owned{holder("gone", held(80))}, map[string]string{"a": "gone"}},
		{"a holder that wants another port now gives way", []*wantedPod{portPod("a", tcp(80)), portPod("b", tcp(81))},
			[]dockertools.Owned{holder("a", held(81)), holder("b", held(80))}, nil},
		{"a loser claims none of its ports", []*wantedPod{portPod("a", tcp(80)), portPod("b", tcp(80), tcp(90)), portPod("c", tcp(90))}, nil, map[string]string{"b": "a"}},
		{"other protocol", []*wantedPod{portPod("a", tcp(53)), portPod("b", api.Port{HostPort: 53, Protocol: api.ProtocolUDP})}, nil, nil},
		{"other host IPs", []*wantedPod{portPod("a", api.Port{HostPort: 80, HostIP: "127.0.0.1"}), portPod("b", api.Port{HostPort: 80, HostIP: "127.0.0.2"})}, nil, nil},
		{"empty host IP overlaps all", []*wantedPod{portPod("a", api.Port{HostPort: 80, HostIP: "127.0.0.1"}), portPod("b", tcp(80))}, nil, map[string]string{"b": "a"}},
		{"0.0.0.0 overlaps all", []*wantedPod{portPod("b", api.Port{HostPort: 80, HostIP: "127.0.0.1"})},
			[]dockertools.Owned{holder("a", dockertools.PublishedPort{HostIP: "0.0.0.0", HostPort: 80})}, map[string]string{"b": "a"}},
		{"its own hold is no conflict", []*wantedPod{portPod("a", tcp(80))}, []dockertools.Owned{holder("a", held(80))}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkBlocked(t, admit(tt.pods, tt.list), tt.wantBlocked)
		})
	}
}

func TestSharedUIDs(t *testing.T) {
	pod := func(name, uid string) *wantedPod {
		return &wantedPod{Pod: api.Pod{Name: name, Namespace: "default", Source: "test", UID: uid, Origin: name + ".yaml"}, fullName: name + ".default.test"}
	}
	has := func(name, uid string) dockertools.Owned {
		return dockertools.Owned{
			Container: dockertools.Container{State: dockertools.StateExited},
			Of:        dockertools.NameParts{Name: "main", PodFullName: name + ".default.test", UID: uid},
		}
	}
	tests := []struct {
		name        string
		pods        []*wantedPod // in the order of their names
		list        []dockertools.Owned
		wantBlocked map[string]string
	}{
		{"each has its own", []*wantedPod{pod("a", "1"), pod("b", "2")}, []dockertools.Owned{has("a", "1"), has("b", "2")}, nil},
		{"first by name", []*wantedPod{pod("a", "1"), pod("b", "1")}, nil, map[string]string{"b": "a"}},
		{"who has containers, dead ones too, before the first by name", []*wantedPod{pod("a", "1"), pod("b", "1")}, []dockertools.Owned{has("b", "1")}, map[string]string{"a": "b"}},
		{"a pod being removed, or of a silent source", []*wantedPod{pod("a", "1")}, []dockertools.Owned{has("gone", "1")}, map[string]string{"a": "gone"}},
		{"both have containers", []*wantedPod{pod("a", "1"), pod("b", "1")}, []dockertools.Owned{has("b", "1"), has("a", "1")}, map[string]string{"b": "a"}},
		{"two swap theirs", []*wantedPod{pod("a", "1"), pod("b", "2")}, []dockertools.Owned{has("a", "2"), has("b", "1")}, nil},
		{"three", []*wantedPod{pod("a", "1"), pod("b", "1"), pod("c", "1")}, []dockertools.Owned{has("b", "1")}, map[string]string{"a": "b", "c": "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkBlocked(t, sharedUIDs(tt.pods, tt.list), tt.wantBlocked)
		})
	}
}

package plan_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// TestAdmit: each case has the desired pods as "name uid ports…", the containers as "name uid state ports…" or "name
// uid busy ports…" for those that a busy worker is creating, and the pods that must wait, each with the pod for which
// it waits. A port is [address:]number[/protocol]. A pod with the word "host" is in the host's network.
func TestAdmit(t *testing.T) {
	tests := []struct {
		name     string
		pods     []string // a "!" before the name: it has finished; a "~": it was evicted
		observed []string
		want     map[string]string
	}{
		{"different ports", []string{"a 1 80", "b 2 81"}, nil, nil},
		{"the first by name", []string{"a 1 80", "b 2 80"}, nil, map[string]string{"b": "a"}},
		{"the owner before the first by name", []string{"a 1 80", "b 2 80"}, []string{"b 2 running 80"}, map[string]string{"a": "b"}},
		{"a dead owner has no port", []string{"a 1 80", "b 2 80"}, []string{"b 2 exited 80"}, map[string]string{"b": "a"}},
		{"an owner that is being removed", []string{"a 1 80"}, []string{"gone 9 running 80"}, map[string]string{"a": "gone"}},
		{"an owner that now wants another port", []string{"a 1 80", "b 2 81"}, []string{"a 1 running 81", "b 2 running 80"}, nil},
		{"a pod that waits gets none of its ports", []string{"a 1 80", "b 2 80 90", "c 3 90"}, nil, map[string]string{"b": "a"}},
		{"a finished pod needs no port", []string{"!a 1 80", "b 2 80"}, nil, nil},
		{"an evicted pod keeps its port", []string{"a 1 80", "~b 2 80"}, nil, map[string]string{"a": "b"}},
		{"… unless another one runs with it", []string{"a 1 80", "~b 2 80"}, []string{"a 1 running 80"}, map[string]string{"b": "a"}},
		{"another protocol", []string{"a 1 53", "b 2 53/udp"}, nil, nil},
		{"another address", []string{"a 1 127.0.0.1:80", "b 2 127.0.0.2:80"}, nil, nil},
		{"no address is every address", []string{"a 1 127.0.0.1:80", "b 2 80"}, nil, map[string]string{"b": "a"}},
		{"0.0.0.0 is every address", []string{"b 2 127.0.0.1:80"}, []string{"a 1 running 0.0.0.0:80"}, map[string]string{"b": "a"}},
		{"an address in another form", []string{"a 1 ::1:80", "b 2 0:0::1:80"}, nil, map[string]string{"b": "a"}},
		{"in the host's network", []string{"a 1 80", "b 2 host 80"}, []string{"b 2 running"}, map[string]string{"a": "b"}},
		{"the owner is being started", []string{"a 1 80", "b 2 80"}, []string{"b 2 busy 80"}, map[string]string{"a": "b"}},
		{"an edited owner is being started", []string{"a 1 80", "b 2 81"}, []string{"b 2 busy 80"}, map[string]string{"a": "b"}},
		{"its own port", []string{"a 1 80"}, []string{"a 1 running 80"}, nil},

		{"different UIDs", []string{"a 1", "b 2"}, []string{"a 1 exited", "b 2 exited"}, nil},
		{"one UID: the first by name", []string{"a 1", "b 1"}, nil, map[string]string{"b": "a"}},
		{"one UID: the pod with containers, dead ones too", []string{"a 1", "b 1"}, []string{"b 1 exited"}, map[string]string{"a": "b"}},
		{"one UID: a pod that is being removed", []string{"a 1"}, []string{"gone 1 exited"}, map[string]string{"a": "gone"}},
		{"one UID: both have containers", []string{"a 1", "b 1"}, []string{"b 1 exited", "a 1 exited"}, map[string]string{"b": "a"}},
		{"one UID: the pod that is being started", []string{"a 1", "b 1"}, []string{"b 1 busy"}, map[string]string{"a": "b"}},
		{"one UID: an unwanted pod that is being started", []string{"a 1"}, []string{"gone 1 busy"}, map[string]string{"a": "gone"}},
		{"two pods swap their UIDs", []string{"a 1", "b 2"}, []string{"a 2 exited", "b 1 exited"}, nil},
		{"three pods with one UID", []string{"a 1", "b 1", "c 1"}, []string{"b 1 exited"}, map[string]string{"a": "b", "c": "b"}},
		{"a finished pod keeps its UID", []string{"!a 1", "b 1"}, nil, map[string]string{"b": "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pods, finished, evicted := map[string]*plan.Pod{}, map[*plan.Pod]bool{}, map[*plan.Pod]bool{}
			for _, line := range tt.pods {
				words := strings.Fields(line)
				name, isFinished := strings.CutPrefix(words[0], "!")
				name, isEvicted := strings.CutPrefix(name, "~")
				pod := &plan.Pod{Pod: api.Pod{Name: name, Namespace: "default", Source: "test", UID: words[1]}}
				if words = words[2:]; slices.Contains(words, "host") {
					words, pod.Complete.HostNetwork = words[1:], true
				}
				for _, port := range words {
					pod.Ports = append(pod.Ports, parsePort(port))
				}
				pods[pod.FullName()], finished[pod], evicted[pod] = pod, isFinished, isEvicted
			}
			var list []dockertools.Listed
			var busy []*plan.Pod
			for _, line := range tt.observed {
				words := strings.Fields(line)
				var c dockertools.Listed
				c.Of = dockertools.NameParts{Name: "net", PodFullName: words[0] + ".default.test", UID: words[1]}
				c.ListState = dockertools.State(words[2])
				for _, port := range words[3:] {
					c.Ports = append(c.Ports, parsePort(port))
				}
				if c.ListState == "busy" {
					busy = append(busy, &plan.Pod{Pod: api.Pod{Name: words[0], Namespace: "default", Source: "test", UID: c.Of.UID}, Ports: c.Ports})
					continue
				}
				list = append(list, c)
			}
			waiting := plan.Admit(pods, func(pod *plan.Pod) bool { return finished[pod] }, func(pod *plan.Pod) bool { return evicted[pod] }, busy, list)
			for pod, owner := range tt.want {
				problem := waiting[pod+".default.test"]
				if !strings.Contains(problem.Message, "pod "+owner+".") || problem.Reason == "" {
					t.Errorf("pod %s: %+v, want it to wait for pod %s", pod, problem, owner)
				}
			}
			if len(waiting) != len(tt.want) {
				t.Errorf("waiting: %v, want %v", waiting, tt.want)
			}
		})
	}
}

func parsePort(text string) api.Port {
	var port api.Port
	if i := strings.LastIndex(text, ":"); i >= 0 {
		port.HostIP, text = text[:i], text[i+1:]
	}
	number, protocol, _ := strings.Cut(text, "/")
	port.Protocol = api.Protocol(strings.ToUpper(cmp.Or(protocol, "tcp")))
	port.HostPort, _ = strconv.Atoi(number)
	return port
}

// A pod that mounts a part of a claim waits while another one of its namespace can write above it.
func TestAdmitPartsOfClaims(t *testing.T) {
	pod := func(name, namespace, claim, subPath string, readOnly bool) *plan.Pod {
		p := &plan.Pod{Pod: api.Pod{Name: name, Namespace: namespace, Source: "test", UID: name}}
		p.Complete.Volumes = []api.Volume{{Name: "v", Source: &api.VolumeSource{Claim: &api.Claim{Name: claim}}}}
		p.Complete.Containers = []api.Container{{Name: "main", VolumeMounts: []api.VolumeMount{{Name: "v", SubPath: subPath, ReadOnly: readOnly}}}}
		return p
	}
	for name, tt := range map[string]struct {
		other *plan.Pod
		waits bool
	}{
		"all of it":            {pod("a", "default", "data", "", false), true},
		"a directory above":    {pod("a", "default", "data", "db", false), true},
		"read only":            {pod("a", "default", "data", "", true), false},
		"the same part":        {pod("a", "default", "data", "db/main", false), false},
		"a part beside":        {pod("a", "default", "data", "db/other", false), false},
		"another claim":        {pod("a", "default", "logs", "", false), false},
		"of another namespace": {pod("a", "shop", "data", "", false), false},
	} {
		part := pod("b", "default", "data", "db/main", false)
		pods := map[string]*plan.Pod{tt.other.FullName(): tt.other, part.FullName(): part}
		no := func(*plan.Pod) bool { return false }
		waiting := plan.Admit(pods, no, no, nil, nil)
		problem, waits := waiting[part.FullName()]
		if waits != tt.waits || len(waiting) > 1 || waits && (problem.Reason != api.ReasonClaimShared || !strings.Contains(problem.Message, "pod "+tt.other.FullName())) {
			t.Errorf("%s: %v", name, waiting)
		}
	}
}

package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// TestCrashAfterEveryDockerCall lets the kubelet die after its first Docker call that changes something, after its
// second, and so on, until it reaches the end. The next kubelet must arrive at exactly the right containers, and must
// never replace a healthy one of an unchanged pod, even if the first one died while it undid an edit.
func TestCrashAfterEveryDockerCall(t *testing.T) {
	bystander := pod("bystander", "main")
	web := pod("web", "server", "side")
	init := func(one string) []api.Pod { return []api.Pod{withInit(pod("web", "app", "app2"), "one:"+one, "two")} }
	scenarios := []struct {
		name          string
		before, after []api.Pod
		want          []string
		between       []api.Pod // what an earlier kubelet wanted, to the end
	}{
		{"start", nil, []api.Pod{publish(web, 80)}, []string{"web/net", "web/server", "web/side"}, nil},
		{"edit of one container", []api.Pod{pod("web", "server:1", "side")}, []api.Pod{pod("web", "server:2", "side")},
			[]string{"web/net", "web/server:2", "web/side"}, nil},
		{"edit of a port", []api.Pod{publish(web, 80)}, []api.Pod{publish(web, 81)}, []string{"web/net", "web/server", "web/side"}, nil},
		{"a container comes and one goes", []api.Pod{web}, []api.Pod{pod("web", "server", "other")},
			[]string{"web/net", "web/other", "web/server"}, nil},
		{"removal", []api.Pod{web}, nil, nil, nil},
		{"a new uuid", []api.Pod{withUID(publish(pod("web", "server"), 80), "one")}, []api.Pod{withUID(publish(pod("web", "server"), 80), "two")},
			[]string{"web/net", "web/server"}, nil},
		{"init containers", nil, init("1"), []string{"web/app", "web/app2", "web/net"}, nil},
		{"edit of an init container", init("1"), init("2"), []string{"web/app", "web/app2", "web/net"}, nil},
		{"edit of an init container, undone", init("1"), init("1"), []string{"web/app", "web/app2", "web/net"}, init("2")},
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			eachDeath(t, func(w *world, mortal func(func())) {
				w.inTurn(false)
				k := w.run(append(s.before, bystander)...)
				healthy := w.id("bystander", "main")
				k.end()
				if s.between != nil {
					w.run(append(s.between, bystander)...).end()
				}
				mortal(func() { w.run(append(s.after, bystander)...).end() })
				w.run(append(s.after, bystander)...)
				w.check("after its death", append([]string{"bystander/main", "bystander/net"}, s.want...)...)
				w.checkID("bystander", "main", healthy, true)
				w.checkVolumes(append(s.after, bystander)...)
			})
		})
	}
}

// If an answer is lost or a call fails, the same kubelet goes on and must arrive at the same containers.
func TestEveryDockerCallFailsOnce(t *testing.T) {
	for _, carriedOut := range []bool{false, true} {
		t.Run(fmt.Sprintf("carried out %v", carriedOut), func(t *testing.T) {
			for n, failed := 1, true; failed; n++ {
				inWorld(t, func(w *world) {
					failed = false
					w.docker.SetFault(failNth(n, carriedOut, &failed))
					k := w.run(publish(pod("web", "server:1", "side"), 80), pod("gone", "main"))
					k.set(publish(pod("web", "server:2", "side"), 80))
					w.settle(fmt.Sprintf("call %d failed", n), "web/net", "web/server:2", "web/side")
					w.inTurn(false)
					k.set(withInit(pod("web", "app"), "one", "two"))
					w.settle(fmt.Sprintf("call %d failed", n), "web/app", "web/net")
					k.set(withInit(pod("web", "app:1"), "one:1", "two"))
					w.settle(fmt.Sprintf("call %d failed", n), "web/app:1", "web/net")
					w.docker.SetFault(nil)
				})
			}
		})
	}
}

// failNth makes the n-th call that changes something fail.
func failNth(n int, carriedOut bool, failed *bool) func(dockertest.Call) dockertest.Fault {
	changes := []string{"CreateContainer", "StartContainer", "StopContainer", "RemoveContainer", "ImportImage"}
	var seen atomic.Int32
	return func(c dockertest.Call) dockertest.Fault {
		if !slices.Contains(changes, c.Method) || int(seen.Add(1)) != n {
			return dockertest.Fault{}
		}
		*failed = true
		if carriedOut {
			return dockertest.Fault{After: errors.New("the answer was lost")}
		}
		return dockertest.Fault{Before: errors.New("Docker has a bad moment")}
	}
}

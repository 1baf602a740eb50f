package main

import (
	"testing"

	"kubelet14/api"
)

func TestWhichPodsAreUp(t *testing.T) {
	running := api.ContainerState{Running: &api.ContainerStateRunning{}}
	waiting := api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonPulling}}
	done := api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonCompleted}}
	failed := api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonError, ExitCode: 1}}
	for _, test := range []struct {
		name   string
		phase  api.PodPhase
		reason string
		states []api.ContainerState
		want   bool
	}{
		{"all run", api.PodRunning, "", []api.ContainerState{running, running}, true},
		{"one runs and one has done its work", api.PodRunning, "", []api.ContainerState{running, done}, true},
		{"one has failed for good", api.PodRunning, "", []api.ContainerState{running, failed}, false},
		{"one waits", api.PodRunning, "", []api.ContainerState{running, waiting}, false},
		{"none has run", api.PodPending, "", []api.ContainerState{waiting, running}, false},
		{"all have done their work", api.PodSucceeded, "", []api.ContainerState{done, done}, true},
		{"it has failed", api.PodFailed, "", []api.ContainerState{failed, done}, false},
		{"it waits for a port as it was", api.PodRunning, api.ReasonPortTaken, []api.ContainerState{running}, false},
		{"it is not wanted", api.PodRunning, api.ReasonRemoved, []api.ContainerState{waiting}, true},
		{"a network container alone", api.PodRunning, "", []api.ContainerState{running}, true},
	} {
		pod := api.PodStatus{Phase: test.phase, Reason: test.reason}
		for _, state := range test.states {
			pod.Containers = append(pod.Containers, api.ContainerStatus{State: state})
		}
		if got := isUp(&pod); got != test.want {
			t.Errorf("%s: up is %v", test.name, got)
		}
	}
}

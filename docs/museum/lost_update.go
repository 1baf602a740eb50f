package main

import (
	"strings"
	"sync"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// lostUpdate is about the worker that PR #588 gave each pod. Run did nothing while it was busy, so an
// edit that came then waited for the next tick, up to ten seconds. Since PR #5239, of March 2015, the
// worker keeps the last edit for later. Today the end of its work makes the sync loop compare the pod
// again. Read kubelet/pod_workers.go.
func lostUpdate(s *stage) {
	var workers podWorkers2014
	starting, goOn := make(chan struct{}, 2), make(chan struct{})
	s.today.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
		if c.Method == "StartContainer" && strings.HasPrefix(c.Container, "k8s_main.") {
			starting <- struct{}{}
			<-goOn
		}
		return dockertest.Fault{}
	})
	set := func(web api.Pod) {
		if !workers.Run(web.FullName(), func() { <-goOn; s.then.syncPod(web) }) {
			s.then.notes = []string{"its worker is busy: nothing is done"}
		}
		s.today.pods.Merge(s.today.ctx, "file", api.PodUpdate{Op: api.SET, Pods: []api.Pod{web}})
	}
	s.step("Pod web arrives, with image shop:1. Its start takes long.", func() { set(pod("web", "shop:1")); <-starting })
	s.step("Meanwhile it is edited: image shop:2.", func() { set(pod("web", "shop:2")) })
	s.step("The start ends.", func() { close(goOn); workers.wg.Wait(); s.today.finish() })
}

// podWorkers2014 runs one action at a time for each pod.
type podWorkers2014 struct {
	busy sync.Map // its keys are full names
	wg   sync.WaitGroup
}

// Run reports whether it has started the action.
func (p *podWorkers2014) Run(podFullName string, action func()) bool {
	if _, busy := p.busy.LoadOrStore(podFullName, true); busy {
		return false
	}
	p.wg.Go(func() { action(); p.busy.Delete(podFullName) })
	return true
}

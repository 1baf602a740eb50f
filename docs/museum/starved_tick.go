package main

import (
	"time"

	"kubelet14/api"
)

// starvedTick is about the timer of the sync loop. Each turn made a new one, so updates that came more
// often than the tick postponed it for ever; and an UPDATE was only logged. PR #16340 took a ticker, in
// October 2015. Today there is one too, and each update and each event of Docker leads to a sync of all
// pods. Read kubelet/sync_loop.go.
func starvedTick(s *stage) {
	var pods []api.Pod // that 2014 desires
	db, web := pod("db", "shop:1"), pod("web", "shop:1")
	s.step("Pods db and web arrive.", func() {
		pods = s.then.turn(pods, 0, api.PodUpdate{Op: api.SET, Pods: []api.Pod{db, web}})
		s.today.set("file", db, web)
	})
	s.step("The container of web dies.", func() { s.then.kill("web"); s.today.kill("web"); s.today.settle() })
	for _, image := range []string{"shop:2", "shop:3", "shop:4"} {
		db := pod("db", image)
		s.step("Nine seconds later db is edited: image "+image+".", func() {
			pods = s.then.turn(pods, 9*time.Second, api.PodUpdate{Op: api.UPDATE, Pods: []api.Pod{db}})
			s.today.set("file", db, web)
		})
	}
}

// turn is the loop of 2014 until the next update, which comes after some time. The loop is a select of
// <-updates and <-time.After(10 * time.Second), the tick. turn returns the pods that are desired then.
func (kl *kubelet2014) turn(pods []api.Pod, after time.Duration, u api.PodUpdate) []api.Pod {
	for ; after >= 10*time.Second; after -= 10 * time.Second {
		kl.SyncPods(pods)
	}
	if u.Op == api.UPDATE {
		kl.notes = []string{"an UPDATE is not handled; a new timer"}
		return pods
	}
	kl.SyncPods(u.Pods)
	return u.Pods
}

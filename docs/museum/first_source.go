package main

import "kubelet14/api"

// firstSource is about a kubelet that has just started. The pods of the first source that answered were
// sent as a SET of all pods, so those of slower sources were stopped until their source answered too.
// PR #2994 waited for all sources, in December 2014. Today each update names the sources that are not
// ready, and nothing of theirs is removed. Read podStorage.unsynced in config/pod_storage.go.
func firstSource(s *stage) {
	var answered []api.Pod // 2014: the pods of the sources that have answered
	answer := func(source string, pod api.Pod) {
		answered = append(answered, pod)
		s.then.SyncPods(answered)
		s.today.set(source, pod)
	}
	web, db := pod("web", "shop:1"), pod("db", "shop:1")
	s.step("The directory has pod web, and the URL has pod db.", func() { answer("file", web); answer("http", db) })
	s.step("The kubelet restarts. It has read the directory, and the URL is slow.", func() {
		answered = nil
		s.today.end()
		s.today.start()
		answer("file", web)
	})
	s.step("The URL answers.", func() { answer("http", db) })
}

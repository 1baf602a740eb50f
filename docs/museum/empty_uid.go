package main

import "kubelet14/api"

// emptyUID is about pods without a uuid. An UPDATE was matched by UID alone, so an edited pod took the
// place of all others without one; and no container was stopped whose UID any pod had. PR #3209
// proposed a UID for every pod, in January 2015, and v0.9 demanded it. Today the source makes one of the
// names (api.NewUID), and updates go by full name. Read kubelet/desired.go.
func emptyUID(s *stage) {
	db, web, edited := pod("db", "shop:1"), pod("web", "shop:1"), pod("web", "shop:2")
	without := func(p api.Pod) api.Pod { p.UID = ""; return p }
	pods := []api.Pod{without(db), without(web)} // of 2014
	s.step("Pods db and web arrive, without a uuid.", func() { s.then.SyncPods(pods); s.today.set("file", db, web) })
	s.step("Web is edited: image shop:2.", func() {
		for i := range pods {
			if update := without(edited); update.UID == pods[i].UID {
				pods[i] = update
			}
		}
		s.then.notes = []string{"the pods are: " + pods[0].Name + ", " + pods[1].Name}
		s.then.SyncPods(pods)
		s.today.set("file", db, edited)
	})
	s.step("The container of db dies.", func() {
		s.then.kill("db")
		s.then.SyncPods(pods)
		s.today.kill("db")
		s.today.settle()
	})
	s.step("Web is removed.", func() { s.then.SyncPods([]api.Pod{without(db)}); s.today.set("file", db) })
}

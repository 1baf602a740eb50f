package main

import (
	"fmt"
	"hash/crc32"

	"kubelet14/api"
)

// pointerHash is about the hash in the name of a container (PR #827), which shows an edit. It was made
// of Go's print of the struct, where a probe is an address. Each SET is a copy, with its probes
// elsewhere: when any pod came or went, all others with a probe were restarted (issue #3041). PR #3229
// followed the pointers, in January 2015. Today the hash is made of JSON. Read appHash in
// kubelet/plan/pod.go.
func pointerHash(s *stage) {
	web, db := pod("web", "shop:1"), pod("db", "shop:1")
	web.Manifest.Containers[0].LivenessProbe = &api.Probe{Exec: &api.ExecAction{Command: []string{"check"}}}
	copied := func(p api.Pod) api.Pod { p.Manifest = p.Manifest.Clone(); return p }
	sets := [][]api.Pod{{copied(web)}, {copied(web), db}, {copied(web), db}} // made together, so that no address comes twice
	for i, input := range []string{"Pod web arrives. It has a liveness probe.", "Pod db arrives.", "The kubelet restarts, and reads both again."} {
		s.step(input, func() {
			if i == 2 {
				s.today.end()
				s.today.start()
			}
			s.then.SyncPods(sets[i])
			s.today.set("file", sets[i]...)
		})
	}
}

// hash2014 sums Go's print of a container. 2014 took Adler-32, which is equal for some addresses.
func hash2014(c api.Container) uint32 { return crc32.ChecksumIEEE(fmt.Appendf(nil, "%#v", c)) }

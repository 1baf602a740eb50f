// Package hosttest gives tests a host of their own, on which they run the whole program; only tests import it.
//
//	func TestMain(m *testing.M) { hosttest.Main(m) }
//
//	h := hosttest.New(t)              // a hostname, a root_dir and a directory of manifests
//	h.Write("web", hosttest.Sleeper("web"))
//	p := h.Start("-sync_frequency=1s") // the kubelet, built from this source
//	h.AwaitUp("web")                   // on Docker, read without the kubelet's code
//	p.AwaitShows("web", "running")     // in /pods of its info server
//	h.Mend("web")                      // kill a container; the kubelet replaces it
//	p.Kill()
//
// Hosts share the machine's Docker, so tests run beside each other and beside any kubelet of the machine. A host is
// removed when its test ends, with -cleanup. What a killed test leaves in Docker, the first run after two hours removes.
//
//   - build.go builds the program and removes what killed tests left.
//   - host.go makes a host, writes its manifests and runs the program to its end.
//   - manifests.go has the pods that most tests need.
//   - process.go runs a kubelet, reads its log and ends it.
//   - containers.go reads Docker's list of the host's containers, and breaks them.
//   - pods.go asks the servers that run in pods.
//   - status.go asks the info server of a kubelet.
//   - volumes.go looks at files in the root_dir.
//   - web.go serves manifests as the source http reads them.
//   - dockerd.go runs a second Docker, which a test may end and start again.
//   - terminal.go opens a terminal.
package hosttest

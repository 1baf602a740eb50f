// Package chaos runs the whole program among random faults, and checks all the time that it loses nothing and runs
// nothing twice:
//
//	make chaos MINUTES=10 SEED=7
//
// It has a Docker daemon of its own, forty pods of all kinds, and one kubelet, which talks to Docker through a proxy.
//
//	seed ─▶ script ─▶ operations ─▶ world ──┬─▶ manifests, a web server ─▶ kubelet ─▶ proxy ─▶ dockerd ─▶ containers
//	                                        ├─▶ the kubelet itself: signals, a second one           │          │
//	                                        ├─▶ the proxy: answers lost, late, cut, errors          │ events   │ journal
//	                                        ├─▶ dockerd and its containers, as a person does        ▼          ▼
//	                                        └─▶ what each operation allows ──────────────────────▶ witness ─▶ table
//
// A run is a series of rounds. A round is some operations on manifests and some faults of one theme, and ends with a
// calm: every fault is undone, and the state must become what the manifests say.
//
//   - script_test.go makes rounds. It is pure: the same seed gives the same operations, whatever happens meanwhile.
//   - pods_test.go has the pods: which kinds there are, and their manifests.
//   - world_test.go starts everything. operations_test.go carries operations out.
//   - proxy_test.go is what the kubelet takes for Docker.
//   - witness_test.go listens to Docker's events and to what the containers write themselves.
//   - calm_test.go compares Docker, the volumes and the journal with the manifests.
//   - table_test.go counts, and says what was violated with the last events.
//   - testdata/tenant is the program in the containers.
//
// # What is checked
//
//   - Doubles. Each container locks a file of its pod and name; the kernel frees it when its last process is gone. One that
//     finds it locked says so in the journal. The lock is no part of the kubelet or of Docker, and misses no moment.
//   - Needless restarts. Each operation allows the starts that it justifies: an edit one start of the edited container, the
//     death of a network container one start of each container of its pod, the end of dockerd one of all. A fault of the
//     kubelet, of an answer, of a source or of a disk allows none. A start that nothing allows is a violation.
//   - Losses. A container counts its starts in its volume. A count that begins anew, without a removal of the pod, is one.
//   - Strangers. Containers, networks, volumes and files that are not the kubelet's are as they were.
//   - Orphans. After a calm nothing is there that the manifests do not ask for.
//   - Time to whole. A calm waits as long as it takes and measures. It is too long for make chaos if it exceeds 30 s and twice the
//     time that as many bare starts take on this machine at this moment. As a test (.ci/run) no time is judged.
//
// # The test of the tester
//
// The build tag is chaos. TestIntegrationLongBrokenKubelets builds the program with a line or two changed, by the flag
// -overlay of go build, and expects a violation within two minutes. So nothing in the program is there for this test.
//
// Left out: a clock that is set back, since a time namespace shifts only the clocks that count from boot, and everybody on
// the machine shares the other one; etcd; and HTTP probes, since the daemon has a network of its own.
package chaos

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
//   - build_test.go builds the kubelet, with a clock of its own.
//   - world_test.go starts everything. operations_test.go carries operations out.
//   - proxy_test.go is what the kubelet takes for Docker.
//   - witness_test.go listens to Docker's events and to what the containers write themselves.
//   - calm_test.go compares Docker, the volumes and the journal with the manifests.
//   - table_test.go counts, and says what was violated with the last events.
//   - testdata/tenant is the program in the containers.
//
// docs/chaos.md says what is checked, and what is left out. The build tag is chaos.
package chaos

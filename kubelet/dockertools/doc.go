// Package dockertools is the vocabulary of Docker in the kubelet: what it asks of
// Docker, and what the names and labels of its containers mean.
//
//	kubelet, kubelet/plan ─▶ dockertools.Interface ◀─ client.Client ─▶ dockerd
//	                                               ◀─ dockertest.Fake (in memory, for tests)
//
// Docker is the kubelet's only memory:
//
//   - A container belongs to a kubelet when its labels have the kubelet's hostname and
//     root_dir, and its own name. No other container is ever touched.
//   - A name is built from the desired state and the number of the attempt, so Docker's
//     unique names are the lock against doubles.
//   - An event is a hint to look again: it may be lost, or come before Docker's list
//     shows the change.
package dockertools

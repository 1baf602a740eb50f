// Package dockertools defines what the kubelet asks of Docker, and what the names and labels of its containers mean.
//
//	kubelet, kubelet/plan ─▶ dockertools.Interface ◀─ client.Client ─▶ dockerd
//	                                               ◀─ dockertest.Fake (in memory, for tests)
//
// Docker is the kubelet's only memory:
//
//   - A container belongs to a kubelet if its labels have the kubelet's hostname and
//     root_dir, and its own name. No other container is ever touched.
//   - A name is built from the desired state and the number of the attempt, so Docker's
//     unique names are the lock against duplicates.
//   - An event is a hint to look again: it may be lost, or arrive before Docker's list
//     shows the change.
package dockertools

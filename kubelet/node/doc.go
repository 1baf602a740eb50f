// Package node looks at the machine: what it is, and how much of its memory, disks and process numbers is left. Upstream
// has it in kubelet_node_status.go, in pkg/kubelet/stats and in cAdvisor.
package node

package eviction

import (
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// MayEvict reports whether a pod runs, is desired and is not critical.
func MayEvict(p *status.Pod) bool {
	return p.Desired != nil && p.IsLive() && !IsCritical(p.Desired)
}

// IsCritical reports whether a pod has one of upstream's two priority classes that are never evicted.
func IsCritical(pod *plan.Pod) bool {
	class := pod.Complete.PriorityClassName
	return class == "system-cluster-critical" || class == "system-node-critical"
}

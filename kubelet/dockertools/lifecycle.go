package dockertools

import (
	"encoding/json"

	"kubelet14/api"
)

// LifecycleLabel returns the hooks of a container as the value of LabelLifecycle, with port numbers for port
// names; empty if there are none. From the label a kubelet without the manifest can run a preStop hook.
func LifecycleLabel(c *api.Container) string {
	if c.Lifecycle == nil {
		return ""
	}
	label, _ := json.Marshal(api.Lifecycle{ // strings and numbers always marshal
		PostStart: c.Lifecycle.PostStart.Resolve(c.Ports), PreStop: c.Lifecycle.PreStop.Resolve(c.Ports),
	})
	return string(label)
}

// ParseLifecycle returns the hooks in a label; none if it is empty, or not of a kubelet.
func ParseLifecycle(label string) (hooks api.Lifecycle) {
	_ = json.Unmarshal([]byte(label), &hooks)
	return hooks
}

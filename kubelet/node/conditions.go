package node

import (
	"fmt"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/eviction"
)

// minPIDs is the percentage of the process numbers below which there is a pressure.
const minPIDs = 5

// Condition is one of the four conditions of a node. Its JSON is that of v1.
type Condition struct {
	Type    string    `json:"type"`   // Ready, MemoryPressure, DiskPressure or PIDPressure
	Status  string    `json:"status"` // True, False or Unknown
	Since   time.Time `json:"lastTransitionTime"`
	ReadAt  time.Time `json:"lastHeartbeatTime"`
	Reason  string    `json:"reason"` // upstream's
	Message string    `json:"message"`
}

// Pressure reports whether something runs out.
func (c Condition) Pressure() bool { return c.Type != "Ready" && c.Status == "True" }

// conditions returns what holds now, without the time since when.
func conditions(health error, facts Facts, pressures []eviction.Condition) []Condition {
	ready := Condition{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "the kubelet looks after its pods"}
	if health != nil {
		ready.Status, ready.Reason, ready.Message = "False", "KubeletNotReady", api.OneLine(health.Error())
	}
	if facts.PIDs.Available < facts.PIDs.Total/100*minPIDs {
		pressures = append(pressures, eviction.Condition{Type: "PIDPressure", Met: true, Message: fmt.Sprintf(
			"less than %d %% of %d process numbers are left", minPIDs, facts.PIDs.Total)})
	}
	all := []Condition{ready,
		noPressure("MemoryPressure", "KubeletHasSufficientMemory", facts.Memory),
		noPressure("DiskPressure", "KubeletHasNoDiskPressure", facts.NodeFS),
		noPressure("PIDPressure", "KubeletHasSufficientPID", facts.PIDs)}
	for _, p := range pressures {
		for i := range all {
			if c := &all[i]; p.Met && p.Type == c.Type {
				c.Status, c.Message = "True", p.Message
				c.Reason = map[string]string{"MemoryPressure": "KubeletHasInsufficientMemory", "DiskPressure": "KubeletHasDiskPressure",
					"PIDPressure": "KubeletHasInsufficientPID"}[c.Type]
			}
		}
	}
	return all
}

// noPressure returns a condition that does not hold, or that nobody knows.
func noPressure(name, reason string, amount Amount) Condition {
	if amount.Total == 0 {
		return Condition{Type: name, Status: "Unknown", Reason: "NotRead", Message: "what is left cannot be read; the log says why"}
	}
	return Condition{Type: name, Status: "False", Reason: reason, Message: "enough is left"}
}

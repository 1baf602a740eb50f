package node

import (
	"fmt"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/eviction"
)

// minPIDs is the percentage of free process numbers below which there is a pressure.
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

// Pressure reports whether the host runs short of something.
func (c Condition) Pressure() bool { return c.Type != "Ready" && c.Status == "True" }

// conditions returns the current conditions, without their times.
func conditions(health error, facts Facts, pressures []eviction.Condition) []Condition {
	ready := Condition{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "the kubelet manages its pods"}
	if health != nil {
		ready.Status, ready.Reason, ready.Message = "False", "KubeletNotReady", api.OneLine(health.Error())
	}
	if facts.PIDs.Available < facts.PIDs.Total/100*minPIDs {
		pressures = append(pressures, eviction.Condition{Type: "PIDPressure", Met: true, Message: fmt.Sprintf(
			"less than %d %% of %d process numbers are left", minPIDs, facts.PIDs.Total)})
	}
	all := []Condition{ready}
	for _, row := range []struct {
		name, good, bad string
		amount          Amount
	}{
		{"MemoryPressure", "KubeletHasSufficientMemory", "KubeletHasInsufficientMemory", facts.Memory},
		{"DiskPressure", "KubeletHasNoDiskPressure", "KubeletHasDiskPressure", facts.NodeFS},
		{"PIDPressure", "KubeletHasSufficientPID", "KubeletHasInsufficientPID", facts.PIDs},
	} {
		c := Condition{Type: row.name, Status: "False", Reason: row.good, Message: "enough is left"}
		if row.amount.Total == 0 {
			c.Status, c.Reason, c.Message = "Unknown", "NotRead", "the amount left cannot be read; the log says why"
		}
		for _, p := range pressures {
			if p.Met && p.Type == c.Type {
				c.Status, c.Reason, c.Message = "True", row.bad, p.Message
			}
		}
		all = append(all, c)
	}
	return all
}

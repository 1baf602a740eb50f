package eviction

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestValues(t *testing.T) {
	hard := func() *Values {
		return NewValues("<", map[Signal]string{MemoryAvailable: "100Mi", NodeFsAvailable: "10%"})
	}
	grace := func() *Values { return NewValues("=", map[Signal]string{}) }
	for _, tt := range []struct {
		flag       *Values
		text, want string
	}{
		{hard(), "nodefs.available<1.5Gi", "memory.available<100Mi,nodefs.available<1.5Gi"}, // over the defaults
		{hard(), "memory.available < 5%, imagefs.available<0", "memory.available<5%,nodefs.available<10%,imagefs.available<0"},
		{grace(), "memory.available=1m30s", "memory.available=1m30s"},
		{hard(), "memory.availble<1Gi", `error: unknown signal "memory.availble": the signals are`},
		{hard(), "memory.available=1Gi", `error: "memory.available=1Gi" is not a signal, "<" and a value`},
		{hard(), "memory.available<", `error: "memory.available<": write a number`},
		{hard(), "memory.available<101%", `error: "memory.available<101%": a percentage is from 0% to 100%`},
		{hard(), "", `error: "" is not a signal`},
		{grace(), "memory.available=90", `error: "memory.available=90": time: missing unit`},
	} {
		got := ""
		if err := tt.flag.Set(tt.text); err != nil {
			got = "error: " + err.Error()
		} else {
			got = tt.flag.String()
		}
		if message := strings.HasPrefix(tt.want, "error"); got != tt.want && !(message && strings.HasPrefix(got, tt.want)) {
			t.Errorf("Set(%q): %s, want %s", tt.text, got, tt.want)
		}
	}
	if got := (&Values{}).String(); got != "" { // as package flag calls it
		t.Errorf("the zero value is %q", got)
	}
}

var noon = time.Date(2014, 10, 15, 12, 0, 0, 0, time.UTC)

// newManager returns a Manager that has pressure at 1000 of 10000 bytes of memory, at 2000 for 30 s, and at 10 % of a disk.
func newManager() *Manager {
	return NewManager(Options{
		Hard:             NewValues("<", map[Signal]string{MemoryAvailable: "1000", NodeFsAvailable: "10%", ImageFsAvailable: "10%"}),
		Soft:             NewValues("<", map[Signal]string{MemoryAvailable: "2000"}),
		SoftGracePeriod:  NewValues("=", map[Signal]string{MemoryAvailable: "30s"}),
		TransitionPeriod: 5 * time.Minute, MaxPodGrace: 20,
	})
}

// TestConditions: each case has what is free of the memory at some seconds, and the condition at the last one.
func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		name, readings, want string
	}{
		{"no pressure", "0:1000", "no since 0"},
		{"a hard threshold", "0:5000 10:999 20:998", "met since 10: memory.available is 999B (10.0%), less than 1000"},
		{"a soft threshold", "0:1999 29:1999", "no since 0"},
		{"… for its grace period", "0:1999 30:1998", "met since 30: memory.available is 1.951KiB (20.0%), less than 2000"},
		{"… with a break", "0:1999 20:2000 40:1999 69:1999", "no since 0"},
		{"it ends after the transition period", "0:1 10:5000 300:5000", "no since 300"},
		{"… not before", "0:1 10:5000 299:5000", "met since 0: memory.available is 1B (0.0%), less than 1000"},
		{"flapping", "0:1 100:5000 200:2 300:5000 499:5000", "met since 0: memory.available is 1B (0.0%), less than 1000"},
		{"flapping ends", "0:1 100:5000 200:2 300:5000 500:5000", "no since 500"},
		{"the signal is not known", "0:-", "no since 0"},
	} {
		m := newManager()
		for _, reading := range strings.Fields(tt.readings) {
			var at int
			r := Reading{}
			if amount := (Amount{Total: 10000}); strings.HasSuffix(reading, "-") {
				fmt.Sscanf(reading, "%d:", &at)
			} else if _, err := fmt.Sscanf(reading, "%d:%d", &at, &amount.Available); err == nil {
				r[MemoryAvailable] = amount
			}
			m.Observe(r, noon.Add(time.Duration(at)*time.Second))
		}
		c := m.Conditions()[0]
		got := fmt.Sprintf("no since %.0f", c.Since.Sub(noon).Seconds())
		if c.Met {
			got = fmt.Sprintf("met since %.0f: %s", c.Since.Sub(noon).Seconds(), c.Message)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if disk := m.Conditions()[1]; disk.Met || disk.Type != DiskPressure {
			t.Errorf("%s: the disk is %+v", tt.name, disk)
		}
	}
}

package eviction

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestMain(m *testing.M) { unittest.Main(m) }

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
		{hard(), "nodefs.available<-1", `error: "nodefs.available<-1": it must not be negative`},
		{hard(), "", `error: "" is not a signal`},
		{grace(), "memory.available=-1s", `error: "memory.available=-1s": it must not be negative`},
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

// free is a reading of what is free of 10000 bytes of memory, of the disk of the root_dir and of that of Docker.
func free(memory, disk, images uint64) Reading {
	return Reading{MemoryAvailable: {memory, 10000, 0}, NodeFsAvailable: {disk, 10000, 1}, ImageFsAvailable: {images, 10000, 1}}
}

// rounds gives a Manager readings of a disk, ten seconds apart, and evicts when it wants that. The pods end at once. It
// returns the round and the pod of each eviction.
func (m *Manager) rounds(readings []Reading, pods ...Usage) (evicted []string) {
	for i, r := range readings {
		now := noon.Add(time.Duration(i) * 10 * time.Second)
		m.Observe(r, now)
		m.Release(map[string]bool{"little": true, "most": true, "much": true})
		running := slices.DeleteFunc(slices.Clone(pods), func(u Usage) bool { return m.Verdict(u.Pod).Message != "" })
		if p := m.Wanted(now.Add(-time.Second), false); p != nil && m.Evict(p[0], running) {
			gone := slices.IndexFunc(running, func(u Usage) bool { return m.Verdict(u.Pod).Message != "" })
			evicted = append(evicted, fmt.Sprintf("%d:%s", i, running[gone].Pod))
		}
	}
	return evicted
}

func TestEvictions(t *testing.T) {
	writers := []Usage{{Pod: "little", Used: 1}, {Pod: "most", Used: 100, Priority: 9}, {Pod: "much", Used: 50}}
	disk := func(amounts ...uint64) (readings []Reading) {
		for _, n := range amounts {
			readings = append(readings, free(5000, n, n))
		}
		return readings
	}
	for _, tt := range []struct {
		name     string
		readings []Reading
		want     string
	}{
		{"no pressure", disk(1000, 1000), ""},
		{"a disk has a round to reclaim", disk(999, 1000, 1000), ""},
		{"then the largest writer is evicted", disk(999, 999), "1:most"},
		{"no other one while free space is flat", disk(999, 999, 998, 998, 990, 995, 989), "1:most"},
		{"one more each time it has fallen", disk(999, 999, 900, 880, 880, 870, 869), "1:most 3:much 5:little"},
		{"a full disk", disk(0, 0, 0, 0, 0), "1:most"},
		{"it falls after a break", disk(999, 999, 999, 2000, 900), "1:most 4:much"},
		{"of memory one each round", []Reading{free(999, 5000, 5000), free(999, 5000, 5000), free(999, 5000, 5000)}, "0:much 1:little 2:most"},
	} {
		if got := strings.Join(newManager().rounds(tt.readings, writers...), " "); got != tt.want {
			t.Errorf("%s: evicted %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOrder tests the order in which pods are evicted.
func TestOrder(t *testing.T) {
	pods := []Usage{ // name, priority, use, request
		{"unknown", -5, -1, 0, true}, {"within", -9, 100, 100, false}, {"vital", 9, 900, 0, true}, {"over", 0, 500, 450, false},
		{"far-over", 0, 300, 0, false}, {"also", 0, 50, 0, false}, {"as-much", 0, 50, 0, false},
	}
	for signal, want := range map[Signal]string{
		MemoryAvailable:  "far-over also as-much over vital within unknown",
		NodeFsAvailable:  "vital far-over also as-much over within unknown",
		ImageFsAvailable: "vital far-over also as-much over within unknown",
	} {
		slices.SortFunc(pods, (&Pressure{Signal: signal}).order)
		var got []string
		for _, u := range pods {
			got = append(got, u.Pod)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", signal, got, want)
		}
	}
}

// A pod that is evicted repeatedly comes back later each time, and soon again after a long time without an eviction.
func TestTheWayBack(t *testing.T) {
	m, now := newManager(), noon
	round := func(memory uint64) bool {
		now = now.Add(10 * time.Second)
		m.Observe(free(memory, 5000, 5000), now)
		return m.Release(map[string]bool{"web": true})
	}
	wait := func() (d time.Duration) { // until the pod comes back
		round(1)
		m.Evict(m.Wanted(now, false)[0], []Usage{{Pod: "web", Used: 1}})
		const why = "memory.available is 1B (0.0%), less than 1000; this pod uses 1B; it starts when the host has had no pressure for "
		if v := m.Verdict("web"); v.Grace != 1 || !strings.HasPrefix(v.Message, why) {
			t.Errorf("the verdict is %+v", v)
		}
		began := now
		for !round(5000) {
			if why := m.Hold("web", 0, now); why.Reason != api.ReasonEvicted || !why.RetryAt.After(now) {
				t.Fatalf("after %v it is held by %+v", now.Sub(began), why)
			}
			if why := m.Hold("web", 0, now.Add(24*time.Hour)); !why.RetryAt.IsZero() {
				t.Fatalf("the next start is in the past: %+v", why)
			}
		}
		if why := m.Hold("web", 0, now); why.Message != "" || m.Verdict("web").Message != "" {
			t.Errorf("after %v it is held by %+v", now.Sub(began), why)
		}
		return now.Sub(began)
	}
	for _, want := range []time.Duration{5, 10, 20, 40, 60, 60} {
		if got := wait(); got != want*time.Minute {
			t.Errorf("it comes back after %v, want %v", got, want*time.Minute)
		}
	}
	now = now.Add(2 * time.Hour)
	if got := wait(); got != 5*time.Minute {
		t.Errorf("after a long time without an eviction it comes back after %v, want 5m", got)
	}
	round(1)
	m.Evict(m.Wanted(now, false)[0], []Usage{{Pod: "web"}})
	if m.Release(nil); m.Verdict("web").Message != "" {
		t.Error("a pod that is no longer desired is not forgotten")
	}
}

// Without a transition period the kubelet must not start and evict a pod for ever.
func TestWithoutATransitionPeriodTheWayBackGetsLonger(t *testing.T) {
	m, now, evictions := newManager(), noon, 0
	m.opts.TransitionPeriod = 0
	for range 360 {
		now = now.Add(10 * time.Second)
		available := uint64(1)
		if m.Verdict("web").Message != "" {
			available = 5000
		}
		m.Observe(free(available, 5000, 5000), now)
		m.Release(map[string]bool{"web": true})
		for _, p := range m.Wanted(now, false) {
			m.Evict(p, []Usage{{Pod: "web", Used: 1}})
			evictions++
		}
	}
	if evictions > 12 {
		t.Errorf("in an hour it was evicted %d times", evictions)
	}
}

// A pod is released by the reading that ends the condition, however late that is noticed. Before that it would only be
// held again.
func TestAReleasedPodStarts(t *testing.T) {
	m := newManager()
	m.Observe(free(1, 5000, 5000), noon)
	for at := noon.Add(5*time.Minute - time.Millisecond); m.Hold("web", 0, at.Add(time.Second)).Message != ""; at = at.Add(10 * time.Second) {
		m.Observe(free(5000, 5000, 5000), at)
		if m.Release(map[string]bool{"web": true}) && m.Hold("web", 0, at).Message != "" {
			t.Fatal("it is released, and then held again")
		}
	}
}

// Images are removed, and what containers have written counts, only if that frees space on the full disk.
func TestTwoDisks(t *testing.T) {
	const here, there = 1, 2
	for _, tt := range []struct {
		name           string
		disk, images   Amount
		wants, oneDisk string // the signals that are pressures, and of these those of the one disk
		imagesGo       bool
	}{
		{"enough", Amount{5000, 10000, here}, Amount{5000, 10000, there}, "", "", false},
		{"that of the root_dir", Amount{1, 10000, here}, Amount{9000, 10000, there}, "nodefs.available", "", false},
		{"that of the images", Amount{9000, 10000, here}, Amount{1, 10000, there}, "imagefs.available", "", true},
		{"one disk", Amount{1, 10000, here}, Amount{1, 10000, here}, "nodefs.available imagefs.available", "nodefs.available imagefs.available", true},
		{"Docker's is not known", Amount{1, 10000, here}, Amount{}, "nodefs.available", "nodefs.available", false},
	} {
		m := newManager()
		r := Reading{MemoryAvailable: {1, 10000, 0}, NodeFsAvailable: tt.disk, ImageFsAvailable: tt.images}
		maps.DeleteFunc(r, func(_ Signal, a Amount) bool { return a.Total == 0 })
		m.Observe(r, noon)
		var got, oneDisk []string
		for _, p := range m.pressures[1:] { // the first is of memory
			got = append(got, string(p.Signal))
			if p.OneDisk {
				oneDisk = append(oneDisk, string(p.Signal))
			}
		}
		if g, o := strings.Join(got, " "), strings.Join(oneDisk, " "); g != tt.wants || o != tt.oneDisk || m.ImagePressure() != tt.imagesGo {
			t.Errorf("%s: pressures %q, of one disk %q, images go: %v", tt.name, g, o, m.ImagePressure())
		}
	}
}

func TestASoftEvictionLeavesTimeToEnd(t *testing.T) {
	m := newManager()
	m.Observe(free(1500, 5000, 5000), noon)
	if p := m.Wanted(noon, false); p != nil {
		t.Errorf("before the grace period %+v is wanted", p)
	}
	m.Observe(free(1500, 5000, 5000), noon.Add(30*time.Second))
	if p := m.Wanted(noon.Add(time.Hour), false); p == nil {
		t.Errorf("nothing was evicted, and a later look at the pods delays the eviction")
	}
	if p := m.Wanted(noon, true); p != nil {
		t.Errorf("while another pod ends %+v is wanted", p)
	}
	m.Evict(m.Wanted(noon, false)[0], []Usage{{Pod: "web", Used: -1}})
	if v := m.Verdict("web"); v.Grace != 20 || !strings.Contains(v.Message, "less than 2000; this pod uses an unknown amount") {
		t.Errorf("the verdict is %+v", v)
	}
	m.opts.MaxPodGrace = 0
	m.Evict(&m.pressures[0], []Usage{{Pod: "db", Used: 1024, AtLeast: true}})
	if v := m.Verdict("db"); v.Grace != 1 || !strings.Contains(v.Message, "this pod uses at least 1KiB") {
		t.Errorf("without -eviction_max_pod_grace_period the verdict is %+v", v)
	}
	for after, want := range map[time.Duration]bool{0: true, 30 * time.Second: true, 31 * time.Second: false} {
		if m.at = noon.Add(30*time.Second + after); m.Ending("db") != want || m.Ending("unknown") {
			t.Errorf("%v after its eviction db is ending: %v", after, !want)
		}
	}
	m.at = noon.Add(30 * time.Second)
	if p := m.Wanted(noon.Add(31*time.Second), false); p != nil {
		t.Errorf("a reading from before its end calls for %+v", p)
	}
}

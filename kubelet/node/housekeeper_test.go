package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// machine is what the Housekeeper under test sees. Its Docker has the images in /images.
type machine struct {
	facts       Facts
	err, health error
	docker      error // of Info
	asked       int   // Docker
	roots       []string
	events      []string
}

func enough() Facts {
	half := Amount{Available: 50e9, Total: 100e9}
	return Facts{Memory: half, NodeFS: half, NodeFSInodes: half, ImageFS: half, PIDs: half}
}

func (m *machine) housekeeper() *Housekeeper {
	opts := eviction.DefaultOptions()
	return &Housekeeper{
		Reader: Reader{RootDir: "/root_dir"},
		Read: func(r Reader) (Facts, error) {
			m.roots = append(m.roots, r.DockerRoot)
			return m.facts, m.err
		},
		Info: func(context.Context) (dockertools.Info, error) {
			m.asked++
			return dockertools.Info{RootDir: "/images", Version: "20.10"}, m.docker
		},
		Health: func() error { return m.health }, Pressure: eviction.NewManager(opts),
		Note: func(reason, message string) { m.events = append(m.events, reason+": "+message) },
	}
}

// check compares the statuses of the conditions, in their order.
func check(t *testing.T, h *Housekeeper, want string) []Condition {
	t.Helper()
	conditions, got := h.Status().Conditions, []string{}
	for _, c := range conditions {
		got = append(got, c.Type+"="+c.Status)
		if c.Reason == "" || c.Message == "" || c.Since.IsZero() {
			t.Errorf("it does not say why or since when: %+v", c)
		}
	}
	if text := strings.Join(got, " "); text != want {
		t.Errorf("the conditions are %s, want %s", text, want)
	}
	return conditions
}

func TestConditions(t *testing.T) {
	const well = "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False"
	synctest.Test(t, func(t *testing.T) {
		m := &machine{facts: enough()}
		h := m.housekeeper()
		h.Look(t.Context())
		check(t, h, well)
		began := time.Now()

		time.Sleep(time.Minute)
		m.facts.Memory.Available, m.facts.PIDs.Available, m.health = 1e6, 1e9, errors.New("no answer\nfrom Docker")
		h.Look(t.Context())
		c := check(t, h, "Ready=False MemoryPressure=True DiskPressure=False PIDPressure=True")
		if c[0].Message != "no answer; from Docker" || !c[1].Since.Equal(time.Now()) || !c[2].Since.Equal(began) || !strings.Contains(c[1].Message, "memory.available") {
			t.Errorf("%+v", c)
		}
		if fmt.Sprint(m.events) != fmt.Sprintf("[MemoryPressure: %s PIDPressure: less than 5 %% of 100000000000 process numbers are left]", c[1].Message) {
			t.Errorf("the events are %q", m.events)
		}

		// Enough process numbers end that pressure at once; memory takes the transition period. Ready is always
		// current.
		m.facts, m.health = enough(), nil
		h.Look(t.Context())
		check(t, h, "Ready=True MemoryPressure=True DiskPressure=False PIDPressure=False")
		time.Sleep(10 * time.Minute)
		h.Look(t.Context())
		check(t, h, well)
		if last := m.events[len(m.events)-1]; last != "MemoryPressure: it has ended" || len(m.events) != 4 {
			t.Errorf("the events are %q", m.events)
		}

		m.facts, m.err = Facts{Memory: m.facts.Memory}, errors.New("no file system")
		h.Look(t.Context())
		check(t, h, "Ready=True MemoryPressure=False DiskPressure=Unknown PIDPressure=Unknown")
	})
}

func TestDockerIsAskedOnceItAnswersAndThenSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{facts: enough(), docker: errors.New("it is not up yet")}
		h := m.housekeeper()
		h.Look(t.Context())
		m.docker = nil
		var acted []Facts
		h.Act = append(h.Act, func(_ context.Context, f Facts) { acted = append(acted, f) })
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute+time.Second)
		defer cancel()
		h.Run(ctx)
		if m.asked != 2 || len(acted) != 24 || h.Status().Docker.Version != "20.10" || !slices.Equal(m.roots[:2], []string{"", "/images"}) {
			t.Errorf("in four minutes it was asked %d times, %d looks were acted on, and the images are in %q", m.asked, len(acted), m.roots[:3])
		}
		time.Sleep(2 * time.Minute)
		h.Look(t.Context())
		if m.asked != 3 {
			t.Errorf("after six minutes it was asked %d times, want 3", m.asked)
		}
	})
}

package plan_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
)

// TestMake makes the plan of every case. The input is a pod as plantest.ParsePod reads it, containers as
// plantest.ParseContainer does, and maybe the limits of the flags: "limits max=2 ttl=1h", or an eviction: "evict grace=20".
func TestMake(t *testing.T) { plantest.Cases(t, answerTo) }

func answerTo(t *testing.T, input string) string {
	t.Helper()
	var want *plan.Pod
	var observed []plan.Observed
	var verdict plan.Verdict
	limits := plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2}
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		switch {
		case words[0] == "#":
		case words[0] == "want", words[0] == "unwanted":
			want = plantest.ParsePod(line)
		case words[0] == "evict":
			verdict.Message = "the host runs short of memory"
			verdict.Grace, _ = strconv.Atoi(plantest.ParseAttributes(words[1:])["grace"])
		case words[0] == "limits":
			attributes := plantest.ParseAttributes(words[1:])
			limits.MaxDeadContainers, _ = strconv.Atoi(attributes["max"])
			limits.MinDeadAge, _ = time.ParseDuration(attributes["ttl"])
		default:
			observed = append(observed, plantest.ParseContainer(t, line))
		}
	}
	p := plantest.Make(want, observed, limits)
	if verdict.Message != "" {
		p = plan.Evict(want, observed, verdict)
	}
	var b strings.Builder
	for i, step := range p.Steps {
		if i > 0 {
			b.WriteString("then\n")
		}
		for _, a := range step {
			fmt.Fprintf(&b, "%s %s:%s#%d", a.Kind, a.Name.Name, a.Name.Hash, a.Name.Attempt)
			if a.Kind == plan.Create {
				if a.Container.Name != "net" {
					fmt.Fprintf(&b, " in=%s", a.NetworkID)
				}
				if a.Crashes > 0 {
					fmt.Fprintf(&b, " crashes=%d", a.Crashes)
				}
				if a.Restarts != a.Name.Attempt-1 {
					fmt.Fprintf(&b, " restarts=%d", a.Restarts)
				}
				if !a.PulledSince.IsZero() {
					fmt.Fprintf(&b, " pulled since %s", a.PulledSince.Format(time.TimeOnly))
				}
			}
			if a.Kind == plan.Stop && (a.Grace == "0" || a.Killed == api.ReasonEvicted) {
				fmt.Fprintf(&b, " in %s s", a.Grace)
			}
			fmt.Fprintf(&b, ": %s\n", a.Reason)
		}
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "%s: %s: %s\n", problem.Container, problem.Reason, problem.Message)
	}
	if !p.Next.IsZero() {
		fmt.Fprintf(&b, "plan again in %v\n", p.Next.Sub(plantest.Now))
	}
	if p.Init != "" {
		fmt.Fprintf(&b, "apps wait for %s\n", p.Init)
	}
	if p.Finished {
		b.WriteString("finished\n")
	}
	return b.String()
}

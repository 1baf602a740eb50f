package plan_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
)

var rewrite = flag.Bool("rewrite", false, "write the plans of today into testdata")

// TestMake runs every case of testdata. A case is some lines of input, a line of dashes,
// and the plan. The input is a pod as plantest.ParsePod reads it, containers as
// plantest.ParseContainer does, and maybe the limits of the flags: "limits max=2 ttl=1h", or an eviction: "evict grace=20".
// Lines that begin with # are for the reader. -rewrite writes today's plans into the files.
func TestMake(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find cases: %d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for i, c := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			input, answer, found := strings.Cut(c+"\n", "----\n")
			if !found && strings.HasPrefix(c, "#") && !strings.Contains(c, "\nwant") {
				out = append(out, c) // a heading
				continue
			}
			got := answerTo(t, input)
			out = append(out, strings.TrimSpace(input+"----\n"+got))
			if *rewrite {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				if diff := cmp.Diff(answer, got); diff != "" {
					t.Errorf("%s\nanother plan (-file +plan):\n%s", input, diff)
				}
			})
		}
		if *rewrite {
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

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

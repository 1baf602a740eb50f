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
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

var rewrite = flag.Bool("rewrite", false, "write the plans of today into testdata")

// TestMake runs every case of testdata. A case is some lines of input, a line of dashes,
// and the plan:
//
//	want never web:a side:b     the restart policy (always if left out) and each app container with its hash; the network container's is "n"
//	want web:a+latest           … of an image :latest, or +always: with PullAlways, or +pullnever
//	unwanted                    instead of want
//	web:a#1 running             an observed container: name, hash, attempt and state, then any of
//	    in=net#1                the network container it joined (default net#1)
//	    up=5m                   started so long ago (default 1h)
//	    ended=3s exit=1 ran=2m  terminated so long ago, with an exit code, after having run so long (default 1h)
//	    crashes=3               crashes in a row before it
//	    failed=no_such_file     its start failed
//	    uid=other               of another UID
//	    unhealthy=refused       its liveness probe failed
//	    oom                     the kernel killed it
//	    message=text            its termination message
//	limits max=2 ttl=1h         as the flags
//
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

var now = time.Date(2014, 10, 15, 12, 0, 0, 0, time.UTC)

func answerTo(t *testing.T, input string) string {
	t.Helper()
	var want *plan.Pod
	var observed []plan.Observed
	limits := plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2}
	for line := range strings.SplitSeq(strings.TrimSpace(input), "\n") {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"), words[0] == "unwanted":
		case words[0] == "want":
			want = parseWant(words[1:])
		case words[0] == "limits":
			attributes := parseAttributes(words[1:])
			limits.MaxDeadContainers, _ = strconv.Atoi(attributes["max"])
			limits.MinDeadAge, _ = time.ParseDuration(attributes["ttl"])
		default:
			observed = append(observed, parseObserved(t, words))
		}
	}
	p := plan.Make(want, observed, limits, now)
	var b strings.Builder
	for i, step := range p.Steps {
		if i > 0 {
			b.WriteString("then\n")
		}
		for _, a := range step {
			fmt.Fprintf(&b, "%s %s:%s#%d", a.Kind, a.Name.Name, a.Name.Hash, a.Name.Attempt)
			if a.Kind == plan.Create && a.Container.Name != "net" {
				fmt.Fprintf(&b, " in=%s", a.NetworkID)
			}
			if a.Crashes > 0 {
				fmt.Fprintf(&b, " crashes=%d", a.Crashes)
			}
			if !a.PulledSince.IsZero() {
				fmt.Fprintf(&b, " pulled since %s", a.PulledSince.Format(time.TimeOnly))
			}
			fmt.Fprintf(&b, ": %s\n", a.Reason)
		}
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "%s: %s: %s\n", problem.Container, problem.Reason, problem.Message)
	}
	if !p.Next.IsZero() {
		fmt.Fprintf(&b, "plan again in %v\n", p.Next.Sub(now))
	}
	if p.Finished {
		b.WriteString("finished\n")
	}
	return b.String()
}

func parseWant(words []string) *plan.Pod {
	want := &plan.Pod{
		Pod: api.Pod{Name: "p", Namespace: "default", Source: "test", UID: "u"}, FullName: "p.default.test",
		Since: now.Add(-time.Minute), Network: plan.Container{Name: "net", Hash: "n"},
	}
	for _, word := range words {
		name, hash, isContainer := strings.Cut(word, ":")
		switch {
		case isContainer && name == "net":
			want.Network.Hash = hash
		case isContainer:
			want.Apps = append(want.Apps, parseApp(name, hash))
		case word == "never":
			want.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
		case word == "onFailure":
			want.Manifest.RestartPolicy.OnFailure = &api.RestartPolicyOnFailure{}
		}
	}
	return want
}

func parseApp(name, options string) plan.Container {
	words := strings.Split(options, "+")
	spec := &api.Container{Name: name, Image: "hello:1", ImagePullPolicy: api.PullIfNotPresent}
	for _, option := range words[1:] {
		switch option {
		case "latest":
			spec.Image = "hello"
		case "always":
			spec.ImagePullPolicy = api.PullAlways
		case "pullnever":
			spec.Image, spec.ImagePullPolicy = "hello", api.PullNever
		}
	}
	return plan.Container{Name: name, Hash: words[0], Spec: spec}
}

func parseObserved(t *testing.T, words []string) plan.Observed {
	t.Helper()
	head, attempt, ok1 := strings.Cut(words[0], "#")
	name, hash, ok2 := strings.Cut(head, ":")
	n, err := strconv.Atoi(attempt)
	if !ok1 || !ok2 || err != nil || len(words) < 2 {
		t.Fatalf("%q is not a container", strings.Join(words, " "))
	}
	var c plan.Observed
	c.Of = dockertools.NameParts{Name: name, Hash: hash, PodFullName: "p.default.test", UID: "u", Attempt: n}
	c.ID = name + "#" + attempt
	c.State = dockertools.State(words[1])
	c.Created = now.Add(-2 * time.Hour)
	if name != "net" {
		c.NetworkContainer = "net#1"
	}
	up, ended, ran := time.Hour, time.Duration(0), time.Hour
	for key, value := range parseAttributes(words[2:]) {
		d, _ := time.ParseDuration(value)
		i, _ := strconv.Atoi(value)
		switch key {
		case "in":
			c.NetworkContainer = value
		case "up":
			up = d
		case "ended":
			ended = d
		case "ran":
			ran = d
		case "exit":
			c.ExitCode = i
		case "crashes":
			c.QuickEnds = i
		case "failed":
			c.Error, c.ExitCode = value, 127
		case "created":
			c.Created = now.Add(-d)
		case "uid":
			c.Of.UID = value
		case "unhealthy":
			c.Unhealthy = "its liveness probe failed: " + value
		case "killed":
			c.Killed = plan.Problem{Reason: value, Message: "its liveness probe failed: refused"}
		case "oom":
			c.OOMKilled = true
		case "message":
			c.TerminationMessage = strings.ReplaceAll(value, "|", "\n")
		default:
			t.Fatalf("%q is not an attribute", key)
		}
	}
	switch {
	case c.State.Live():
		c.StartedAt = now.Add(-up)
	case c.State.Ended():
		c.FinishedAt = now.Add(-ended)
		c.StartedAt = c.FinishedAt.Add(-ran)
	}
	return c
}

func parseAttributes(words []string) map[string]string {
	m := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		m[key] = value
	}
	return m
}

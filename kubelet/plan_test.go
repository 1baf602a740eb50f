package kubelet

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
)

var rewrite = flag.Bool("rewrite", false, "write what plan says now into testdata/plan")

// TestPlan runs every case of testdata/plan. A case is some lines of input, a
// line of dashes, and what plan answers:
//
//	want never web:a side:b     the policy (always when left out) and each app container with its hash; the network container's is "n"
//	want web:a+hook+latest      … with a postStart, of an image :latest, or +always: that is always pulled
//	unwanted                    instead of want
//	web:a#1 running             a container that is seen: name, hash, attempt and state, then any of
//	    in=net#1                whose network it joined (default net#1)
//	    up=5m                   started so long ago (default 1h)
//	    ended=3s exit=1 ran=2m  dead for so long, with an exit code, after having run so long (default 1h)
//	    quick=3                 quick ends before it
//	    failed="no such file"   its start failed
//	    uid=other               of another UID
//	    awaits=hook             its postStart has not succeeded yet
//	    unhealthy=refused       a probe says so
//	limits max=2 ttl=1h         the limits, as the flags say
//
// Lines that begin with # are for the reader.
func TestPlan(t *testing.T) {
	files, err := filepath.Glob("testdata/plan/*.txt")
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
					t.Errorf("%s\nplan answers otherwise (-file +plan):\n%s", input, diff)
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

var planNow = time.Date(2014, 10, 15, 12, 0, 0, 0, time.UTC)

func answerTo(t *testing.T, input string) string {
	t.Helper()
	var want *wantedPod
	var seen []seenContainer
	lim := limits{restartBackoff: time.Minute, deadContainers: 2}
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"), words[0] == "unwanted":
		case words[0] == "want":
			want = parseWant(words[1:])
		case words[0] == "limits":
			for key, value := range attributes(t, words[1:]) {
				switch key {
				case "max":
					lim.deadContainers, _ = strconv.Atoi(value)
				case "ttl":
					lim.deadTTL, _ = time.ParseDuration(value)
				}
			}
		default:
			seen = append(seen, parseSeen(t, words))
		}
	}
	p := plan(want, seen, lim, planNow)
	var b strings.Builder
	for i, step := range p.steps {
		if i > 0 {
			b.WriteString("then\n")
		}
		for _, a := range step {
			fmt.Fprintf(&b, "%s %s:%s#%d", a.kind, a.name.Name, a.name.Hash, a.name.Attempt)
			if a.kind == createAction && a.want.name != "net" {
				fmt.Fprintf(&b, " in=%s", a.netID)
			}
			if a.quickEnds > 0 {
				fmt.Fprintf(&b, " quick=%d", a.quickEnds)
			}
			if a.pull {
				b.WriteString(" after a pull")
			}
			if a.name.AwaitsHook {
				b.WriteString(" awaits its hook")
			}
			fmt.Fprintf(&b, ": %s\n", a.reason)
		}
	}
	for _, reason := range p.notRunning {
		fmt.Fprintln(&b, reason)
	}
	if !p.next.IsZero() {
		fmt.Fprintf(&b, "look again in %v\n", p.next.Sub(planNow))
	}
	if p.finished {
		b.WriteString("finished\n")
	}
	return b.String()
}

func parseWant(words []string) *wantedPod {
	want := &wantedPod{Pod: api.Pod{Name: "p", Namespace: "default", Source: "test", UID: "u"}, fullName: "p.default.test", net: wantedContainer{name: "net", hash: "n"}}
	for _, word := range words {
		name, hash, isContainer := strings.Cut(word, ":")
		switch {
		case isContainer && name == "net":
			want.net.hash = hash
		case isContainer:
			want.apps = append(want.apps, parseApp(name, hash))
		case word == "never":
			want.manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
		case word == "onFailure":
			want.manifest.RestartPolicy.OnFailure = &api.RestartPolicyOnFailure{}
		}
	}
	return want
}

func parseApp(name, options string) wantedContainer {
	words := strings.Split(options, "+")
	app := wantedContainer{name: name, hash: words[0], spec: &api.Container{Name: name, Image: "hello:1", ImagePullPolicy: api.PullIfNotPresent}}
	for _, option := range words[1:] {
		switch option {
		case "hook":
			app.spec.Lifecycle = &api.Lifecycle{PostStart: &api.Handler{}}
		case "latest":
			app.spec.Image = "hello"
		case "always":
			app.spec.ImagePullPolicy = api.PullAlways
		case "pullnever":
			app.spec.Image, app.spec.ImagePullPolicy = "hello", api.PullNever
		}
	}
	return app
}

func parseSeen(t *testing.T, words []string) seenContainer {
	t.Helper()
	head, attempt, ok1 := strings.Cut(words[0], "#")
	name, hash, ok2 := strings.Cut(head, ":")
	n, err := strconv.Atoi(attempt)
	if !ok1 || !ok2 || err != nil || len(words) < 2 {
		t.Fatalf("%q is no container", strings.Join(words, " "))
	}
	var c seenContainer
	c.Of = dockertools.NameParts{Name: name, Hash: hash, PodFullName: "p.default.test", UID: "u", Attempt: n}
	c.ID = name + "#" + attempt
	c.State = dockertools.State(words[1])
	c.Created = planNow.Add(-2 * time.Hour)
	if name != "net" {
		c.NetworkContainer = "net#1"
	}
	up, ended, ran := time.Hour, time.Duration(0), time.Hour
	for key, value := range attributes(t, words[2:]) {
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
		case "quick":
			c.QuickEnds = i
		case "failed":
			c.Error, c.ExitCode = strings.Trim(value, `"`), 127
		case "created":
			c.Created = planNow.Add(-d)
		case "uid":
			c.Of.UID = value
		case "awaits":
			c.Of.AwaitsHook = value == "hook"
		case "unhealthy":
			c.Unhealthy = "its liveness probe failed: " + value
		default:
			t.Fatalf("%q is no attribute", key)
		}
	}
	switch {
	case c.State.Live():
		c.StartedAt = planNow.Add(-up)
	case c.State.Ended():
		c.FinishedAt = planNow.Add(-ended)
		c.StartedAt = c.FinishedAt.Add(-ran)
	}
	return c
}

func attributes(t *testing.T, words []string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			t.Fatalf("%q is no attribute", word)
		}
		m[key] = value
	}
	return m
}

//go:build chaos

package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// operation is one thing that happens. Its fields say what, whatever the state of Docker is then.
type operation struct {
	what string
	pod  string        // of manifests and of persons; for a replica: its own name
	of   string        // the container
	n    int           // what else the operation needs: how long, which request
	gap  time.Duration // before the next one
	want pod           // of an operation on a manifest: as it is wanted then
}

func (o operation) String() string {
	text := o.what
	if o.pod != "" {
		text += " " + o.pod
	}
	if o.of != "" {
		text += "/" + o.of
	}
	return fmt.Sprintf("%s (%d)", text, o.n)
}

// round is what happens between two calms.
type round struct {
	theme      string
	operations []operation
}

// edits are the operations on manifests, which every round has.
var edits = []string{"edit", "edit", "edit", "remove", "remove", "add", "rename", "scale"}

// themes are the faults of a round.
var themes = map[string][]string{
	"people":  {"kill", "stop", "rm", "restart", "pause", "update"},
	"kubelet": {"kubelet killed", "kubelet killed", "kubelet stopped", "second kubelet", "kubelet of the same hostname", "clock set back"},
	"docker":  {"docker killed", "docker stopped", "docker frozen", "docker frozen"},
	"answers": {"answer lost", "answer late", "answer cut", "answer is an error", "request lost", "connections broken"},
	"sources": {"manifest spoilt", "directory moved away", "server lies"},
	"disk":    {"disk full", "disk full", "kubelet killed", "disk freed"},
}

// lies are what the web server answers instead of its pods. Each must leave the pods as they are.
var lies = []struct {
	status int
	body   string
}{{200, ""}, {200, "{}"}, {200, "<html>It works!</html>"}, {200, "kind: Pod"}, {200, "\x00\xff"}, {404, "[]"}, {502, "Bad Gateway"}, {0, ""}}

// targets are the requests that an operation on answers is about.
var targets = []string{
	`^POST .*/containers/create`, `^POST .*/containers/\w+/start`, `^POST .*/containers/\w+/stop`, `^DELETE .*/containers/`,
	`^GET .*/containers/json`, `^GET .*/containers/\w+/json`, `^POST .*/exec`, `^GET .*/events`, ``,
}

// script makes rounds from a seed. It knows which pods are wanted, and nothing else.
type script struct {
	random *rand.Rand
	pods   []*pod
	left   []string // themes, until each has had its turn
}

func newScript(seed uint64) *script {
	return &script{random: rand.New(rand.NewPCG(seed, 0)), pods: newPods()}
}

func (s *script) round() round {
	if len(s.left) == 0 {
		s.left = append(slices.Sorted(maps.Keys(themes)), "people", "kubelet", "answers", "all", "all", "all")
		s.random.Shuffle(len(s.left), func(i, j int) { s.left[i], s.left[j] = s.left[j], s.left[i] })
	}
	r := round{theme: s.left[0]}
	s.left = s.left[1:]
	faults := themes[r.theme]
	if r.theme == "all" {
		for _, theme := range slices.Sorted(maps.Keys(themes)) {
			faults = append(faults, themes[theme]...)
		}
	}
	for range 8 + s.random.IntN(12) {
		// Half of the gaps are so short that the next operation meets the kubelet at work.
		op := operation{n: s.random.IntN(1000), gap: time.Duration(s.random.IntN([]int{100, 1000}[s.random.IntN(2)])) * time.Millisecond}
		if s.random.IntN(2) == 0 {
			s.edit(&op)
		} else {
			op.what = faults[s.random.IntN(len(faults))]
			if slices.Contains(themes["people"], op.what) || op.what == "manifest spoilt" {
				s.choose(&op)
			}
		}
		if op.what != "" {
			r.operations = append(r.operations, op)
		}
	}
	return r
}

// choose chooses the container that a person's operation is about.
func (s *script) choose(op *operation) {
	p := s.pods[s.random.IntN(len(s.pods))]
	names := p.names()
	op.of = []string{"main", "main", "side", "net"}[s.random.IntN(4)]
	i := s.random.IntN(max(len(names), 1))
	if op.pod = p.name; len(names) > 0 {
		op.pod = names[i]
	}
}

// edit chooses an operation on a manifest and applies it to the pods that are wanted; op stays empty if it does nothing.
func (s *script) edit(op *operation) {
	p := s.pods[s.random.IntN(len(s.pods))]
	what := edits[s.random.IntN(len(edits))]
	if !p.there {
		what = "add"
	}
	switch {
	case what == "edit":
		p.version++
	case what == "remove":
		p.there = false
	case what == "add" && !p.there:
		p.there = true
		p.version++
	case what == "rename" && p.file != "":
		p.file = fmt.Sprintf("%s-%d", p.name, op.n)
	case what == "scale" && p.kind.numbered:
		p.replicas = op.n % (2 * replicas)
	default:
		return
	}
	op.what, op.pod, op.want = what, p.name, *p
}

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decide compares the desired and the observed state of a pod at a time. It returns the docker commands that
// bring them closer, in order. It is a pure function: values in, values out.
//
// An edit and a restart give a container another name. So the new one can be created while the old one is there,
// and if that fails, the rest of the plan is not carried out.
func decide(now time.Time, pod string, desired Manifest, observed []Observed) [][]string {
	p := &plan{now: now, pod: pod, observed: observed, keep: map[string]bool{}}
	if len(desired.Containers) > 0 {
		if net, up := p.want(network(desired)); up {
			for _, c := range desired.Containers {
				p.want(app(pod, net, c))
			}
		}
	}
	isNet := func(o Observed) bool { return strings.HasPrefix(o.Name, pod+"_net_") }
	p.drop(func(o Observed) bool { return !isNet(o) })
	p.drop(isNet) // last, so that the others have their network while they stop
	if len(desired.Containers) == 0 {
		p.dropVolumes()
	}
	return slices.Concat(p.creates, p.stops, p.starts, p.removes)
}

// plan is what decide finds.
type plan struct {
	now      time.Time
	pod      string // PREFIX_POD
	observed []Observed
	keep     map[string]bool // names of containers

	creates, stops, starts, removes [][]string
}

// want adds what brings a container to life. It returns the name under which it is, or will be, and
// whether it does not wait for the end of a back-off.
func (p *plan) want(w wanted) (name string, up bool) {
	base := p.pod + "_" + w.name + "_" + hash(w.args) + "_"
	newest, last := newestOf(base, p.idOf(w.network), p.observed)
	name, crashes, isNew := next(p.now, base, newest, last)
	if isNew {
		args := []string{"create", "--name", name, "--label", fmt.Sprint(crashesLabel, "=", crashes)}
		if w.network != "" {
			args = append(args, "--network", "container:"+w.network)
		}
		p.creates = append(p.creates, append(args, w.args...))
	}
	if isNew || newest.State == "created" {
		p.starts = append(p.starts, []string{"start", name})
	}
	p.keep[name] = true
	return name, isNew || !newest.dead()
}

// drop removes those of some containers that are not kept: of another version, an earlier attempt, or of no manifest.
func (p *plan) drop(which func(Observed) bool) {
	for _, o := range p.observed {
		if which(o) && !p.keep[o.Name] {
			p.stops = append(p.stops, []string{"stop", "-t", "30", o.Name})
			p.removes = append(p.removes, []string{"rm", o.Name})
		}
	}
}

// dropVolumes removes the volumes of a pod that goes.
func (p *plan) dropVolumes() {
	var names []string
	for _, o := range p.observed {
		names = append(names, o.Volumes...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		p.removes = append(p.removes, []string{"volume", "rm", name})
	}
}

// idOf returns the id of a container, or the empty string if Docker does not have it.
func (p *plan) idOf(name string) string {
	for _, o := range p.observed {
		if o.Name == name {
			return o.ID
		}
	}
	return ""
}

// newestOf returns the newest attempt of a version in a network, or an empty value. One that joined another network
// container is cut off, or will be: it only counts for the number of the last attempt.
func newestOf(base, network string, observed []Observed) (newest Observed, last int) {
	for _, o := range observed {
		if !strings.HasPrefix(o.Name, base) {
			continue
		}
		last = max(last, attempt(o.Name))
		if o.Joined == network && attempt(o.Name) > attempt(newest.Name) {
			newest = o
		}
	}
	return newest, last
}

// attempt returns the number at the end of a name.
func attempt(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndex(name, "_")+1:])
	return n
}

// next returns the name of the container that should be there, and whether it has to be made; then it also returns the
// crashes before it. A dead one stays until its time has come, and then until its successor is started: it is
// the memory.
func next(now time.Time, base string, newest Observed, last int) (name string, crashes int, isNew bool) {
	switch {
	case newest.Name == "":
		return base + strconv.Itoa(last+1), 0, true
	case newest.dead():
		if newest.Ended.Sub(newest.Started) < 10*time.Minute {
			crashes = newest.Crashes + 1
		}
		if now.Sub(newest.Ended) >= wait(crashes) {
			return base + strconv.Itoa(last+1), crashes, true
		}
	}
	return newest.Name, 0, false
}

// wait returns how long a container stays down after so many crashes in a row: 0, 1, 2, 4, … seconds.
func wait(crashes int) time.Duration {
	if crashes < 2 {
		return 0
	}
	return min(time.Second<<min(crashes-2, 10), time.Minute)
}

// hash returns a short text that is equal for equal values.
func hash(of ...any) string {
	text, err := json.Marshal(of) // always in the order of the fields
	if err != nil {
		panic(err) // no value of a manifest is one that JSON lacks
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:8]
}

package main

import (
	"fmt"
	"slices"
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
			p.stops = append(p.stops, []string{"stop", o.Name})
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

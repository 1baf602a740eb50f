package main

import (
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
	var creates, stops, starts, removes [][]string
	keep := map[string]bool{}
	for _, c := range desired.Containers {
		base := pod + "_" + c.Name + "_" + hash(c) + "_"
		newest := newestOf(base, observed)
		current, crashes, isNew := next(now, base, newest)
		if isNew {
			creates = append(creates, create(current, crashes, c))
		}
		if isNew || newest.State == "created" {
			starts = append(starts, []string{"start", current})
		}
		keep[current] = true
	}
	for _, o := range observed {
		if !keep[o.Name] { // of another version, an earlier attempt, or of no manifest
			stops = append(stops, []string{"stop", o.Name})
			removes = append(removes, []string{"rm", o.Name})
		}
	}
	return slices.Concat(creates, stops, starts, removes)
}

// newestOf returns the newest attempt of a version, or an empty value.
func newestOf(base string, observed []Observed) (newest Observed) {
	for _, o := range observed {
		if strings.HasPrefix(o.Name, base) && attempt(o.Name) > attempt(newest.Name) {
			newest = o
		}
	}
	return newest
}

// next returns the name of the container that should be there, and whether it has to be made; then it also returns the
// crashes before it. A dead one stays until its time has come, and then until its successor is started: it is
// the memory.
func next(now time.Time, base string, newest Observed) (name string, crashes int, isNew bool) {
	switch newest.State {
	case "":
		return base + "1", 0, true
	case "exited", "dead":
		if newest.Ended.Sub(newest.Started) < 10*time.Minute {
			crashes = newest.Crashes + 1
		}
		if now.Sub(newest.Ended) >= wait(crashes) {
			return base + strconv.Itoa(attempt(newest.Name)+1), crashes, true
		}
	}
	return newest.Name, 0, false
}

// create returns the command that makes a container.
func create(name string, crashes int, c Container) []string {
	args := []string{"create", "--name", name, "--label", fmt.Sprint(crashesLabel, "=", crashes)}
	for _, env := range c.Env {
		args = append(args, "--env", env.Name+"="+env.Value)
	}
	return append(append(args, c.Image), c.Command...)
}

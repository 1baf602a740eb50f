package main

import "slices"

// decide compares the desired and the observed state of a pod. It returns the docker commands that bring
// them closer, in order. It is a pure function: values in, values out.
//
// An edit gives a container another name. So the new one can be created while the old one runs, and
// if that fails, the rest of the plan is not carried out.
func decide(pod string, desired Manifest, observed []Observed) [][]string {
	states := map[string]string{}
	for _, o := range observed {
		states[o.Name] = o.State
	}
	var creates, stops, starts, removes [][]string
	for _, c := range desired.Containers {
		name := pod + "_" + c.Name + "_" + hash(c)
		switch states[name] {
		case "":
			creates = append(creates, create(name, c))
			starts = append(starts, []string{"start", name})
		case "created", "exited":
			starts = append(starts, []string{"start", name})
		}
		delete(states, name)
	}
	for name := range states { // of another version, or of no manifest
		stops = append(stops, []string{"stop", name})
		removes = append(removes, []string{"rm", name})
	}
	return slices.Concat(creates, stops, starts, removes)
}

// create returns the command that makes a container.
func create(name string, c Container) []string {
	args := []string{"create", "--name", name}
	for _, env := range c.Env {
		args = append(args, "--env", env.Name+"="+env.Value)
	}
	return append(append(args, c.Image), c.Command...)
}

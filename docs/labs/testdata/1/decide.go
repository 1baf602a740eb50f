package main

// decide compares the desired and the observed state of a pod. It returns the docker commands that bring
// them closer, in order. It is a pure function: values in, values out.
func decide(pod string, desired Manifest, observed []Observed) (plan [][]string) {
	states := map[string]string{}
	for _, o := range observed {
		states[o.Name] = o.State
	}
	for _, c := range desired.Containers {
		name := pod + "_" + c.Name
		switch states[name] {
		case "":
			plan = append(plan, create(name, c), []string{"start", name})
		case "created", "exited":
			plan = append(plan, []string{"start", name})
		}
		delete(states, name)
	}
	for name := range states { // no manifest desires these
		plan = append(plan, []string{"stop", name}, []string{"rm", name})
	}
	return plan
}

// create returns the command that makes a container.
func create(name string, c Container) []string {
	args := []string{"create", "--name", name}
	for _, env := range c.Env {
		args = append(args, "--env", env.Name+"="+env.Value)
	}
	return append(append(args, c.Image), c.Command...)
}

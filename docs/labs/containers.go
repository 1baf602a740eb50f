package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// container is one of the program's, as Docker reports it.
type container struct {
	ID, Name string
	Created  time.Time
	Config   struct {
		Image string
		Env   []string
		Cmd   []string
	}
	State struct {
		Status                string
		StartedAt, FinishedAt time.Time
		ExitCode              int
	}
	HostConfig struct{ NetworkMode string }
	Mounts     []mount

	pod, of string // from the name: PREFIX_POD_CONTAINER…
}

// mount is a directory that a container has from elsewhere.
type mount struct{ Type, Name, Source string }

func (o container) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Name, o.State.Status, strings.Join(o.versions(), " ")))
}

// live reports whether it has a process.
func (o container) live() bool { return o.State.Status == "running" || o.State.Status == "paused" }

// versions returns the variable by which the check tells versions of a container apart.
func (o container) versions() (found []string) {
	for _, env := range o.Config.Env {
		if strings.HasPrefix(env, "VERSION=") {
			found = append(found, env)
		}
	}
	return found
}

// containers returns all containers of the program, oldest first.
func (c *check) containers() (all []container, err error) {
	var listed []struct {
		ID string `json:"Id"`
	}
	if err := c.engine.get(c.ctx, "/containers/json?all=1&", "^/?"+c.prefix+"_", &listed); err != nil {
		return nil, err
	}
	for _, item := range listed {
		one, err := c.engine.inspect(c, item.ID)
		if errors.Is(err, errNotFound) {
			continue // it was removed after the list
		} else if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b container) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name)) })
	return all, nil
}

func (e *engine) inspect(c *check, ref string) (one container, err error) {
	err = e.call(c.ctx, http.MethodGet, "/containers/"+ref+"/json", nil, &one)
	one.Name = strings.TrimPrefix(one.Name, "/")
	one.pod, one.of = split(c.prefix, one.Name)
	return one, err
}

// split returns the pod and the container that a name is for.
func split(prefix, name string) (pod, of string) {
	parts := strings.Split(strings.TrimPrefix(name, prefix+"_"), "_")
	if len(parts) < 2 {
		return parts[0], ""
	}
	return parts[0], parts[1]
}

// ofPod returns the containers of a pod by a name, oldest first; the empty name stands for all.
func (c *check) ofPod(pod, of string) (found []container, err error) {
	all, err := c.containers()
	for _, one := range all {
		if one.pod == pod && (of == "" || one.of == of) {
			found = append(found, one)
		}
	}
	return found, err
}

// one returns the only live container of a pod by a name, which must be of a version.
func (c *check) one(pod, of string, version int) (container, error) {
	all, err := c.ofPod(pod, of)
	live := slices.DeleteFunc(slices.Clone(all), func(one container) bool { return !one.live() })
	switch want := fmt.Sprint("VERSION=", version); {
	case err != nil:
		return container{}, err
	case len(live) != 1:
		return container{}, fmt.Errorf("%d running containers of %s, whose names begin with %s_%s_%s; there are %v", len(live), pod, c.prefix, pod, of, all)
	case version > 0 && !slices.Contains(live[0].Config.Env, want):
		return container{}, fmt.Errorf("%v, and no container with %s in its environment runs", live[0], want)
	default:
		return live[0], nil
	}
}

// runs returns an error unless a container of a version runs.
func (c *check) runs(pod, of string, version int) error {
	_, err := c.one(pod, of, version)
	return err
}

// current returns the live container of a pod by a name.
func (c *check) current(pod, of string) container {
	one, err := c.one(pod, of, 0)
	if err != nil {
		c.fail(pod+"/"+of+" runs", err.Error())
	}
	return one
}

// gone returns an error if anything is left of a pod, even a dead container.
func (c *check) gone(pod string) error {
	all, err := c.ofPod(pod, "")
	if err == nil && len(all) > 0 {
		err = fmt.Errorf("%v is still there", all[0])
	}
	return err
}

// same returns an error if a container has been replaced or restarted.
func (c *check) same(old container) error {
	now, err := c.engine.inspect(c, old.ID)
	switch {
	case errors.Is(err, errNotFound):
		return fmt.Errorf("%s was removed", old.Name)
	case err != nil:
		return err
	case !now.live():
		return fmt.Errorf("%s was stopped", old.Name)
	case !now.State.StartedAt.Equal(old.State.StartedAt):
		return fmt.Errorf("%s was started again", old.Name)
	}
	return nil
}

// killContainer kills the process of a container.
func (c *check) killContainer(one container) {
	c.must(c.engine.call(c.ctx, http.MethodPost, "/containers/"+one.ID+"/kill", nil, nil))
}

// decoy starts a container that belongs to somebody else.
func (c *check) decoy(name string) {
	var made struct {
		ID string `json:"Id"`
	}
	body := map[string]any{"Image": helloImage, "Cmd": []string{"/hello", "sleep"}}
	c.must(c.engine.call(c.ctx, http.MethodPost, "/containers/create?name="+name, body, &made))
	c.decoys = append(c.decoys, made.ID)
	c.must(c.engine.call(c.ctx, http.MethodPost, "/containers/"+made.ID+"/start", nil, nil))
}

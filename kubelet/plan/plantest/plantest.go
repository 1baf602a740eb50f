// Package plantest makes desired and observed pods for tests.
package plantest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// Now is the time at which the containers of ParseContainer are observed. It is noon here, as reasons have local times.
var Now = time.Date(2014, 10, 15, 12, 0, 0, 0, time.Local)

// FullPod returns a pod that uses every field that a hash and a container are made of.
func FullPod() api.Pod {
	return api.Pod{
		Name: "www", Namespace: "default", UID: "u-1", Source: "file", Origin: "www.yaml",
		Manifest: api.ContainerManifest{
			Version: "v1beta1", ID: "www", UUID: "u-1",
			Volumes: []api.Volume{
				{Name: "scratch"},
				{Name: "disk", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: "/mnt/disk"}}},
			},
			Containers: []api.Container{{
				Name: "web", Image: "busybox", Command: []string{"httpd", "-f"}, WorkingDir: "/srv",
				Ports: []api.Port{
					{Name: "http", HostPort: 8080, ContainerPort: 80, HostIP: "127.0.0.1"},
					{HostPort: 53, ContainerPort: 53, Protocol: api.ProtocolUDP},
					{ContainerPort: 9000},
				},
				Env:    []api.EnvVar{{Name: "A", Value: "1"}, {Name: "EMPTY"}, {Name: "B", Value: "x=y"}},
				Memory: 64 << 20, CPU: 500, Privileged: true,
				VolumeMounts:  []api.VolumeMount{{Name: "disk", MountPath: "/data", ReadOnly: true}},
				LivenessProbe: &api.Probe{HTTPGet: &api.HTTPGetAction{Path: "/", Port: api.IntOrString{Str: "http"}}},
			}, {
				Name: "side", Image: "busybox",
			}},
		},
	}
}

// ParsePod makes a desired pod of a line:
//
//	want never web:a side:b     the restart policy (always if left out) and each app container with its hash; the network container's is "n"
//	want web:a+latest           … of an image :latest, or +always: with PullAlways, or +pullnever
//	want web:a+ip setup:i+init  … that is created with the pod's IP; an init container
//	want web:a+parts setup:i+init … that mounts parts of volumes
//	want log:l+init+sidecar     … an init container that stays, +startup: with a startup probe
//	want deadline=60 web:a      … that has so many seconds
//	want stopped web:a          … that a person has stopped
//	want asked=2 web:a          … and asked to restart a second time
//	unwanted                    no pod
func ParsePod(line string) *plan.Pod {
	words := strings.Fields(line)
	if words[0] == "unwanted" {
		return nil
	}
	want := &plan.Pod{
		Pod:   api.Pod{Name: "p", Namespace: "default", Source: "test", UID: "u"},
		Since: Now.Add(-time.Minute), Network: plan.Container{Name: "net", Hash: "n"},
	}
	for _, word := range words[1:] {
		name, hash, isContainer := strings.Cut(word, ":")
		switch {
		case isContainer && name == "net":
			want.Network.Hash = hash
		case isContainer && strings.Contains(hash, "+init"):
			want.Init = append(want.Init, parseApp(name, hash))
		case isContainer:
			want.Apps = append(want.Apps, parseApp(name, hash))
		case strings.HasPrefix(word, "deadline="):
			seconds, _ := strconv.ParseInt(word[len("deadline="):], 10, 64)
			want.Complete.ActiveDeadlineSeconds = &seconds
		case word == "stopped":
			want.Stopped = "stopped by ada"
		case strings.HasPrefix(word, "asked="):
			want.Restart, _ = strconv.ParseInt(word[len("asked="):], 10, 64)
		case word == "never":
			want.Complete.RestartPolicy.Never = &api.RestartPolicyNever{}
		case word == "onFailure":
			want.Complete.RestartPolicy.OnFailure = &api.RestartPolicyOnFailure{}
		}
	}
	for i := range want.Init {
		want.Init[i].Turn = i
	}
	for i := range want.Apps {
		want.Apps[i].Turn = len(want.Init)
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
		case "sidecar":
			spec.Sidecar = true
		case "startup":
			spec.StartupProbe = &api.Probe{}
		case "always":
			spec.ImagePullPolicy = api.PullAlways
		case "pullnever":
			spec.Image, spec.ImagePullPolicy = "hello", api.PullNever
		}
	}
	return plan.Container{Name: name, Hash: words[0], Spec: spec, NeedsIP: slices.Contains(words, "ip"), Parts: slices.Contains(words, "parts")}
}

// ParseContainer makes an observed container of a line: its name, hash, attempt and state,
// and then any of some attributes:
//
//	web:a#1 running
//	    in=net#1                the network container it joined (default net#1)
//	    created=5m              created so long ago (default 2h)
//	    up=5m                   started so long ago (default 1h)
//	    ended=3s exit=1 ran=2m  terminated so long ago, with an exit code, after having run so long (default 1h)
//	    crashes=3               crashes in a row before it
//	    restarts=3              attempts before it with the same hash (default: all)
//	    failed=not|found        its start failed, with | for spaces
//	    uid=other               of another UID
//	    unhealthy=refused       its liveness probe failed
//	    killed=Unhealthy        the kubelet stopped it for its liveness probe, or another reason
//	    started                 its startup probe has succeeded
//	    sidecar=1               it is stopped so many turns after the apps
//	    disconnected            a network container that is in no network
//	    restarted               … that has ended before
//	    for=i                   … that was made for the init containers of this hash
//	    starting                the list is from before its start
//	    signalled               it ended after somebody had stopped it
//	    policy=always           Docker starts it again by itself
//	    oom                     the kernel killed it
//	    message=one|two         its termination message, with | between the lines
//	    grace=30                the seconds that its pod has to end
//	    asked=2                 created for the second restart by a person
func ParseContainer(tb testing.TB, line string) plan.Observed {
	tb.Helper()
	words := strings.Fields(line)
	head, attempt, ok1 := strings.Cut(words[0], "#")
	name, hash, ok2 := strings.Cut(head, ":")
	n, err := strconv.Atoi(attempt)
	if !ok1 || !ok2 || err != nil || len(words) < 2 {
		tb.Fatalf("%q is not a container", line)
	}
	var c plan.Observed
	c.Of = dockertools.NameParts{Name: name, Hash: hash, PodFullName: "p.default.test", UID: "u", Attempt: n}
	c.ID, c.Image, c.ImageID = name+"#"+attempt, "hello:1", "sha256:1"
	c.State = dockertools.State(words[1])
	c.ListState = c.State
	c.Created, c.Restarts = Now.Add(-2*time.Hour), n-1
	if c.IsNetwork() {
		c.Image, c.IP, c.Endpoint = "pause:1", "10.0.0.2", "endpoint"
		c.Labels = map[string]string{dockertools.LabelInit: ""}
	} else {
		c.NetworkContainer = "net#1"
	}
	up, ended, ran := time.Hour, time.Duration(0), time.Hour
	for key, value := range ParseAttributes(words[2:]) {
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
		case "restarts":
			c.Restarts = i
		case "asked":
			c.Restart = int64(i)
		case "failed":
			c.Error, c.ExitCode = strings.ReplaceAll(value, "|", " "), 127
		case "created":
			c.Created = Now.Add(-d)
		case "uid":
			c.Of.UID = value
		case "unhealthy":
			c.Unhealthy = "its liveness probe failed: " + value
		case "killed":
			c.Killed = plan.Problem{Reason: value, Message: "its liveness probe failed: refused"}
		case "started":
			c.StartupPassed = true
		case "sidecar":
			c.Labels = map[string]string{dockertools.LabelSidecar: value}
		case "disconnected":
			c.IP, c.Endpoint = "", ""
		case "restarted":
			c.FinishedAt = Now.Add(-24 * time.Hour)
		case "for":
			c.Labels[dockertools.LabelInit] = value
		case "starting":
			c.ListState, c.Endpoint = dockertools.StateCreated, ""
		case "policy":
			c.RestartPolicy = value
		case "signalled":
			c.Signalled = true
		case "oom":
			c.OOMKilled = true
		case "grace":
			c.Labels = map[string]string{dockertools.LabelGrace: value}
		case "message":
			c.TerminationMessage = strings.ReplaceAll(value, "|", "\n")
		default:
			tb.Fatalf("%q is not an attribute", key)
		}
	}
	c.CreatedAt = c.Created
	switch {
	case c.State.Live():
		c.StartedAt = Now.Add(-up)
	case c.State.Ended():
		c.FinishedAt = Now.Add(-ended)
		c.StartedAt = c.FinishedAt.Add(-ran)
	}
	return c
}

// Make plans at the time Now. A network container was made for today's init containers if its line does not say for which.
func Make(pod *plan.Pod, containers []plan.Observed, limits plan.Limits) plan.Plan {
	for i := range containers {
		if labels := containers[i].Labels; pod != nil && labels != nil && labels[dockertools.LabelInit] == "" {
			labels[dockertools.LabelInit] = pod.InitHash()
		}
	}
	return plan.Make(pod, containers, limits, Now)
}

// ParseAttributes returns the values of words of the form key=value.
func ParseAttributes(words []string) map[string]string {
	m := map[string]string{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		m[key] = value
	}
	return m
}

package v1

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
)

// Convert turns the manifest of a pod into a v1 manifest that behaves the same here. probePeriod is the time between two probes
// in a manifest of 2014. The notes say what differs in a cluster, the errors what v1 cannot express.
func Convert(pod *api.Pod, probePeriod time.Duration) (m api.ContainerManifest, notes []string, errs api.Mistakes) {
	m = pod.Manifest.Clone()
	note := func(applies bool, text string) {
		if applies && !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	isV1 := m.Version == api.VersionV1
	note(isV1, "this is a v1 Pod already: its own file also works with kubectl, and has what is left out here, such as dnsPolicy")
	note(m.UUID != "", "left out: the uuid "+m.UUID+"; a cluster gives each pod its own")
	note(len(m.Ignored) > 0, "left out, since kubelet14 does not use it: "+strings.Join(m.Ignored, ", "))
	note(len(m.Services) > 0, "the services of its namespace work in a cluster, too: apply their files")
	for _, ref := range m.ConfigRefs() {
		note(ref.Kind == api.KindSecret, "it needs Secret "+ref.Name+", which is printed nowhere: apply its own file")
	}
	note(m.ID == "", "the manifest has no id: this name comes from the path of its file")
	m.ID, m.UUID = pod.Name, ""
	if isV1 {
		return m, notes, nil
	}
	m.Version, m.TerminationGracePeriodSeconds = api.VersionV1, new(int64(10))
	if len(m.Containers) == 0 {
		errs.Add("containers", "v1 has no pod without containers: add one that only waits, or remove the pod")
	}
	note(m.RestartPolicy.Never == nil, "a crashing container waits 10 s to 5 min for its next start; in kubelet14 1 s to -max_restart_backoff")
	for i, v := range m.Volumes {
		m.Volumes[i].Source = cmp.Or(v.Source, &api.VolumeSource{EmptyDir: &api.EmptyDir{}})
		if dir := m.Volumes[i].Source.HostDir; dir != nil {
			note(true, fmt.Sprintf("%q must be on the node that gets the pod; a type such as Directory checks that", dir.Path))
			if slices.Contains(strings.Split(dir.Path, "/"), "..") {
				errs.Add(fmt.Sprintf("volumes[%d].source.hostDir.path", i), "v1 allows no '..': write the path without")
			}
		}
	}
	period := int64(max(probePeriod.Round(time.Second), time.Second) / time.Second)
	for i := range m.Containers {
		c := &m.Containers[i]
		note(c.Lifecycle != nil && c.Lifecycle.PostStart != nil && i+1 < len(m.Containers),
			"containers start one after the other, each after the postStart hook of the one before; in kubelet14 side by side")
		for j, port := range c.Ports {
			letter := strings.ContainsAny(port.Name, "abcdefghijklmnopqrstuvwxyz")
			if port.Name != "" && (len(port.Name) > 15 || !letter || strings.Contains(port.Name, "--")) {
				errs.Add(fmt.Sprintf("containers[%d].ports[%d].name", i, j),
					"v1 does not allow %q: use at most 15 characters, with a letter and without '--'", port.Name)
			}
		}
		convertContainer(c, period, note)
	}
	return m, notes, errs
}

// reference matches the text to escape, because in v1 $(NAME) is a variable and $$ means $.
var reference = regexp.MustCompile(`\$\$+|\$\(`)

// convertContainer writes out the defaults of 2014 for missing fields.
func convertContainer(c *api.Container, period int64, note func(applies bool, text string)) {
	escape := func(text *string) {
		note(reference.MatchString(*text), "$( became $$( and $$ became $$$$: v1 replaces variables")
		*text = reference.ReplaceAllStringFunc(*text, func(s string) string { return strings.ReplaceAll(s, "$", "$$") })
	}
	for i := range c.Command {
		escape(&c.Command[i])
	}
	for i := range c.Env {
		escape(&c.Env[i].Value)
	}
	note(api.IsLatest(c.Image) && c.ImagePullPolicy != api.PullAlways && c.ImagePullPolicy != api.PullNever,
		"an image that is latest is pulled at every start, and with IfNotPresent once; in kubelet14 for each version of the container")
	note(len(c.Command) > 0, "command became args: the image's ENTRYPOINT stays")
	note(c.CPU > 0, "cpu became requests.cpu, which a node must have free")
	note(c.CPU == 0, "a container without cpu has the least share; in kubelet14 that of a whole core")
	note(c.Memory > 0, "limits.memory is also what a node must have free")
	note(c.Privileged, "privileged: the namespace must allow it")
	c.TerminationMessagePolicy = api.MessageFallbackToLogs

	unquote := func(port *api.IntOrString) {
		if number, err := strconv.Atoi(port.Str); err == nil {
			*port = api.IntOrString{Int: number}
		}
	}
	if p := c.LivenessProbe; p != nil {
		p.InitialDelaySeconds = cmp.Or(p.InitialDelaySeconds, period)
		p.PeriodSeconds, p.TimeoutSeconds, p.SuccessThreshold, p.FailureThreshold = period, 5, 1, 1
		unquote(&cmp.Or(p.HTTPGet, &api.HTTPGetAction{}).Port)
		unquote(&cmp.Or(p.TCPSocket, &api.TCPSocketAction{}).Port)
		note(p.Exec != nil && reference.MatchString(strings.Join(p.Exec.Command, " ")),
			"in the command of the livenessProbe $$ and variables in $( ) are replaced; in kubelet14 they are not")
	}
	hooks := cmp.Or(c.Lifecycle, &api.Lifecycle{})
	for _, hook := range []*api.Handler{hooks.PostStart, hooks.PreStop} {
		if hook != nil && hook.HTTPGet != nil {
			hook.HTTPGet.Port = cmp.Or(hook.HTTPGet.Port, api.IntOrString{Int: 80})
			unquote(&hook.HTTPGet.Port)
			note(true, "every answer to an httpGet hook is good; in kubelet14 its status must be 200 to 399")
		}
	}
}

package kubelet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
)

// todaysPod uses every field that no manifest of 2014 has.
func todaysPod() api.Pod {
	p := pod("web", "main")
	p.Manifest = api.ContainerManifest{
		Version: api.VersionV1, Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "a b"},
		Hostname: "www", HostAliases: []api.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"a", "b"}}},
		DNS: &api.DNSConfig{Nameservers: []string{"10.0.0.2"}, Searches: []string{"local"}, Options: []string{"ndots:2"}},
		Containers: []api.Container{{
			Name: "main", Image: "hello:1", Entrypoint: []string{"/bin/$(NAME)"}, Command: []string{"$(LATER)", "$$(NAME)", "$(IMAGE)"},
			Env: []api.EnvVar{
				{Name: "NAME", FieldPath: api.FieldName}, {Name: "NAMESPACE", FieldPath: api.FieldNamespace}, {Name: "UID", FieldPath: api.FieldUID},
				{Name: "NODE", FieldPath: api.FieldNodeName}, {Name: "HOST", FieldPath: api.FieldHostIP}, {Name: "IP", FieldPath: api.FieldPodIP},
				{Name: "URL", Value: "http://$(IP)/$(LATER)"}, {Name: "LATER", Value: "$(URL)!"},
			},
			CPULimit: 1500, TerminationMessagePolicy: api.MessageFile,
			SecurityContext: &api.SecurityContext{
				RunAsUser: new(int64(1000)), RunAsGroup: new(int64(2000)),
				CapAdd: []string{"NET_ADMIN"}, CapDrop: []string{"ALL"}, ReadOnlyRootFilesystem: true,
			},
		}},
	}
	return p
}

func TestTheSpecOfAPodOfToday(t *testing.T) {
	kl := specKubelet(t)
	kl.opts.NetworkContainerImage = "pause:1"
	pod := plan.NewPod(todaysPod(), "pause:1", time.Now(), lifecycleLabel)
	labels := func(more ...string) map[string]string {
		labels := kl.opts.Identity.Labels("k8s_.__uid-web_1")
		labels["kubelet14.origin"], labels["kubelet14.grace"] = "web.yaml", "30"
		labels["kubelet14.label/app"], labels["kubelet14.annotation/note"] = "web", "a b"
		for i := 0; i < len(more); i += 2 {
			labels[more[i]] = more[i+1]
		}
		return labels
	}
	check := func(c *plan.Container, want dockertools.ContainerSpec) {
		t.Helper()
		name := dockertools.NameParts{UID: pod.UID, Attempt: 1}
		want.Name = name.String()
		got, err := kl.containerSpec(pod, plan.Action{Name: name, Container: c, NetworkID: "id", PodIP: "10.1.2.3", Grace: pod.Grace})
		got.Mounts = nil
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, -want +got\n%s", err, diff)
		}
	}
	check(&pod.Apps[0], dockertools.ContainerSpec{
		Image: "hello:1", Entrypoint: []string{"/bin/web"}, Command: []string{"http://10.1.2.3/$(LATER)!", "$(NAME)", "$(IMAGE)"},
		Env: []string{"NAME=web", "NAMESPACE=default", "UID=uid-web", "NODE=host", "HOST=" + dockertools.HostIP(), "IP=10.1.2.3",
			"URL=http://10.1.2.3/$(LATER)", "LATER=http://10.1.2.3/$(LATER)!"},
		User: "1000:2000", CapAdd: []string{"NET_ADMIN"}, CapDrop: []string{"ALL"}, ReadOnlyRootFS: true, CPUShares: 1536, CPULimit: 1500, NetworkContainer: "id",
		Labels: labels("kubelet14.network_container", "id", "kubelet14.message_policy", "File"),
	})
	network := dockertools.ContainerSpec{
		Image: "pause:1", Labels: labels(), Hostname: "www", Network: "pods", Aliases: []string{"web", "web.default"},
		ExtraHosts: []string{"a:10.0.0.1", "b:10.0.0.1"},
		DNS:        &dockertools.DNSConfig{Nameservers: []string{"10.0.0.2"}, Searches: []string{"local"}, Options: []string{"ndots:2"}},
	}
	check(&pod.Network, network)
	network.Network, network.Hostname, network.Aliases = "host", "", nil
	pod.Manifest.HostNetwork, pod.Ports = true, []api.Port{{HostPort: 80, ContainerPort: 80}}
	check(&pod.Network, network)
}

func TestExpandReferences(t *testing.T) {
	vars := map[string]string{"A": "a", "B": "$(A)", "EMPTY": ""}
	for text, want := range map[string]string{
		"$(A)-$(B)-$(EMPTY)-$(C)": "a-$(A)--$(C)", "$$(A) $$$(A) $$$$(A)": "$(A) $a $$(A)",
		"$": "$", "a$": "a$", "$A ${A} $(A": "$A ${A} $(A", "$()": "$()", "$(A $(A)": "$(A $(A)", "(A) $((A))": "(A) $((A))",
	} {
		if got := expandReferences(text, vars); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The IP is that of the network container in which the container starts, also after that was replaced.
func TestAContainerIsCreatedWithTheIPOfItsPod(t *testing.T) {
	inWorld(t, func(w *world) {
		p := withInit(pod("web", "main"), "one")
		p.Manifest.InitContainers[0].Env = []api.EnvVar{{Name: "IP", FieldPath: api.FieldPodIP}}
		p.Manifest.Containers[0].Env = p.Manifest.InitContainers[0].Env
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "one"} }
		w.run(p)
		for range 2 {
			ip := ""
			for parts, c := range w.containers() {
				if parts.Name == "net" && c.State.Live() {
					ip = "IP=" + c.Details.IP
				}
			}
			for parts, c := range w.containers() {
				if parts.Name != "net" && parts.Attempt == w.newest(parts.Name) && (len(c.Spec.Env) != 1 || c.Spec.Env[0] != ip || ip == "IP=") {
					t.Errorf("container %q has %q, want %s", parts.Name, c.Spec.Env, ip)
				}
			}
			w.kill("web", "net", 0)
			settle()
		}
	})
}

// The label tells the grace of a pod whose manifest is gone. Its kubelet does not wait for the end of it.
func TestTheGraceOfAPod(t *testing.T) {
	for _, seconds := range []int64{-1, 0, 1, 30, 3600} { // -1: as in 2014
		inWorld(t, func(w *world) {
			hangs := func([]string) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 2 * time.Hour} }
			w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true, Exec: hangs} }
			p := hooked(pod("web", "main"))
			p.Manifest.Containers[0].Lifecycle.PostStart = nil
			grace := stopGrace
			if seconds >= 0 {
				p.Manifest.TerminationGracePeriodSeconds, grace = &seconds, time.Duration(seconds)*time.Second
			}
			w.run(p).end()
			k := w.start()
			if grace > 0 {
				wait(grace - time.Millisecond)
				w.check("just before the end of the grace", "web/main", "web/net")
				w.checkVolumes(p)
			}
			wait(time.Millisecond)
			w.check("after it")
			w.checkVolumes()
			if ran := slices.ContainsFunc(eventsOf(k), func(e api.Event) bool { return e.Reason == "preStop failed" }); ran != (grace > 0) {
				t.Errorf("with a grace of %v the preStop hook was run: %v", grace, ran)
			}

			k.set(p)
			settle()
			k.set()
			wait(0)
			began := time.Now()
			if k.end(); time.Since(began) > 2*time.Second {
				t.Errorf("in the middle of a stop the kubelet ends after %v", time.Since(began))
			}
		})
	}
}

// What is not at the path of a hostPath is the problem of its containers, in a sentence.
func TestAHostDirOfAnotherType(t *testing.T) {
	inWorld(t, func(w *world) {
		p := pod("web", "main")
		p.Manifest.Volumes[0].Source = &api.VolumeSource{HostDir: &api.HostDir{Path: w.rootDir, Type: api.HostDirFile}}
		waiting := w.run(p).main(w).State.Waiting
		if waiting == nil || waiting.Reason != api.ReasonHostDirMissing ||
			!strings.HasPrefix(waiting.Message, `cannot be created: volume "data": `+w.rootDir+` is not a File: `) {
			t.Errorf("it waits for %+v", waiting)
		}
	})
}

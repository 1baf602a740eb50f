package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// inServices gives pods services, each "NAME PORT" or "NAME PORT LABEL" with the label of the pods that it selects.
func inServices(pods []api.Pod, services ...string) []api.Pod {
	pods = slices.Clone(pods)
	for i := range pods {
		for _, text := range services {
			var name, label string
			port := api.Port{Protocol: api.ProtocolTCP}
			fmt.Sscan(text, &name, &port.ContainerPort, &label)
			pods[i].Manifest.Services = append(pods[i].Manifest.Services,
				api.Service{Name: name, Selector: map[string]string{label: ""}, Ports: []api.Port{port}})
		}
	}
	return pods
}

func labelled(p api.Pod, label string) api.Pod {
	p.Manifest.Labels = map[string]string{label: ""}
	return p
}

// checkGiven checks the names of a pod in the pod network, and the variables of its app whose names begin with
// DB_SERVICE_.
func (w *world) checkGiven(when, podName, names, env string) {
	w.t.Helper()
	id, got := w.id(podName, "main"), []string{}
	for _, c := range w.containers() {
		if c.ID == id {
			got = slices.DeleteFunc(slices.Clone(c.Spec.Env), func(env string) bool { return !strings.HasPrefix(env, "DB_SERVICE_") })
		}
	}
	if gotNames := w.netOf(podName).Spec.Aliases; strings.Join(gotNames, " ") != names || strings.Join(got, " ") != env {
		w.t.Errorf("%s: %s has the names %q and the variables %q, want %q and %q", when, podName, gotNames, got, names, env)
	}
}

// notes returns the containers of a pod whose status says that they are older than its services.
func (k *kubelet) notes(w *world, podName string) (notes string) {
	w.t.Helper()
	for _, pod := range k.statuses(w) {
		for _, c := range pod.Containers {
			if pod.Name == podName && c.State.Running != nil && strings.Contains(c.State.Running.Message, "services of its namespace have changed") {
				notes += c.Name + " "
			}
		}
		if pod.Phase != api.PodRunning || !pod.Ready {
			w.t.Errorf("pod %s is %s, ready %v", pod.Name, pod.Phase, pod.Ready)
		}
	}
	return notes
}

// A service that is added, changed or removed restarts nothing. A container that is created later gets its name and
// variables, even from a kubelet that has just started.
func TestServicesReachContainersAtTheirNextCreation(t *testing.T) {
	pods := []api.Pod{labelled(pod("db-1", "main"), "db"), pod("web", "main")}
	const dbName, webName = "db-1.default", "web.default"
	inWorld(t, func(w *world) {
		k := w.run(pods...)
		created := w.docker.Calls()["CreateContainer"]
		k.set(inServices(pods, "db 80 db")...)
		settle()
		w.checkGiven("with a service", "web", webName, "")
		w.checkGiven("with a service", "db-1", dbName, "")
		if db, web := k.notes(w, "db-1"), k.notes(w, "web"); db != "main net " || web != "main " {
			t.Errorf("with a service the status of db-1 is noted at %q and that of web at %q", db, web)
		}
		w.checkCalls("CreateContainer", created)

		w.kill("web", "main", 1)
		w.kill("db-1", "net", 137)
		settle()
		w.checkGiven("after a crash", "web", webName, "DB_SERVICE_HOST=db DB_SERVICE_PORT=80")
		w.checkGiven("after a crash", "db-1", "db.default db.default.svc db.default.svc.cluster.local "+dbName, "DB_SERVICE_HOST=db DB_SERVICE_PORT=80")
		if notes := k.notes(w, "db-1") + k.notes(w, "web"); notes != "" {
			t.Errorf("after a crash the status is noted at %q", notes)
		}

		created = w.docker.Calls()["CreateContainer"]
		k.set(inServices(pods, "db 81 db", "cache 80")...)
		settle()
		k.end()
		k = w.run(inServices(pods, "db 81 db", "cache 80")...)
		w.checkCalls("CreateContainer", created)
		if notes := k.notes(w, "db-1") + k.notes(w, "web"); notes != "main main " {
			t.Errorf("with an edit the status is noted at %q", notes)
		}
		w.kill("web", "main", 1)
		settle()
		w.checkGiven("a crash after a new start", "web", webName, "DB_SERVICE_HOST=db DB_SERVICE_PORT=81")

		k.set(pods...)
		settle()
		w.checkGiven("without services", "db-1", "db.default db.default.svc db.default.svc.cluster.local "+dbName, "DB_SERVICE_HOST=db DB_SERVICE_PORT=80")
		w.kill("db-1", "net", 137)
		settle()
		w.checkGiven("without services, after a crash", "db-1", dbName, "")
		for parts, c := range w.containers() {
			if _, labelled := c.Spec.Labels[dockertools.LabelServices]; labelled && c.ListState.Live() && parts.PodFullName == "db-1.default.file" {
				t.Errorf("%s has the label of services", c.Name)
			}
		}
	})
}

// A container's own variables win. A pod may want no variables of services, or be in the host's network.
func TestWhoGetsVariablesOfServices(t *testing.T) {
	own, off, host := pod("own", "main"), pod("off", "main"), labelled(pod("host", "main"), "db")
	own.Manifest.Version = api.VersionV1
	own.Manifest.Containers[0].Env = []api.EnvVar{{Name: "DB_SERVICE_PORT", Value: "mine"}, {Name: "DB_SERVICE_URL", Value: "$(DB_SERVICE_HOST):$(DB_PORT_80_TCP_PORT)"}}
	off.Manifest.EnableServiceLinks, host.Manifest.HostNetwork = new(false), true
	inWorld(t, func(w *world) {
		w.run(inServices([]api.Pod{own, off, host}, "db 80 db")...)
		w.checkGiven("own variables", "own", "own.default", "DB_SERVICE_HOST=db DB_SERVICE_PORT=mine DB_SERVICE_URL=db:80")
		w.checkGiven("enableServiceLinks: false", "off", "off.default", "")
		w.checkGiven("hostNetwork", "host", "", "")
	})
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.PodNetwork = dockertools.BridgeNetwork }
		if text := w.logged("0", func() { w.run(inServices([]api.Pod{own}, "db 80 db")...) }); !strings.Contains(text, "services have no names") {
			t.Errorf("in Docker's default network the log is\n%s", text)
		}
	})
}

// A service of one source may have the name of a pod, or of a service, of another.
func TestNamesThatTwoSourcesGive(t *testing.T) {
	of := func(source, name string, services ...string) api.Pod {
		p := inServices([]api.Pod{labelled(pod(name, "main"), "db")}, services...)[0]
		p.Source = source
		return p
	}
	one, two := of("file", "db-1", "db 80 db"), of("file", "db-2", "db 80 db")
	for want, pods := range map[string][]api.Pod{
		"": {one, two},
		"pods db-1.default.file and db.default.http both have the name db.default,":   {one, of("http", "db")},
		"pods db-1.default.file and db-3.default.etcd both have the name db.default,": {one, of("etcd", "db-3", "db 80 db")},
	} {
		inWorld(t, func(w *world) {
			text := w.logged("0", func() { w.run(pods...) })
			if !strings.Contains(text, want) || strings.Contains(text, "both have") != (want != "") {
				t.Errorf("the log is\n%s, want %q", text, want)
			}
		})
	}
}

// What containers get from services is computed before a status is asked for.
func TestServicesCostTheStatusNothing(t *testing.T) {
	var services []string
	for i := range 100 {
		services = append(services, fmt.Sprintf("service-%d 80", i))
	}
	inWorld(t, func(w *world) {
		allocs := func(services ...string) float64 {
			k := w.run(inServices([]api.Pod{pod("web", "main")}, services...)...)
			defer k.end()
			return testing.AllocsPerRun(10, func() { k.statuses(w) })
		}
		if none, hundred := allocs(), allocs(services...); hundred > 2*none {
			t.Errorf("a status takes %v allocations, with a hundred services %v", none, hundred)
		}
	})
}

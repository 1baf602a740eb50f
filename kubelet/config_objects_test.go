package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

// configured returns pod web: its container main has a variable and a volume of ConfigMap web.
func configured() api.Pod {
	p := pod("web", "main", "side")
	p.Manifest.Version = api.VersionV1
	p.Manifest.Volumes = append(p.Manifest.Volumes, api.Volume{Name: "files", Source: &api.VolumeSource{ConfigMap: &api.ObjectFiles{Name: "web"}}})
	main := &p.Manifest.Containers[0]
	main.Env = append(main.Env, api.EnvVar{Name: "COLOUR", ConfigMapKey: &api.KeyRef{Name: "web", Key: "colour"}})
	main.VolumeMounts = []api.VolumeMount{{Name: "files", MountPath: "/files"}}
	return p
}

// with is an update of a pod and of ConfigMap web with a colour.
func with(p api.Pod, colour string) api.PodUpdate {
	return api.PodUpdate{Op: api.SET, Pods: []api.Pod{p}, Configs: []*api.ConfigObject{{
		Kind: api.KindConfigMap, Name: "web", Namespace: "default", Source: "file", Origin: "web.yaml", Data: api.Values{"colour": []byte(colour)},
	}}}
}

// checkFile checks the file of the volume.
func (w *world) checkFile(uid, want string) {
	w.t.Helper()
	got, err := os.ReadFile(filepath.Join(w.rootDir, "pods", uid, "volumes/kubernetes.io~projected/files/colour"))
	if w.must(err); string(got) != want {
		w.t.Errorf("the file has %q, want %q", got, want)
	}
}

// A container whose ConfigMap is missing waits alone, at no cost, and starts at the moment it comes, with no crash behind it.
func TestContainerWaitsForItsConfigMap(t *testing.T) {
	inWorld(t, func(w *world) {
		p := configured()
		k := w.run(p)
		w.check("without the ConfigMap", "web/net", "web/side")
		main := k.main(w)
		if waiting := main.State.Waiting; waiting == nil || waiting.Reason != "CreateContainerConfigError" || !strings.Contains(waiting.Message, `no ConfigMap "web"`) {
			t.Errorf("main is %+v", main.State)
		}
		lists := w.docker.Calls()["ListContainers"]
		created := w.docker.Calls()["CreateContainer"]
		wait(time.Hour)
		if n := w.docker.Calls()["ListContainers"] - lists; n > 3*360 {
			t.Errorf("%d lists in an hour, with a tick each 10 s", n)
		}
		w.checkCalls("CreateContainer", created)
		k.updates <- with(p, "red")
		w.after(0, "with the ConfigMap", "web/main:COLOUR=red", "web/net", "web/side")
		if main := k.main(w); main.RestartCount != 0 || main.Last != nil || w.newest("main") != 1 {
			t.Errorf("main has a past: %+v", main)
		}
		w.checkFile(p.UID, "red")
	})
}

// An edit of a ConfigMap changes the files at once, and restarts nothing, also if no kubelet runs at that moment; the variables follow.
func TestEditOfAConfigMap(t *testing.T) {
	inWorld(t, func(w *world) {
		p := configured()
		k := w.startWith(with(p, "red"))
		settle()
		id := w.id("web", "main")
		w.checkFile(p.UID, "red")
		k.updates <- with(p, "blue")
		wait(0)
		w.checkFile(p.UID, "blue")
		stale := func(want bool) {
			t.Helper()
			if state := k.main(w).State.Running; state == nil || strings.Contains(state.Message, "ConfigMap or Secret has changed") != want {
				t.Errorf("main is %+v, stale is to be %v", state, want)
			}
		}
		stale(true)
		k.end()
		k = w.startWith(with(p, "green"))
		settle()
		w.checkFile(p.UID, "green")
		stale(true)
		w.checkID("web", "main", id, true)
		k.updates <- api.PodUpdate{Op: api.SET, Pods: []api.Pod{p}}
		settle()
		w.checkFile(p.UID, "green")
		if state := k.main(w).State.Running; state == nil || !strings.Contains(state.Message, `no ConfigMap "web"`) {
			t.Errorf("without it main is %+v", state)
		}
		w.checkID("web", "main", id, true)
		k.updates <- with(p, "green")
		w.kill("web", "main", 1)
		settle()
		w.checkID("web", "main", id, false)
		stale(false)
		k.updates <- api.PodUpdate{Op: api.SET}
		w.settle("without the pod")
		w.checkVolumes()
	})
}

// A kubelet that dies at any call leaves nothing that keeps the next one from the end.
func TestDeathWithAConfigMap(t *testing.T) {
	eachDeath(t, func(w *world, mortal func(life func())) {
		p := configured()
		mortal(func() {
			k := w.startWith(with(p, "red"))
			settle()
			k.updates <- with(p, "blue")
			settle()
			k.end()
		})
		w.startWith(with(p, "blue"))
		settle()
		colour := "COLOUR=blue" // it was created after the edit
		for _, name := range w.live() {
			if name == "web/main:COLOUR=red" {
				colour = "COLOUR=red"
			}
		}
		w.settle("after the death", "web/main:"+colour, "web/net", "web/side")
		w.checkFile(p.UID, "blue")
	})
}

package kubelet

import (
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// What stays different from the manifest is reported everywhere, and nothing counts as failing because of it.
func TestAnEditOfAPodThatStartsOnceIsSaidToBeTooLate(t *testing.T) {
	const late = "the manifest was edited after the pod had started"
	inWorld(t, func(w *world) {
		var k *kubelet
		web := func(tag string) api.Pod { return never(withInit(pod("web", "main:"+tag), "one:"+tag)) }
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "one", After: time.Second}
		}
		log := w.logged("0", func() {
			k = w.start(web("1"))
			wait(time.Second / 2)
			k.set(web("2"))
			w.settle("edited", "web/main:1", "web/net")
			settle()
		})
		if n := strings.Count(log, `container "main": `+late); n != 1 {
			t.Errorf("the log says it %d times:\n%s", n, log)
		}
		s := k.statuses(w)[0]
		if main := s.Containers[1].State.Running; s.Phase != api.PodRunning || main == nil || !strings.Contains(main.Message, late) {
			t.Errorf("the status is %+v", s)
		}
		k.end()
		if text := w.dryRun(web("2")); !strings.Contains(text, late) || strings.Contains(text, "as it should be") {
			t.Errorf("-dry_run says\n%s", text)
		}
		k = w.run(web("2"))
		w.kill("web", "main", 0)
		settle()
		s = k.statuses(w)[0]
		if main := s.Containers[1].State.Terminated; s.Phase != api.PodSucceeded || main == nil || !strings.Contains(main.Message, late) {
			t.Errorf("at the end the status is %+v", s)
		}
	})
}

// Another program has the port of a pod: while the start of its network container is tried again, nothing is created
// anew.
func TestAPortOfAnotherProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		port := []api.Port{{HostPort: 80, ContainerPort: 80, Protocol: api.ProtocolTCP}}
		other, err := w.docker.RunStranger(dockertools.ContainerSpec{Name: "other", Image: "hello:1", Ports: port})
		w.must(err)
		k := w.run(publish(pod("web", "main", "side"), 80))
		w.checkCalls("CreateContainer", 3)
		if s := k.statuses(w)[0]; s.Phase != api.PodFailing || !strings.Contains(s.Containers[2].State.Waiting.Message, "times") {
			t.Errorf("the status is %+v", s)
		}
		w.must(w.docker.ByHand().RemoveContainer(w.t.Context(), other))
		w.settle("the other has gone", "web/main", "web/net", "web/side")
		w.checkCalls("CreateContainer", 3)
	})
}

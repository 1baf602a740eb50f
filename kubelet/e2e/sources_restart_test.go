package e2e

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/config/etcdtest"
)

func TestIntegrationRestartWhileSourcesAreAway(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.etcd = etcdtest.Start(t)
	pods := []string{
		"edited.default.file", "leaves.default.file", "killed.default.file",
		"stays.default.http", "leaves.default.http", "stays.default.etcd", "leaves.default.etcd",
	}
	h.putSleepers(pods...)
	p := h.startWith(h.from("file", "http", "etcd")...)
	want := h.sleepersUp(pods...)
	p.kill()

	h.drop("leaves.default.http")
	h.drop("leaves.default.etcd")
	h.web.stop()
	h.etcd.Kill()
	p = h.startWith(h.from("file", "http", "etcd")...)
	p.says("HTTP source", h.web.url(), "connection refused")
	h.drop("leaves.default.file")
	h.removes(want, "leaves.default.file")
	h.replaces(want, "an edited file is followed", "edited.default.file", func(container) {
		h.put("edited.default.file", strings.ReplaceAll(sleeper("edited"), "sleep]", "sleep, -for, 1h]"))
	})
	p.says("Etcd source", h.etcd.Endpoint(), "connection refused")
	h.mends(want, "when both sources were found to be away", "killed.default.file")

	h.web.start()
	h.removes(want, "leaves.default.http")
	h.etcd.Restart()
	h.removes(want, "leaves.default.etcd")
	h.mends(want, "when its source is back", "stays.default.http")
	h.mends(want, "when its source is back", "stays.default.etcd")
}

func TestIntegrationRestartOnAnAnswerThatIsNoManifest(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	bad := []struct {
		name   string
		answer answer
		says   string // what is wrong with it; empty: nothing yet
	}{
		{"an-error", answer{http.StatusInternalServerError, "[]"}, "500 Internal Server Error"},
		{"an-object", answer{http.StatusOK, "{}"}, "/pods.yaml:1:1"},
		{"a-page", answer{http.StatusOK, "<html>\n<body>\n<h1>It works!</h1>\n</body>\n</html>\n"}, "/pods.yaml:1:1"},
		{"silence", answer{}, ""},
	}
	pods := []string{"stays.default.file", "pod.default.http", "other.default.http"}
	for _, b := range bad {
		pods = append(pods, b.name+".default.file")
	}
	h.putSleepers(pods...)
	p := h.startWith(h.from("file", "http")...)
	want := h.sleepersUp(pods...)

	for _, b := range bad {
		p.kill()
		h.web.says(&b.answer)
		h.drop(b.name + ".default.file")
		p = h.startWith(h.from("file", "http")...)
		h.web.asked(1)
		if b.says != "" {
			p.says("HTTP source", h.web.url(), b.says)
		}
		h.removes(want, b.name+".default.file")
		h.mends(want, "while the web server answers with "+b.name, "stays.default.file")
	}

	h.drop("pod.default.http")
	h.web.says(nil)
	h.removes(want, "pod.default.http")
	h.mends(want, "when the web server has answered at last", "other.default.http")
}

func TestIntegrationASourceThatIsNoLongerGivenLosesItsPods(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.file", "pod.default.http")
	p := h.startWith(h.from("file", "http")...)
	want := h.sleepersUp("pod.default.file", "pod.default.http")
	p.stop()
	h.startWith(h.from("file")...)
	h.removes(want, "pod.default.http")
	h.mends(want, "when the pods of another source are gone", "pod.default.file")
}

func TestIntegrationAPodMovesToAnotherSourceWithItsVolume(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	manifest := strings.ReplaceAll(emptyDirPod, "UUID", "uuid: "+h.hostname)
	h.put("pod.default.file", manifest)
	p := h.startWith(h.from("file", "http")...)
	log := filepath.Join(h.emptyDirs(h.hostname), "data", "log")
	h.eventually("the pod has written into its volume", func() error { return fileHolds(log, "begun\n") })
	p.stop()

	h.drop("pod.default.file")
	h.put("pod.default.http", manifest)
	h.web.says(&answer{}) // nothing yet
	h.startWith(h.from("file", "http")...)
	h.eventually("the pod that is no longer wanted goes", func() error { return h.gone("pod.default.file") })
	h.web.says(nil)
	h.eventually("the pod is up where it has moved to", func() error { return h.whole("pod.default.http", "main", "writer") })
	h.eventually("it goes on with the volume", func() error { return fileHolds(log, "begun\nbegun\n") })
}

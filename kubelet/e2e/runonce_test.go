package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// runOnce runs -runonce on the directory of manifests.
func (h *host) runOnce() result {
	h.t.Helper()
	return h.run("-config="+h.manifests, "-runonce")
}

// mustPrint checks the table that -runonce prints: it has exactly the given pods, each
// with its words in its row or in those of its containers.
func (r result) mustPrint(t *testing.T, pods map[string][]string) {
	t.Helper()
	printed := map[string]string{} // the rows of each pod
	name := ""
	for i, line := range strings.Split(strings.TrimSpace(r.stdout), "\n") {
		if !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(line, " ")
		}
		if i > 0 {
			printed[name] += line + "\n"
		}
	}
	for id, words := range pods {
		if err := hasWords(printed[fullName(id)], words); err != nil {
			t.Errorf("pod %s: %v", id, err)
		}
	}
	if len(printed) != len(pods) {
		t.Errorf("it should print %d pods:\n%s%s", len(pods), r.stdout, r.stderr)
	}
}

func TestIntegrationRunOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod", twoContainers("pod"))
	h.writeSleepers("other")
	h.write("job", job("job", "/hello, env"))
	want := map[string][]string{"pod": {"running"}, "other": {"running"}, "job": {"succeeded", "Completed"}}
	once := func() {
		t.Helper()
		r := h.runOnce()
		r.mustExit(t, 0)
		r.mustPrint(t, want)
	}
	once()
	h.must(errors.Join(h.whole("pod", "main", "side"), h.up("other"), h.exited(h.newest("job", "main"))))
	before, done := h.ids(), h.newest("job", "main")
	once()
	h.mustBe("after a second run", before)
	if now := h.newest("job", "main"); now.id != done.id {
		t.Errorf("the job has run twice: %s, before %s", now, done)
	}
	// A pod that is not given may be another run's.
	h.remove("other")
	delete(want, "other")
	once()
	h.mustBe("after a run with one file less", before)
}

// Each pod fails for its own reason, and the others come up.
func TestIntegrationRunOnceSaysWhyAPodFailed(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	port := freePort(t)
	taken, release := takePort(t)
	defer release()
	absent := h.registry.Addr() + "/web:2"
	h.registry.Push("web:1")
	for id, manifest := range map[string]string{
		"good":   sleeper("good"),
		"first":  server("first", port),
		"second": server("second", port),
		"never":  imagePod("never", "kubelet14/no-such-image:7", "imagePullPolicy: PullNever"),
		"absent": imagePod("absent", absent),
		"port":   server("port", taken),
		"late":   job("late", `/hello, sleep, -for, 4s, -exit, "9"`),
		"unread": strings.ReplaceAll(sleeper("unread"), "image", "imgae"),
	} {
		h.write(id, manifest)
	}
	r := h.runOnce()
	r.mustExit(t, 1, filepath.Join(h.manifests, "unread.yaml")+":4:18: containers[0].imgae")
	r.mustPrint(t, map[string][]string{
		"good": {"running"}, "first": {"running"},
		"second": {"failed", fmt.Sprintf("%d/tcp", port), "first.default.file"},
		"never":  {"failed", `"main"`, "kubelet14/no-such-image:7", "never pulled"},
		"absent": {"failed", absent, "ImageNotFound"},
		"port":   {"failed", `"net"`, "address already in use"},
		"late":   {"failed", `"main"`, "exit code 9"},
	})
	h.mustHaveAsked(1, "by the end", "web:2") // it does not wait for what the registry does not have
	h.check(h.up("good", "first"))
	h.check(h.gone("second", "unread"))
}

func TestIntegrationRunOnceOnSourcesThatFail(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.file", "pod.default.http")
	once := func(flags ...string) result { return h.run(append(h.from("file", "http"), flags...)...) }
	once("-runonce", "-docker_endpoint=unix://"+h.dir+"/no.sock").mustExit(t, 1, "cannot reach Docker at unix://"+h.dir+"/no.sock")
	h.run("-runonce", "-config="+h.dir+"/missing").mustExit(t, 1, "-config="+h.dir+"/missing does not exist")
	h.web.answers(&answer{})
	once("-runonce", "-runonce_timeout=3s").mustExit(t, 1, "http", "-runonce_timeout")
	h.must(h.gone("pod")) // it did not begin without knowing all pods
	h.web.answers(&answer{404, ""})
	r := once("-runonce")
	r.mustExit(t, 1, "http", h.web.address, "404 Not Found")
	r.mustPrint(t, map[string][]string{"pod": {"running"}})
	h.check(h.up("pod.default.file"))
}

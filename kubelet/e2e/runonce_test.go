package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// runOnce runs -runonce on the directory of manifests.
func (h *host) runOnce() hosttest.Result {
	h.T.Helper()
	return h.Run("-config="+h.Manifests, "-runonce")
}

// mustPrint checks the table that -runonce prints: it has exactly the given pods, each
// with its words in its row or in those of its containers.
func mustPrint(t *testing.T, r hosttest.Result, pods map[string][]string) {
	t.Helper()
	printed := map[string]string{} // the rows of each pod
	name := ""
	for i, line := range strings.Split(strings.TrimSpace(r.Stdout), "\n") {
		if !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(line, " ")
		}
		if i > 0 {
			printed[name] += line + "\n"
		}
	}
	for id, words := range pods {
		if err := unittest.HasWords(printed[hosttest.FullName(id)], words...); err != nil {
			t.Errorf("pod %s: %v", id, err)
		}
	}
	if len(printed) != len(pods) {
		t.Errorf("it should print %d pods:\n%s%s", len(pods), r.Stdout, r.Stderr)
	}
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
		"good":   hosttest.Sleeper("good"),
		"first":  hosttest.Server("first", port),
		"second": hosttest.Server("second", port),
		"never":  imagePod("never", "kubelet14/no-such-image:7", "imagePullPolicy: PullNever"),
		"absent": imagePod("absent", absent),
		"port":   hosttest.Server("port", taken),
		"late":   hosttest.Job("late", `/hello, sleep, -for, 4s, -exit, "9"`),
		"unread": strings.ReplaceAll(hosttest.Sleeper("unread"), "image", "imgae"),
	} {
		h.Write(id, manifest)
	}
	r := h.runOnce()
	r.MustExit(t, 1, filepath.Join(h.Manifests, "unread.yaml")+":4:18: containers[0].imgae")
	mustPrint(t, r, map[string][]string{
		"good": {"running"}, "first": {"running"},
		"second": {"failed", fmt.Sprintf("%d/tcp", port), "first.default.file"},
		"never":  {"failed", `"main"`, "kubelet14/no-such-image:7", "never pulled"},
		"absent": {"failed", absent, "ImageNotFound"},
		"port":   {"failed", `"net"`, "address already in use"},
		"late":   {"failed", `"main"`, "exit code 9"},
	})
	h.Check(h.Up("good", "first"))
	h.Check(h.Gone("second", "unread"))
}

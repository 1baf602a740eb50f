package e2e

import (
	"strings"
	"testing"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/e2e/hosttest"
)

// newSourcesHost makes a host with a web server.
func newSourcesHost(t testing.TB) *host {
	t.Helper()
	h := newHost(t)
	h.web = hosttest.NewWebServer(t)
	return h
}

func (h *host) startFrom(sources ...string) *hosttest.Process {
	h.T.Helper()
	return h.StartWith(h.from(sources...)...)
}

// from returns the flags that name sources.
func (h *host) from(sources ...string) []string {
	var flags []string
	for _, source := range sources {
		switch source {
		case "file":
			flags = append(flags, "-config="+h.Manifests, "-file_check_frequency=1s")
		case "http":
			flags = append(flags, "-manifest_url="+h.web.URL(), "-http_check_frequency=50ms")
		case "etcd":
			flags = append(flags, "-etcd_servers="+h.etcd.Endpoint())
		}
	}
	return flags
}

// put writes the manifest of a pod into its source. The full name of the pod ends with
// the source.
func (h *host) put(pod, manifest string) {
	h.T.Helper()
	manifest = strings.ReplaceAll(manifest, "HELLO", dockertools.HelloImage)
	switch id, source, _ := strings.Cut(pod, ".default."); source {
	case "file":
		h.Write(id, manifest)
	case "http":
		h.web.Put(id, manifest)
	case "etcd":
		_, err := h.etcd.Client().Put(h.T.Context(), h.key(id), manifest)
		h.Must(err)
	}
}

func (h *host) putSleepers(pods ...string) {
	h.T.Helper()
	for _, pod := range pods {
		id, _, _ := strings.Cut(pod, ".default.")
		h.put(pod, hosttest.Sleeper(id))
	}
}

// drop takes a pod out of its source.
func (h *host) drop(pod string) {
	h.T.Helper()
	switch id, source, _ := strings.Cut(pod, ".default."); source {
	case "file":
		h.Remove(id)
	case "http":
		h.web.Drop(id)
	case "etcd":
		_, err := h.etcd.Client().Delete(h.T.Context(), h.key(id))
		h.Must(err)
	}
}

// key returns where etcd holds a pod of this host.
func (h *host) key(id string) string { return "/registry/hosts/" + h.Hostname + "/kubelet/" + id }

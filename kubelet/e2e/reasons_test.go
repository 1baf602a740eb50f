package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// Why a pod does not run is read from the table that the kubelet prints at SIGUSR1.
// Each pod is alone on its host but for one that must come up.
func TestIntegrationWhyIsItNotRunning(t *testing.T) {
	port := freePort(t)
	for _, test := range []struct {
		name     string
		manifest func(t *testing.T, h *host) string // of the pod "bad"
		says     map[string][]string                // by the row of the table: its state, then words of its reason
	}{
		{
			name: "it ends too quickly",
			manifest: func(*testing.T, *host) string {
				return strings.Replace(job("bad", `/hello, exit, "7"`), "never", "always", 1)
			},
			says: map[string][]string{
				"bad/":     {"running"},
				"bad/main": {"waiting", "BackOff: ", "ended with exit code 7", "times in a row", "started again at "},
				"bad/net":  {"running"},
			},
		},
		{
			name: "it ends too quickly, and has said why",
			manifest: func(*testing.T, *host) string {
				return strings.Replace(job("bad", `/hello, cat, /nosuch`), "never", "always", 1)
			},
			says: map[string][]string{
				"bad/main": {"waiting", "BackOff: ", "ended with exit code 1", "open /nosuch: no such file or directory", "started again at "},
			},
		},
		{
			name: "a program has its port",
			manifest: func(t *testing.T, _ *host) string {
				l, err := net.Listen("tcp", ":0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { l.Close() })
				return server("bad", l.Addr().(*net.TCPAddr).Port)
			},
			says: map[string][]string{
				"bad/":     {"pending"},
				"bad/main": {"waiting", "NetworkContainer: ", "address already in use"},
				"bad/net":  {"waiting", "PortTaken: ", "address already in use", "started again at "},
			},
		},
		{
			name: "another pod has its port",
			manifest: func(t *testing.T, h *host) string {
				h.write("a.yaml", server("a", port))
				return server("bad", port)
			},
			says: map[string][]string{
				"a/main":   {"running", "-"},
				"bad/":     {"pending", "PortTaken: ", fmt.Sprintf("host port %d/tcp is taken by pod a.default.file, which runs", port)},
				"bad/main": {"waiting", "PortTaken: ", "a.default.file"},
				"bad/net":  {"waiting", "PortTaken: ", "a.default.file"},
			},
		},
		{
			name:     "a directory of the host is missing",
			manifest: func(t *testing.T, _ *host) string { return withHostDir("bad", filepath.Join(t.TempDir(), "no-such")) },
			says: map[string][]string{
				"bad/":     {"pending"},
				"bad/main": {"waiting", "HostDirMissing: ", "no-such", "does not exist"},
				"bad/net":  {"running"},
			},
		},
		{
			name:     "its command is missing",
			manifest: func(*testing.T, *host) string { return strings.ReplaceAll(sleeper("bad"), "/hello", "/hullo") },
			says: map[string][]string{
				"bad/":     {"pending"},
				"bad/main": {"waiting", "CommandNotFound: ", "/hullo", "no such file or directory", "started again at "},
			},
		},
		{
			name:     "its command is no program",
			manifest: func(*testing.T, *host) string { return strings.ReplaceAll(sleeper("bad"), "/hello", "/tmp") },
			says:     map[string][]string{"bad/main": {"waiting", "CommandNotFound: ", "/tmp", "permission denied", "started again at "}},
		},
		{
			name:     "it has used too much memory",
			manifest: func(*testing.T, *host) string { return hungry("bad") },
			says:     map[string][]string{"bad/": {"failed"}, "bad/main": {"terminated", "OOMKilled"}, "bad/net": {"terminated", "Completed"}},
		},
		{
			name:     "it uses too much memory again and again",
			manifest: func(*testing.T, *host) string { return strings.Replace(hungry("bad"), "never", "always", 1) },
			says:     map[string][]string{"bad/main": {"waiting", "BackOff: ", "it used more than its memory limit"}},
		},
		{
			name:     "it has failed, and may not start again",
			manifest: func(*testing.T, *host) string { return job("bad", `/hello, cat, /nosuch`) },
			says:     map[string][]string{"bad/": {"failed"}, "bad/main": {"terminated", "Error (exit code 1): ", "/nosuch"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("good.yaml", sleeper("good"))
			h.write("bad.yaml", test.manifest(t, h))
			p := h.start("-max_restart_backoff=1m")
			h.eventually("the good pod is up", func() error { return h.sleepersAre("good") })
			h.eventually("it is said why the bad one is not", func() error {
				table, err := p.status()
				for row, words := range test.says {
					if err == nil {
						err = table.shows(row, words[0], words[1:]...)
					}
				}
				return err
			})
		})
	}
}

// withHostDir is a sleeper with a directory of the host.
func withHostDir(id, dir string) string {
	return strings.Replace(sleeper(id), "[/hello, sleep]", "[/hello, sleep], volumeMounts: [{name: data, mountPath: /data}]", 1) +
		"volumes: [{name: data, source: {hostDir: {path: " + dir + "}}}]\n"
}

func TestIntegrationADirectoryThatComesLaterIsTakenThen(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	dir := filepath.Join(t.TempDir(), "later")
	h.write("pod.yaml", withHostDir("pod", dir))
	p := h.start("-sync_frequency=1s")
	h.eventually("it waits", func() error { return p.shows("pod/main", "waiting", "HostDirMissing: ", dir) })
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h.eventually("the pod is up", func() error { return h.sleepersAre("pod") })
	h.eventually("nothing is held against it", func() error { return p.shows("pod/main", "running", "-") })
	table, err := p.status()
	if err != nil || table.rows["pod/main"] != (statusRow{"running", 0, "-"}) {
		t.Errorf("of the pod it says %+v, %v", table.rows["pod/main"], err)
	}
}

func TestIntegrationAPodWhoseUUIDIsTakenSaysSo(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	manifest := sleeper("pod") + "uuid: " + h.hostname + "\n"
	h.put("pod.default.file", manifest)
	p := h.startWith(h.from("file", "http")...)
	h.eventually("the first pod is up", func() error { return h.whole("pod.default.file", "main") })
	h.put("pod.default.http", manifest)
	h.eventually("the second one says what it waits for", func() error {
		return p.shows("pod.default.http/", "pending", "UUIDTaken: ", h.hostname, "pod.default.file", "another uuid")
	})
	if err := p.shows("pod/main", "running", "-"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationABrokenEditShowsWhileTheOldFormRuns(t *testing.T) {
	for _, test := range []struct {
		name, manifest string
		says           []string
	}{
		{"it cannot be read", strings.Replace(sleeper("pod"), "image", "imgae", 1), []string{"pod.yaml:4:18: containers[0].imgae", "unknown field"}},
		{"it asks for privileged mode", strings.Replace(sleeper("pod"), "image:", "privileged: true, image:", 1), []string{"pod.yaml:", "privileged", "-allow_privileged"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("pod.yaml", sleeper("pod"))
			p := h.start()
			h.eventually("the pod is up", func() error { return h.sleepersAre("pod") })
			before := h.ids()
			h.write("pod.yaml", test.manifest)
			h.eventually("the error is said beside the pod", func() error {
				table, err := p.status()
				if err == nil {
					err = table.sourceSays(append(test.says, "failing since")...)
				}
				if err == nil {
					err = table.shows("pod/main", "running", "-")
				}
				return err
			})
			h.mustBe("while its manifest is broken", before)

			h.write("pod.yaml", sleeper("pod"))
			h.eventually("nothing is said any more", func() error {
				table, err := p.status()
				if err == nil && strings.Contains(table.sources, "failing") {
					err = fmt.Errorf("the source still fails:\n%s", table.text)
				}
				return err
			})
			h.mustBe("when it is mended as it was", before)
		})
	}
}

// A pod that was never good is not among the pods; its error is said all the same.
func TestIntegrationTheErrorOfASourceWithoutPodsIsSaid(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", strings.Replace(sleeper("pod"), "image", "imgae", 1))
	p := h.start()
	h.eventually("the error is said", func() error {
		table, err := p.status()
		if err == nil {
			err = table.sourceSays("failing since", "containers[0].imgae")
		}
		return err
	})
}

func TestIntegrationAPodThatIsBeingRemovedSaysSo(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", strings.ReplaceAll(sleeper("pod"), "sleep]", "sleep, -ignore-term]"))
	h.write("other.yaml", sleeper("other"))
	p := h.start()
	h.eventually("the pods are up", func() error { return h.sleepersAre("pod", "other") })
	stubborn := h.stubborn("pod")
	h.remove("pod.yaml")
	h.eventually("it is said", func() error { return p.shows("pod/", "running", "Removed: ") })
	if err := p.shows("pod/main", "running"); err != nil {
		t.Error(err)
	}
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: stubborn.id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("the pod is gone, and nothing more is said of it", func() error {
		table, err := p.status()
		if _, there := table.rows["pod/"]; err == nil && there {
			err = fmt.Errorf("it is there:\n%s", table.text)
		}
		return err
	})
}

func TestIntegrationWithoutDockerThereIsNoTableButTheReason(t *testing.T) {
	t.Parallel()
	d := newDockerd(t)
	d.start()
	d.makeImage()
	h := newHostOn(t, d.endpoint)
	h.write("pod.yaml", sleeper("pod"))
	p := h.start()
	h.eventually("the pod is up", func() error { return h.sleepersAre("pod") })
	d.end("KILL")
	h.eventually("it says that there is no Docker", func() error {
		if _, err := p.status(); err == nil || !strings.Contains(err.Error(), "cannot reach Docker at "+d.endpoint) {
			return fmt.Errorf("without Docker it says %v", err)
		}
		return nil
	})
	if !p.running() {
		t.Error("the kubelet has ended")
	}
	d.start()
	h.eventually("with Docker there is a table again", func() error { return p.shows("pod/main", "running") })
}

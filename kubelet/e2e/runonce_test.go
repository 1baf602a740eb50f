package e2e

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// job is a pod that runs one command, to its end, once.
func job(id, command string) string {
	return "version: v1beta1\nid: " + id + "\nrestartPolicy: {never: {}}\ncontainers:\n  - {name: main, image: HELLO, command: [" + command + "]}\n"
}

// server is a pod that holds a port of the host.
func server(id string, port int) string {
	return fmt.Sprintf(`version: v1beta1
id: %s
containers:
  - name: main
    image: HELLO
    command: [/hello, serve, -port, "80"]
    ports: [{containerPort: 80, hostPort: %d}]
`, id, port)
}

// tableRow is a line of what -runonce prints.
type tableRow struct{ state, from, reason string }

// table reads what -runonce prints: its rows by the id of the pod.
func (r result) table(t *testing.T) map[string]tableRow {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	columns := []int{0}
	for _, title := range []string{"STATE", "FROM", "REASON"} {
		columns = append(columns, strings.Index(lines[0], title))
	}
	rows := map[string]tableRow{}
	for _, line := range lines[1:] {
		var cells []string
		for i, from := range columns {
			to := len(line)
			if i+1 < len(columns) {
				to = columns[i+1]
			}
			if from < 0 || from > to || to > len(line) {
				t.Fatalf("-runonce prints no table:\n%s\n%s", r.stdout, r.stderr)
			}
			cells = append(cells, strings.TrimSpace(line[from:to]))
		}
		rows[strings.TrimSuffix(cells[0], ".default.file")] = tableRow{cells[1], cells[2], cells[3]}
	}
	return rows
}

// runOnce runs the host's kubelet with -runonce on its directory of manifests.
func (h *host) runOnce(flags ...string) result {
	h.t.Helper()
	return h.run(append([]string{"-config=" + h.manifests, "-runonce"}, flags...)...)
}

func TestIntegrationRunOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", twoContainers)
	h.write("job.yaml", job("job", "/hello, env"))
	h.write("other.yaml", sleeper("other"))

	r := h.runOnce()
	want := map[string]tableRow{
		"pod":   {"running", filepath.Join(h.manifests, "pod.yaml"), "-"},
		"other": {"running", filepath.Join(h.manifests, "other.yaml"), "-"},
		"job":   {"finished", filepath.Join(h.manifests, "job.yaml"), "-"},
	}
	got := r.table(t)
	if r.exit != 0 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("exit %d, want 0, and the table is %v, want %v\n%s", r.exit, got, want, r.stderr)
	}
	if err := h.wholeAll(); err != nil {
		t.Errorf("the pods have not stayed: %v", err)
	}
	done := h.newest("job", "main")
	if detail, err := h.inspect(done.id); err != nil || detail.State.Running || detail.State.ExitCode != 0 {
		t.Errorf("the job is %s: %v", done, err)
	}
	before := h.ids()

	r = h.runOnce()
	if got := r.table(t); r.exit != 0 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a second run: exit %d, want 0, and the table is %v, want %v\n%s", r.exit, got, want, r.stderr)
	}
	h.mustBe("after a second run", before)
	if now := h.newest("job", "main"); now.id != done.id {
		t.Errorf("the job has run twice: %s, before %s", now, done)
	}

	// What is not given any more may be another run's.
	h.remove("other.yaml")
	r = h.runOnce()
	delete(want, "other")
	if got := r.table(t); r.exit != 0 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("with one file less: exit %d, want 0, and the table is %v, want %v\n%s", r.exit, got, want, r.stderr)
	}
	h.mustBe("after a run with one file less", before)
}

// newest returns the newest attempt of a container, dead or alive.
func (h *host) newest(id, name string) container {
	h.t.Helper()
	var found container
	for _, c := range h.containers() { // in the order of their names, in which fewer than 10 attempts are in order
		if c.pod == id+".default.file" && c.of == name && (found.id == "" || len(c.attempt) > len(found.attempt) || c.attempt > found.attempt) {
			found = c
		}
	}
	if found.id == "" {
		h.t.Fatalf("pod %s has no container %q\n%s", id, name, h.describe())
	}
	return found
}

// Each pod fails for a reason of its own, and the one beside it comes up.
func TestIntegrationRunOnceSaysWhyAPodFailed(t *testing.T) {
	for _, test := range []struct {
		name     string
		manifest func(t *testing.T) string
		flags    []string
		reason   []string // words
	}{
		{
			name: "an image is missing",
			manifest: func(*testing.T) string {
				return strings.ReplaceAll(sleeper("bad"), "HELLO", "kubelet14/no-such-image:7, imagePullPolicy: PullNever")
			},
			reason: []string{`"main"`, "kubelet14/no-such-image:7", "PullNever", "docker pull"},
		},
		{
			name: "a port of the host is taken",
			manifest: func(t *testing.T) string {
				l, err := net.Listen("tcp", ":0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { l.Close() })
				return server("bad", l.Addr().(*net.TCPAddr).Port)
			},
			reason: []string{`"net"`, "address already in use"},
		},
		{
			name:     "a command does not exist",
			manifest: func(*testing.T) string { return strings.ReplaceAll(sleeper("bad"), "/hello", "/hullo") },
			reason:   []string{`"main"`, "/hullo", "no such file"},
		},
		{
			name: "a directory of the host is missing",
			manifest: func(t *testing.T) string {
				return strings.ReplaceAll(sleeper("bad"), "[/hello, sleep]", "[/hello, sleep], volumeMounts: [{name: data, mountPath: /data}]") +
					"volumes: [{name: data, source: {hostDir: {path: " + filepath.Join(t.TempDir(), "no-such-directory") + "}}}]\n"
			},
			reason: []string{`"main"`, "no-such-directory", "does not exist"},
		},
		{
			name:     "a job fails",
			manifest: func(*testing.T) string { return job("bad", `/hello, exit, "3"`) },
			reason:   []string{`"main"`, "exit code 3"},
		},
		{
			name:     "a job fails when it has run for a while",
			manifest: func(*testing.T) string { return job("bad", `/hello, sleep, -for, 4s, -exit, "9"`) },
			reason:   []string{`"main"`, "exit code 9"},
		},
		{
			name: "a container crashes again and again",
			manifest: func(*testing.T) string {
				return strings.ReplaceAll(job("bad", `/hello, exit, "7"`), "never", "always")
			},
			flags:  []string{"-runonce_timeout=10s"},
			reason: []string{`"main"`, "exit code 7"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("good.yaml", sleeper("good"))
			h.write("bad.yaml", test.manifest(t))

			r := h.runOnce(test.flags...)
			rows := r.table(t)
			if r.exit != 1 || rows["good"].state != "running" || rows["bad"].state != "failed" || len(rows) != 2 {
				t.Fatalf("exit %d, want 1, and the table is\n%s\n%s", r.exit, r.stdout, r.stderr)
			}
			for _, word := range test.reason {
				if !strings.Contains(rows["bad"].reason, word) {
					t.Errorf("the reason does not say %q: %s", word, rows["bad"].reason)
				}
			}
			if err := h.whole("good", "main"); err != nil {
				t.Errorf("the good pod has not stayed: %v", err)
			}
		})
	}
}

func TestIntegrationRunOnceOfTwoPodsThatWantOnePort(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	port := freePort(t)
	h.write("first.yaml", server("first", port))
	h.write("second.yaml", server("second", port))

	r := h.runOnce()
	rows := r.table(t)
	if r.exit != 1 || rows["first"].state != "running" || rows["second"].state != "failed" {
		t.Fatalf("exit %d, want 1, and the table is\n%s\n%s", r.exit, r.stdout, r.stderr)
	}
	for _, word := range []string{fmt.Sprintf("host port %d/tcp", port), "first.default.file"} {
		if reason := rows["second"].reason; !strings.Contains(reason, word) {
			t.Errorf("the reason does not say %q: %s", word, reason)
		}
	}
	if err := h.whole("first", "main"); err != nil {
		t.Error(err)
	}
	if err := h.gone("second"); err != nil {
		t.Errorf("the pod that has no port was begun: %v", err)
	}
}

func TestIntegrationRunOnceWithABadManifestStartsTheOthers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("bad.yaml", strings.ReplaceAll(sleeper("bad"), "image", "imgae"))
	h.write("good.yaml", sleeper("good"))

	r := h.runOnce()
	if rows := r.table(t); r.exit != 1 || rows["good"].state != "running" || len(rows) != 1 {
		t.Fatalf("exit %d, want 1, and the table is\n%s\n%s", r.exit, r.stdout, r.stderr)
	}
	if want := filepath.Join(h.manifests, "bad.yaml") + ":4:18: containers[0].imgae"; !strings.Contains(r.stderr, want) {
		t.Errorf("the error does not say %q:\n%s", want, r.stderr)
	}
	if err := h.whole("good", "main"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationRunOnceNeedsManifestsAndDocker(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", sleeper("pod"))
	socket := filepath.Join(t.TempDir(), "no-docker.sock")
	missing := filepath.Join(t.TempDir(), "no-manifests")
	for _, test := range []struct {
		name string
		r    result
		want string
	}{
		{"Docker is not there", h.runOnce("-docker_endpoint=unix://" + socket), "cannot reach Docker at unix://" + socket},
		{"the manifests are not there", h.run("-config="+missing, "-runonce"), missing + ": no such file or directory"},
	} {
		if test.r.exit != 1 || !strings.Contains(test.r.stderr, test.want) {
			t.Errorf("%s: exit %d, want 1 and an error that says %q\n%s", test.name, test.r.exit, test.want, test.r.stderr)
		}
		if strings.Contains(test.r.stderr, "runonce_timeout") {
			t.Errorf("%s: it has waited for -runonce_timeout:\n%s", test.name, test.r.stderr)
		}
	}
	if err := h.gone("pod"); err != nil {
		t.Error(err)
	}
}

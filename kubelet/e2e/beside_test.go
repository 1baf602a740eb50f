package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestIntegrationSecondKubeletIsRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", sleeper("pod"))
	p := h.start()
	h.eventually("the pod is up", func() error { return h.sleepersAre("pod") })
	before := h.ids()

	second := h.startWith("-config=" + t.TempDir()) // to which the pod would be unwanted
	h.eventually("the second kubelet ends", func() error {
		if second.running() {
			return fmt.Errorf("it runs")
		}
		return nil
	})
	if code := second.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("the second kubelet ended with exit code %d, want 1", code)
	}
	second.said(fmt.Sprintf("another kubelet14 (pid %d)", p.cmd.Process.Pid))
	if now := h.ids(); !maps.Equal(before, now) {
		t.Errorf("the second kubelet changed containers:\nbefore %v\nafter  %v", before, now)
	}
	p.stop()
	h.start().says("pod pod.default.file", "is up") // the lock goes with its holder
}

func TestIntegrationDryRunBesideAKubelet(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", twoContainers)
	h.write("other.yaml", sleeper("other"))
	p := h.start()
	h.eventually("the pods are up", h.wholeAll)
	containers, files := h.describeWithoutTime(), tree(t, h.rootDir)

	plans := *h // the same kubelet, with other manifests
	plans.manifests = t.TempDir()
	plans.write("pod.yaml", strings.Replace(twoContainers, "[/hello, sleep]", "[/hello, sleep, -for, 1h]", 1))
	plans.write("new.yaml", "version: v1beta1\nid: new\nvolumes: [{name: v}]\ncontainers:\n"+
		"  - {name: main, image: HELLO, volumeMounts: [{name: v, mountPath: /v}]}\n")
	r := h.run("-dry_run", "-config="+plans.manifests)
	if r.exit != 0 {
		t.Errorf("-dry_run: exit %d\n%s", r.exit, r.stderr)
	}
	for _, want := range []struct{ pod, action string }{
		{"new", "create net (attempt 1)"},
		{"new", "create main (attempt 1)"},
		{"new", "start  main (attempt 1)"},
		{"other", "stop   main (attempt 1)"},
		{"other", "remove net (attempt 1)"},
		{"pod", "create main (attempt 2)"},
		{"pod", "stop   main (attempt 1)"},
		{"pod", "start  main (attempt 2)"},
	} {
		if !strings.Contains(planOf(r.stdout, want.pod), "  "+want.action+": ") {
			t.Errorf("the plan does not say that it would %q of pod %s", want.action, want.pod)
		}
	}
	if strings.Contains(r.stdout, " side (") {
		t.Error("the plan has an action on a container that is as it should be")
	}
	if now := h.describeWithoutTime(); now != containers {
		t.Errorf("-dry_run changed containers:\nbefore:\n%s\nafter:\n%s", containers, now)
	}
	if now := tree(t, h.rootDir); !slices.Equal(files, now) {
		t.Errorf("-dry_run changed the root_dir:\nbefore %v\nafter  %v", files, now)
	}
	if t.Failed() {
		t.Log("the plan:\n" + r.stdout)
	}
	p.stop()
}

func TestIntegrationCleanup(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", "version: v1beta1\nid: pod\nvolumes: [{name: v}]\ncontainers:\n"+
		"  - {name: main, image: HELLO, command: [/hello, append, /v/file, line], volumeMounts: [{name: v, mountPath: /v}]}\n"+
		"  - {name: failing, image: HELLO, command: [/hello, exit, '1']}\n")
	p := h.start()
	h.eventually("the pod is up, and has a dead container", func() error {
		live, dead := 0, 0
		for _, c := range h.containers() {
			if c.of == "main" && c.live() {
				live++
			} else if c.of == "failing" && c.state == "exited" {
				dead++
			}
		}
		if live != 1 || dead == 0 {
			return fmt.Errorf("%d containers live and %d are dead", live, dead)
		}
		return nil
	})
	main := h.live("pod", "main")

	r := h.run("-cleanup")
	if r.exit != 1 || !strings.Contains(r.stderr, "another kubelet14") {
		t.Errorf("-cleanup beside a kubelet: exit %d, want 1 and the reason:\n%s", r.exit, r.stderr)
	}
	if now := h.live("pod", "main"); now.id != main.id {
		t.Errorf("-cleanup beside a kubelet changed the pod: %s, before %s", now, main)
	}

	p.stop()
	if r := h.run("-cleanup"); r.exit != 0 {
		t.Errorf("-cleanup: exit %d\n%s", r.exit, r.stderr)
	}
	if left := h.containers(); len(left) > 0 {
		t.Errorf("-cleanup left containers %v", left)
	}
	for _, dir := range []string{"pods", "trash"} {
		if err := dirHolds(filepath.Join(h.rootDir, dir), nil); err != nil {
			t.Errorf("-cleanup left volumes: %v", err)
		}
	}
}

// describeWithoutTime is describe without what changes by itself.
func (h *host) describeWithoutTime() string {
	var b strings.Builder
	for _, c := range h.containers() {
		fmt.Fprintln(&b, c.name, c.id, c.state)
	}
	return b.String()
}

// planOf is the part of -dry_run's output about one pod.
func planOf(output, pod string) string {
	_, part, _ := strings.Cut("\n"+output, "\npod "+pod+".default.file ")
	part, _, _ = strings.Cut(part, "\npod ")
	return part
}

// tree lists all that is in a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

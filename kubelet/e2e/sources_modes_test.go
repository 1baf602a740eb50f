package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"kubelet14/config/etcdtest"
)

func TestIntegrationRunOnceWaitsForASlowWebServer(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.file", "pod.default.http")
	h.web.says(&answer{}) // nothing yet
	p := h.startWith(append(h.from("file", "http"), "-runonce")...)
	h.web.asked(1)
	h.web.says(nil)
	h.eventually("it ends", func() error {
		if p.running() {
			return fmt.Errorf("it runs")
		}
		return nil
	})
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	for _, pod := range []string{"pod.default.file", "pod.default.http"} {
		p.said(pod, " running ")
		if err := h.whole(pod, "main"); err != nil {
			t.Error(err)
		}
	}
}

func TestIntegrationRunOnceOnSourcesThatFail(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.file", "pod.default.http")
	once := func(flags ...string) result { return h.run(append(h.from("file", "http"), flags...)...) }

	if r := once("-runonce", "-etcd_servers=http://127.0.0.1:1"); r.exit != 2 || !strings.Contains(r.stderr, "etcd exclude") {
		t.Errorf("with etcd: exit %d, want 2 and that they exclude each other:\n%s", r.exit, r.stderr)
	}
	h.web.says(&answer{})
	if r := once("-runonce", "-runonce_timeout=3s"); r.exit != 1 || !strings.Contains(r.stderr, "(http): -runonce_timeout of 3s has passed") {
		t.Errorf("with a web server that hangs: exit %d, want 1 and the name of the source:\n%s", r.exit, r.stderr)
	}
	if started := h.containers(); len(started) > 0 {
		t.Fatalf("it has begun without knowing what all sources want: %v", started)
	}
	h.web.says(&answer{http.StatusNotFound, ""})
	r := once("-runonce")
	if rows := r.table(t); r.exit != 1 || rows["pod"].state != "running" || len(rows) != 1 {
		t.Errorf("with a page that is missing: exit %d, want 1, and the table is\n%s", r.exit, r.stdout)
	}
	for _, word := range []string{`source "http"`, h.web.url(), "404 Not Found"} {
		if !strings.Contains(r.stderr, word) {
			t.Errorf("with a page that is missing, it does not say %q:\n%s", word, r.stderr)
		}
	}
	if err := h.sleepersAre("pod.default.file"); err != nil {
		t.Error(err)
	}
}

func TestIntegrationDryRunSaysHowEachSourceDoes(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.etcd = etcdtest.Start(t)
	h.web.login = "reader:s3cret"
	h.putSleepers("a.default.file", "b.default.file", "a.default.http", "a.default.etcd", "b.default.etcd", "c.default.etcd")
	file := regexp.QuoteMeta("source file (" + h.manifests + "): ")
	web := regexp.QuoteMeta("source http (http://reader:xxxxx@" + h.web.address + "/pods.yaml): ")
	etcd := regexp.QuoteMeta("source etcd (/registry/hosts/" + h.hostname + "/kubelet at " + h.etcd.Endpoint() + "): ")
	const failing = "0 pods, failing since [0-9:]{8}, not read whole since the start:\n.*"
	dryRun := func(wantExit int, lines ...string) {
		t.Helper()
		r := h.run(append(h.from("file", "http", "etcd"), "-dry_run")...)
		if r.exit != wantExit {
			t.Errorf("exit %d, want %d", r.exit, wantExit)
		}
		for _, line := range lines {
			if !regexp.MustCompile("(?m)^" + line).MatchString(r.stdout) {
				t.Errorf("it does not print %q", line)
			}
		}
		if strings.Contains(r.stdout+r.stderr, "s3cret") {
			t.Error("it prints the password")
		}
		if t.Failed() {
			t.Fatalf("-dry_run prints\n%s\nand says\n%s", r.stdout, r.stderr)
		}
	}
	dryRun(0, file+"2 pods$", web+"1 pods$", etcd+"3 pods$", "pod b.default.file", "pod a.default.http", "pod c.default.etcd")
	h.web.says(&answer{http.StatusTeapot, ""})
	h.etcd.Kill()
	dryRun(1, file+"2 pods$", web+failing+"418 I'm a teapot", etcd+failing+"connection refused", "pod b.default.file")
	if _, err := os.Stat(h.rootDir); !os.IsNotExist(err) || len(h.containers()) > 0 {
		t.Errorf("-dry_run has made something: %v\n%s", err, h.describe())
	}
}

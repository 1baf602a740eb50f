package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

func TestIntegrationPodsAreAsOnDocker(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("web")
	h.write("done", job("done", `/hello, exit, "3"`))
	p := h.start()
	h.await("the pods have come up", func() error { return errors.Join(h.up("web"), h.ended("done")) })
	killed := h.live("web", "main")
	h.mend("web")
	main, net := h.mustInspect(h.live("web", "main").id), h.mustInspect(h.live("web", "net").id)
	done, last := h.mustInspect(h.newest("done", "main").id), h.mustInspect(killed.id)
	same := func(c containerStatus, d *docker.Container, image string, restarts int) error {
		_, s := c.state()
		running := c.State.Running != nil
		if running != d.State.Running || !s.StartedAt.Equal(d.State.StartedAt) || s.ExitCode != d.State.ExitCode ||
			!running && !s.FinishedAt.Equal(d.State.FinishedAt) || c.Image != image || c.RestartCount != restarts {
			return fmt.Errorf("/pods has %+v with %+v after %d restarts, and Docker %+v", c, s, restarts, d.State)
		}
		return nil
	}
	h.await("/pods is as Docker has it", func() error {
		pods, err := p.pods()
		web, job := pods["web"], pods["done"]
		if err != nil || len(pods) != 2 || len(web.Containers) != 2 || len(job.Containers) != 2 || web.Containers[0].Last == nil {
			return fmt.Errorf("%+v, %v", pods, err)
		}
		app := web.Containers[0]
		err = errors.Join(same(app, main, helloImage, 1), same(job.Containers[0], done, helloImage, 0))
		if l := app.Last; l.ExitCode != last.State.ExitCode || !l.FinishedAt.Equal(last.State.FinishedAt) || app.ImageID != main.Image {
			err = errors.Join(err, fmt.Errorf("the last attempt is %+v, want %+v", l, last.State))
		}
		if ip := net.NetworkSettings.IPAddress; web.PodIP != ip || web.Containers[1].PodIP != ip || job.PodIP != "" {
			err = errors.Join(err, fmt.Errorf("the addresses are %q and %q, want %s and none", web.PodIP, job.PodIP, ip))
		}
		if web.UID != h.uid("web") || !strings.HasSuffix(web.Origin, "web.yaml") || web.Phase != "running" || job.Phase != "failed" {
			err = errors.Join(err, fmt.Errorf("the pods are %+v and %+v", web, job))
		}
		return err
	})
}

func TestIntegrationMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("one", "two")
	h.write("bad", job("bad", `/hello, exit, "3"`))
	p := h.start()
	await := func(want map[string]float64) {
		t.Helper()
		h.await("the metrics", func() error {
			page, err := p.metrics()
			for words, value := range want {
				if got := page.sum(strings.Fields(words)...); err == nil && got != value {
					err = fmt.Errorf("%s: %v, want %v", words, got, value)
				}
			}
			return err
		})
	}
	await(map[string]float64{
		`kubelet_pods{ source="file" phase="running"`: 2,
		`kubelet_pods{ source="file" phase="failed"`:  1,
		`kubelet_pods{ source="file" phase="pending"`: 0,
		`kubelet_containers{ state="running"`:         4, // two network containers
		`kubelet_containers{ state="terminated"`:      2,
		`kubelet_container_restarts_total{`:           0,
		`kubelet_source_pods{ source="file"`:          3,
		`kubelet_docker_up `:                          1,
		`kubelet_healthy `:                            1,
	})
	h.mend("one")
	await(map[string]float64{`kubelet_container_restarts_total{ pod="one" container="main"`: 1, `kubelet_container_restarts_total{`: 1})
	page, err := p.metrics()
	if h.must(err); page.dockerCalls() < 10 || page.sum("kubelet_events_total ") < 1 || page.sum("process_resident_memory_bytes ") < 1 {
		t.Errorf("something is missing:\n%s", page)
	}
	h.write("one", strings.Replace(sleeper("one"), "image", "imgae", 1))
	await(map[string]float64{`kubelet_source_failing{ source="file"`: 1, `kubelet_pods{`: 3})
}

func TestIntegrationLogsOfAContainer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("short", job("short", `/hello, flood, -lines, "3", -bytes, "8"`))
	h.write("web", strings.Replace(job("web", `/hello, flood, -lines, "300", -every, 10ms`), "never", "onFailure", 1))
	p := h.start()
	const three, path = "1 xxxxx\n2 xxxxx\n3 xxxxx\n", "/containerLogs/default/web/main"
	h.await("it prints", func() error {
		log, err := p.ask("GET", path)
		if err == nil && (log.status != 200 || log.body == "") {
			err = fmt.Errorf("%+v", log)
		}
		return err
	})

	// Many follow a log, over a restart of its container.
	got := make([]string, 20)
	var all, following sync.WaitGroup
	for i := range got {
		following.Add(1)
		all.Go(func() {
			first := make([]byte, 1)
			resp, err := h.client().Get("http://localhost" + path + "?follow=1")
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadFull(resp.Body, first)
			}
			following.Done()
			if err != nil {
				t.Error(err)
				return
			}
			rest, err := io.ReadAll(resp.Body)
			if got[i] = string(first) + string(rest); err != nil {
				t.Error(err)
			}
		})
	}
	following.Wait() // each has got something of the first attempt
	h.kill("web", "main")
	all.Wait() // they end by themselves, since the second attempt succeeds
	attempts := h.of("web", "main")
	if len(attempts) != 2 {
		t.Fatalf("there are the attempts %v, want two", attempts)
	}
	killed, complete := h.logs(attempts[0].id), h.logs(attempts[1].id)
	if strings.Count(complete, "\n") != 300 || strings.Count(killed, "\n") >= 300 {
		t.Fatalf("the attempts have printed %d and %d lines", strings.Count(killed, "\n"), strings.Count(complete, "\n"))
	}
	for i, log := range got {
		if log != killed+complete {
			t.Errorf("follower %d got %d lines instead of %d, or other lines", i, strings.Count(log, "\n"), strings.Count(killed+complete, "\n"))
		}
	}
	if previous := p.mustAsk("GET", path+"?previous=1"); previous.body != killed {
		t.Errorf("the log of the previous attempt is %q", previous.body)
	}
	for query, want := range map[string]string{
		"": three, "?tail=2": "2 xxxxx\n3 xxxxx\n", "?tail=0": "", "?stdout=0": "", "?follow=1": three, // it never runs again
	} {
		if a := p.mustAsk("GET", "/containerLogs/default/short/main"+query); a.status != http.StatusOK || a.body != want {
			t.Errorf("%s: %d, %q; want %q", query, a.status, a.body, want)
		}
	}
	if a := p.mustAsk("GET", "/containerLogs/default/short/main?previous=1"); a.status != http.StatusNotFound {
		t.Errorf("the attempt before the first: %d, %q", a.status, a.body)
	}
}

// A command ends with its client.
func TestIntegrationCommands(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("web")
	p := h.start()
	h.awaitUp("web")
	p.awaitUp("web")
	const path = "/run/default/web/main?cmd=/hello&cmd="
	for _, test := range []struct{ command, body, exitCode string }{
		{"flood&cmd=-lines&cmd=2&cmd=-bytes&cmd=8", "1 xxxxx\n2 xxxxx\n", "0"},
		{"exit&cmd=3", "", "3"},
		{"cat&cmd=/no%20such%20file", "hello cat: open /no such file: no such file or directory\n", "1"},
	} {
		if a := p.mustAsk("POST", path+test.command); a.status != 200 || a.body != test.body || a.trailer.Get("Exit-Code") != test.exitCode {
			t.Errorf("%s: %+v", test.command, a)
		}
	}
	if a := p.mustAsk("GET", path+"exit&cmd=0"); a.status != http.StatusMethodNotAllowed {
		t.Errorf("with GET: %+v", a)
	}

	main := h.live("web", "main")
	awaitProcesses := func(want int) {
		t.Helper()
		h.await(fmt.Sprintf("the container has %d processes", want), func() error {
			top, err := h.docker.TopContainer(main.id, "")
			if err == nil && len(top.Processes) != want {
				err = fmt.Errorf("it has %d", len(top.Processes))
			}
			return err
		})
	}
	ctx, goAway := context.WithCancel(t.Context())
	defer goAway()
	for range 5 {
		for _, command := range []string{"sleep", "flood&cmd=-lines&cmd=1000000&cmd=-every&cmd=1ms"} { // silent, and not
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path+command, nil)
			h.must(err)
			go func() {
				if resp, err := h.client().Do(req); err == nil {
					<-ctx.Done()
					resp.Body.Close()
				}
			}()
		}
	}
	awaitProcesses(11)
	goAway()
	awaitProcesses(1)
	if now := h.live("web", "main"); now.id != main.id {
		t.Errorf("the container was replaced: %s, before %s", now, main)
	}
}

func TestIntegrationStatus(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	await := func(exit int, words ...string) {
		t.Helper()
		h.await(fmt.Sprintf("-status exits with %d and prints %q", exit, words), func() error {
			r := h.run("-status")
			if err := hasWords(r.stdout+r.stderr, words); r.exit != exit || err != nil {
				return fmt.Errorf("exit %d, %v", r.exit, err)
			}
			return nil
		})
	}
	h.run("-status").mustExit(t, 1, "unix:"+h.socket, "no kubelet answers")
	h.writeSleepers("good")
	p := h.start()
	p.awaitUp("good")
	await(0, "good.default.file", "running", "main")
	h.write("bad", job("bad", `/hello, exit, "3"`))
	await(1, "bad.default.file", "failed", "terminated", "Error (exit code 3)", "1 of 2 pods")
	h.remove("bad")
	h.write("typo", strings.Replace(sleeper("typo"), "image", "imgae", 1))
	await(1, "good.default.file", "running", "failing since", "typo.yaml:4:18: containers[0].imgae")
	h.remove("typo")
	await(0, "good.default.file", "running")
	p.kill()
	h.run("-status").mustExit(t, 1, "unix:"+h.socket, "no kubelet answers")
}

package server

import (
	"time"

	"kubelet14/api"
)

// everyKind is a kubelet in which everything happens at once that a page may have to show.
func everyKind(now time.Time) *fakeKubelet {
	back := func(d time.Duration) time.Time { return now.Add(-d) }
	running := func(name, image string, since time.Duration, message string) api.ContainerStatus {
		return api.ContainerStatus{Name: name, Image: image, State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: back(since), Message: message}}}
	}
	waiting := func(name, image, reason, message string, next time.Duration) api.ContainerStatus {
		w := &api.ContainerStateWaiting{Reason: reason, Message: message}
		if next > 0 {
			w.Next = now.Add(next)
		}
		return api.ContainerStatus{Name: name, Image: image, State: api.ContainerState{Waiting: w}}
	}
	ended := func(code int, reason, message string, since time.Duration) *api.ContainerStateTerminated {
		return &api.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message, StartedAt: back(since + time.Minute), FinishedAt: back(since)}
	}
	net := running(api.NetworkContainerName, "kubelet14/pause:1", time.Hour, "")
	net.PodIP = "172.17.0.5"

	crash := waiting("worker", "example/worker:2", api.ReasonBackOff, "it ended after 2s with exit code 3, for the 4th time", 8*time.Second)
	crash.RestartCount, crash.Last = 4, ended(3, api.ReasonError, "panic: no database\nat main.go:17", 7*time.Second)
	sick := running("server", "example/server:1.4", 20*time.Minute, "its liveness probe has failed 1 time: HTTP status 500")
	sick.RestartCount, sick.Last = 1, ended(137, api.ReasonUnhealthy, "it was stopped, since its liveness probe failed", 20*time.Minute)

	pod := func(name, namespace, source string, phase api.PodPhase, containers ...api.ContainerStatus) api.PodStatus {
		return api.PodStatus{
			Name: name, Namespace: namespace, Source: source, UID: "uid-" + name, Origin: "/etc/kubelet14/" + name + ".yaml",
			Phase: phase, PodIP: "172.17.0.5", Containers: append(containers, net),
		}
	}
	port := "port 6379/TCP of this host belongs to pod store.default.http"
	taken := pod("cache", "default", "file", api.PodPending, waiting("redis", "redis:8", api.ReasonPortTaken, port, 0))
	taken.Reason, taken.Message, taken.PodIP = api.ReasonPortTaken, port, ""
	taken.Containers[1].State = api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonPortTaken, Message: port}}
	stale := pod("web", "default", "file", api.PodRunning, running("writer", "kubelet14/hello:1", 3*time.Hour, ""), sick)
	stale.SourceError = "/etc/kubelet14/web.yaml:7:5: unknown field"
	gone := pod("old", "default", "http", api.PodRunning, running("main", "kubelet14/hello:1", 50*time.Hour, ""))
	gone.Reason, gone.Message = api.ReasonRemoved, "it is no longer wanted, and its containers are removed"
	job := api.ContainerStatus{Name: "job", Image: "kubelet14/hello:1", State: api.ContainerState{Terminated: ended(0, api.ReasonCompleted, "", 4*time.Minute)}}
	broken := api.ContainerStatus{Name: "job", Image: "kubelet14/hello:1", State: api.ContainerState{Terminated: ended(2, api.ReasonOOMKilled, "it took more memory than it may", 4*time.Minute)}}

	k := &fakeKubelet{
		load: api.Load{Workers: 9, Waiting: 1, Pulls: 2, Queued: 1},
		statuses: []api.PodStatus{
			taken,
			pod("crash", "default", "file", api.PodRunning, crash),
			pod("done", "default", "file", api.PodSucceeded, job),
			pod("failed", "batch", "http", api.PodFailed, broken),
			pod("fresh", "default", "http", api.PodPending, waiting("main", "example/large:9", api.ReasonPulling, "pulling: 34 MB of 112 MB", 0), waiting("side", "kubelet14/hello:1", api.ReasonCreating, "", 0)),
			gone, stale,
		},
	}
	for range 6 {
		k.desired = append(k.desired, api.Pod{})
	}
	for _, e := range []api.Event{
		{Time: back(3 * time.Hour), Pod: "web.default.file", Reason: "SET", Message: "it is wanted from now on"},
		{Time: back(3 * time.Hour), Pod: "web.default.file", Container: "writer", Reason: "started", Message: "attempt 1: the pod has no such container yet"},
		{Time: back(21 * time.Minute), Pod: "web.default.file", Container: "server", Reason: "unhealthy", Message: "HTTP status 500"},
		{Time: back(20 * time.Minute), Pod: "web.default.file", Reason: "UPDATE", Message: "its manifest has changed"},
		{Time: back(7 * time.Second), Pod: "crash.default.file", Container: "worker", Reason: api.ReasonBackOff, Message: "it ended after 2s with exit code 3, for the 4th time"},
	} {
		k.addEvent(e)
	}
	return k
}

// sourcesOfEveryKind are one that is read, one that fails and one that has not spoken.
func sourcesOfEveryKind(now time.Time) func() []api.SourceStatus {
	return func() []api.SourceStatus {
		return []api.SourceStatus{
			{Source: "file", Place: "/etc/kubelet14", Pods: 5, LastSuccess: now.Add(-2 * time.Minute), FailingSince: now.Add(-90 * time.Second), LastErrorAt: now, LastError: "/etc/kubelet14/web.yaml:7:5: unknown field \"imgae\"\n  6 |   - name: main\n> 7 |     imgae: nginx\n          ^"},
			{Source: "http", Place: "http://127.0.0.1:9000/pods", Pods: 2, LastSuccess: now.Add(-3 * time.Second)},
			{Source: "etcd", Place: "http://127.0.0.1:2379", Pods: 0},
		}
	}
}

package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/config/etcdtest"
)

func TestEtcdChangesCompactedWhileCutOff(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	for _, name := range []string{"gone", "changed", "kept"} {
		s.Ctl("put", etcdPods+name, manifest("", "1"))
	}
	way := etcdtest.NewProxy(t, s)
	r := runEtcd(t, way.Endpoint())
	r.await("changed=1 gone=1 kept=1")
	way.Cut()
	s.Ctl("del", etcdPods+"gone")
	s.Ctl("put", etcdPods+"changed", manifest("", "2"))
	s.Ctl("put", etcdPods+"new", manifest("", "1"))
	put, err := s.Client().Put(t.Context(), "x", "")
	must(t, err)
	s.Ctl("compact", fmt.Sprint(put.Header.Revision))
	way.Mend()
	r.await("changed=2 kept=1 new=1")
	s.Ctl("put", etcdPods+"new", manifest("", "2"))
	r.await("changed=2 kept=1 new=2")
}

func TestEtcdKilledAndRestarted(t *testing.T) {
	t.Parallel()
	s, r := webOnEtcd(t, pollEtcd)
	s.Kill()
	r.await("web=1", "connection refused", s.Endpoint())
	first := r.Status()
	again := r.awaitStatus(func(s api.SourceStatus) bool { return s.LastErrorAt.After(first.LastErrorAt) })
	if again.LastError != first.LastError || again.Pods != 1 || again.FailingSince != first.FailingSince || len(r.errs) != 1 {
		t.Errorf("status %s, later %s; errors %q", first, again, r.errs)
	}
	s.Restart()
	r.await("web=1")
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
}

func TestEtcdServerThatHangs(t *testing.T) {
	t.Parallel()
	s, r := webOnEtcd(t, pollEtcd)
	s.Pause()
	r.await("web=1", "do not answer")
	s.Resume()
	r.await("web=1")
	s.Pause()
	r.stop() // does not wait for the server
}

func TestEtcdReplacedByAnEmptyOne(t *testing.T) {
	for word, restart := range map[string]func(*etcdtest.Server){
		"this is cluster": (*etcdtest.Server).RestartEmpty,
		"has gone back":   (*etcdtest.Server).RestartEmptySameID,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s, r := webOnEtcd(t, pollEtcd)
			for range 10 { // the source has seen these by its watch
				s.Ctl("put", etcdPods+"web", manifest("", "1"))
			}
			s.Kill()
			restart(s)
			r.await("web=1", word, "restart the kubelet")
			for range 20 { // nothing that the new one says counts, also at a higher revision
				s.Ctl("put", etcdPods+"new", manifest("", "1"))
			}
			seen := r.Status().LastErrorAt
			status := r.awaitStatus(func(s api.SourceStatus) bool { return s.LastErrorAt.After(seen) })
			if show(r.last.Pods) != "web=1" || status.Pods != 1 || !strings.Contains(status.LastError, word) {
				t.Errorf("pods %q, status %s", show(r.last.Pods), status)
			}
		})
	}
}

// Each source meets an etcd that does not let it in, says what is wrong, and works
// as soon as that is fixed on the server.
func TestEtcdThatDoesNotLetTheSourceIn(t *testing.T) {
	user := "username: kubelet\npassword: " + etcdtest.Password + "\n"
	startWithUsers := func(host string) func(*testing.T) *etcdtest.Server {
		return func(t *testing.T) *etcdtest.Server {
			s := etcdtest.Start(t)
			s.EnableAuth(host)
			return s
		}
	}
	tests := []struct {
		name  string
		start func(*testing.T) *etcdtest.Server
		file  func(*etcdtest.Server) string // its configuration, without endpoints
		words []string
		fix   func(r *run, s *etcdtest.Server)
	}{
		{
			name:  "wrong CA",
			start: func(t *testing.T) *etcdtest.Server { return etcdtest.StartTLS(t, false) },
			file:  func(s *etcdtest.Server) string { return "trusted-ca-file: " + s.TLS.OtherCA },
			words: []string{"certificate signed by unknown authority"},
			fix:   func(_ *run, s *etcdtest.Server) { s.TLS.SignWithOtherCA() },
		},
		{
			name:  "no client certificate",
			start: func(t *testing.T) *etcdtest.Server { return etcdtest.StartTLS(t, true) },
			file:  func(s *etcdtest.Server) string { return "trusted-ca-file: " + s.TLS.CA },
			words: []string{"client certificate"},
			fix: func(_ *run, s *etcdtest.Server) {
				s.Kill()
				s.DemandClientCert = false
				s.Restart()
			},
		},
		{
			name:  "wrong password",
			start: startWithUsers("host"),
			file:  func(*etcdtest.Server) string { return "username: kubelet\npassword: wrong\n" },
			words: []string{"authentication failed"},
			fix: func(r *run, s *etcdtest.Server) {
				_, err := s.Client().UserChangePassword(r.t.Context(), "kubelet", "wrong")
				must(r.t, err)
			},
		},
		{
			name:  "no user",
			start: startWithUsers("host"),
			file:  func(*etcdtest.Server) string { return "" },
			words: []string{"user name is empty", "username and password", "-etcd_config"},
			fix:   func(_ *run, s *etcdtest.Server) { s.Ctl("auth", "disable") },
		},
		{
			name:  "user without permission",
			start: startWithUsers("other-host"),
			file:  func(*etcdtest.Server) string { return user },
			words: []string{"permission denied"},
			fix: func(r *run, s *etcdtest.Server) { // do as the error says
				_, command, _ := strings.Cut(r.Status().LastError, "etcdctl ")
				s.Ctl(strings.Fields(strings.Replace(command, "ROLE", "kubelet", 1))...)
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tt.start(t)
			s.Ctl("put", etcdPods+"web", manifest("", "1"))
			file := filepath.Join(t.TempDir(), "etcd.yaml")
			text := fmt.Sprintf("endpoints: [%q]\n%s", s.Endpoint(), tt.file(s))
			must(t, os.WriteFile(file, []byte(text), 0o600))
			r := newEtcdRun(t, nil, file, 50*time.Millisecond)
			r.await("", tt.words...)
			if status := r.Status(); status.FailingSince.IsZero() || !status.LastSuccess.IsZero() || strings.Contains(status.LastError, "wrong") {
				t.Errorf("status: %+v", status)
			}
			tt.fix(r, s)
			r.await("web=1")
		})
	}
}

func TestEtcdServerThatIsNone(t *testing.T) {
	t.Parallel()
	h := newHTTPTest(t)
	r := pollEtcd(t, h.server.URL)
	r.await("", "read "+etcdList+" at "+h.server.URL, "is it no etcd 3?")
}

// putPods puts ten more pods through a member, again when the cluster has no leader
// for a moment, and returns what all pods are then.
func putPods(t *testing.T, s *etcdtest.Server, pods string) string {
	t.Helper()
	client := s.Client()
	for range 10 {
		name := fmt.Sprintf("pod%02d", len(strings.Fields(pods)))
		for err := context.DeadlineExceeded; err != nil; {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = client.Put(ctx, etcdPods+name, manifest("", "1"))
			cancel()
			must(t, t.Context().Err())
		}
		pods = strings.TrimSpace(pods + " " + name + "=1")
	}
	return pods
}

// awaitPods waits for pods, whatever is wrong meanwhile.
func (r *run) awaitPods(pods string) {
	r.t.Helper()
	r.awaitThat(func() string {
		if show(r.last.Pods) == pods {
			return ""
		}
		return fmt.Sprintf("got %q, want %q", show(r.last.Pods), pods)
	})
}

// Each member dies, and each cannot be reached for a while. One of them is the leader,
// and one is the one that the source watches.
func TestEtcdMembersFailOneAfterTheOther(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	var ways []*etcdtest.Proxy
	var endpoints []string
	for _, s := range cluster {
		way := etcdtest.NewProxy(t, s)
		ways, endpoints = append(ways, way), append(endpoints, way.Endpoint())
	}
	r := pollEtcd(t, endpoints...)
	pods := putPods(t, cluster[0], "")
	r.awaitPods(pods)
	for i, member := range cluster {
		other := cluster[(i+1)%3]
		ways[i].Hang()
		pods = putPods(t, other, pods)
		r.awaitPods(pods)
		ways[i].Mend()
		member.Kill()
		pods = putPods(t, other, pods)
		r.awaitPods(pods)
		member.Restart()
	}
	r.await(pods)
}

// A member that has lost the others accepts connections as always. The source does not
// list the keys here, so it notices by its watch.
func TestEtcdMemberThatHasLostItsLeader(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	pods := putPods(t, cluster[0], "")
	r := runEtcd(t, cluster[0].Endpoint())
	r.await(pods)
	cluster[1].Kill()
	cluster[2].Kill()
	r.await(pods, "leader")
	cluster[1].Restart()
	pods = putPods(t, cluster[1], pods)
	r.await(pods)
}

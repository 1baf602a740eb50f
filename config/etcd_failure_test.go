package config

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

func TestEtcdKilledAndRestarted(t *testing.T) {
	t.Parallel()
	s, r, gone := webOnEtcd(t, frequently)
	etcd := r.Source.(*SourceEtcd).etcd
	client, err := etcd.Client(t.Context())
	unittest.Must(t, err)
	s.Kill()
	r.await("web=1", gone+": dial tcp", s.Endpoint()+": dial tcp", "connection refused")
	first, errs := r.Status(), len(r.errs)
	again := r.awaitStatus(func(s api.SourceStatus) bool { return s.LastErrorAt.After(first.LastErrorAt) })
	if again.LastError != first.LastError || again.Pods != 1 || again.FailingSince != first.FailingSince || len(r.errs) != errs {
		t.Errorf("status %s, later %s; errors %q", first, again, r.errs)
	}
	s.Restart()
	r.await("web=1")
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	if now, err := etcd.Client(t.Context()); now != client || err != nil {
		t.Errorf("the second client is another one, error %v", err)
	}
}

func TestEtcdServerThatHangs(t *testing.T) {
	t.Parallel()
	s, r, _ := webOnEtcd(t, frequently)
	s.Pause()
	r.await("web=1", "read "+etcdList+" at ", "do not answer", "is it no etcd 3?")
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
			s, r, _ := webOnEtcd(t, frequently)
			for range 10 { // the source has seen these by its watch
				s.Ctl("put", etcdPods+"web", manifest("", "1"))
			}
			s.Kill()
			restart(s)
			r.await("web=1", word, `etcdctl put /registry/accept "$(date -Iseconds)"`, "-etcd_accept")
			for range 20 { // nothing from the new one counts, even at a higher revision
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
	startWithUsers := func(host string) func(testing.TB) *etcdtest.Server {
		return func(tb testing.TB) *etcdtest.Server {
			s := etcdtest.Start(tb)
			s.EnableAuth(host)
			return s
		}
	}
	for name, tt := range map[string]struct {
		start func(testing.TB) *etcdtest.Server
		file  string // its configuration, without endpoints
		words []string
		fix   func(r *run, s *etcdtest.Server)
	}{
		"wrong CA": {etcdtest.StartTLS, "trusted-ca-file: OTHER-CA", []string{"certificate signed by unknown authority"},
			func(_ *run, s *etcdtest.Server) { s.TLS.SignWithOtherCA() }},
		"wrong password": {startWithUsers("host"), "username: kubelet\npassword: wrong\n", []string{"authentication failed"},
			func(r *run, s *etcdtest.Server) {
				_, err := s.Client().UserChangePassword(r.t.Context(), "kubelet", "wrong")
				unittest.Must(r.t, err)
			}},
		"no user": {startWithUsers("host"), "", []string{"user name is empty", "username and password", "-etcd_config"},
			func(_ *run, s *etcdtest.Server) { s.Ctl("auth", "disable") }},
		"user without permission": {
			startWithUsers("other-host"), "username: kubelet\npassword: " + etcdtest.Password + "\n", []string{"permission denied"},
			func(r *run, s *etcdtest.Server) { // do as the error says
				_, command, _ := strings.Cut(r.Status().LastError, "etcdctl ")
				s.Ctl(strings.Fields(strings.Replace(command, "ROLE", "kubelet", 1))...)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tt.start(t)
			s.Ctl("put", etcdPods+"web", manifest("", "1"))
			file := tt.file
			if s.TLS != nil {
				file = strings.Replace(file, "OTHER-CA", s.TLS.OtherCA, 1)
			}
			r := runEtcd(t, frequently, etcdFile(t, fmt.Sprintf("endpoints: [%q]\n%s", s.Endpoint(), file)))
			r.await("", tt.words...)
			if status := r.Status(); status.FailingSince.IsZero() || !status.LastSuccess.IsZero() || strings.Contains(status.LastError, "wrong") {
				t.Errorf("status: %+v", status)
			}
			tt.fix(r, s)
			r.await("web=1")
		})
	}
}

// Etcd refuses a client's certificate after the handshake, and the client reports only a timeout.
func TestEtcdThatRefusesACertificate(t *testing.T) {
	t.Parallel()
	server := etcdtest.Settings{Members: 1, Certificates: true}.Start(t)[0]
	expired, key := server.TLS.Expired("expired")
	cert, ownKey := server.TLS.Client("host")
	for file, words := range map[string][]string{
		"cert-file: " + expired + "\nkey-file: " + key: {"expired certificate", "the certificate of the etcd client expired at 2"},
		"": {"certificate required", "cert-file"},
		"cert-file: " + cert + "\nkey-file: " + ownKey: nil,
	} {
		text := fmt.Sprintf("endpoints: [%q]\ntrusted-ca-file: %s\n%s", server.Endpoint(), server.TLS.CA, file)
		r := runEtcd(t, frequently, etcdFile(t, text))
		if r.await("", words...); words != nil && strings.Contains(r.Status().LastError, "leader") {
			t.Errorf("%s: %s", file, r.Status())
		}
		r.stop()
	}
}

// putPods puts ten more pods through a member, tries again while the cluster has no leader, and returns all pods.
func putPods(t *testing.T, s *etcdtest.Server, pods string) string {
	t.Helper()
	client := s.Client()
	for range 10 {
		name := fmt.Sprintf("pod%02d", len(strings.Fields(pods)))
		for err := context.DeadlineExceeded; err != nil; {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = client.Put(ctx, etcdPods+name, manifest("", "1"))
			cancel()
			unittest.Must(t, t.Context().Err())
		}
		pods = strings.TrimSpace(pods + " " + name + "=1")
	}
	return pods
}

// Each member hangs for a while and then dies. One of them is the leader, and one is the
// one that the source watches.
func TestEtcdMembersFailOneAfterTheOther(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	var endpoints []string
	for _, s := range cluster {
		endpoints = append(endpoints, s.Endpoint())
	}
	r := runEtcd(t, frequently, "", endpoints...)
	pods := putPods(t, cluster[0], "")
	r.await(pods)
	for i, member := range cluster {
		other := cluster[(i+1)%3]
		member.Pause()
		pods = putPods(t, other, pods)
		r.await(pods)
		member.Resume()
		member.Kill()
		pods = putPods(t, other, pods)
		r.await(pods)
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
	source := newEtcdSource(t, hourly, "", cluster[0].Endpoint())
	source.silence = time.Second
	r := runSource(t, source)
	r.await(pods)
	cluster[1].Kill()
	cluster[2].Kill()
	r.await(pods, "leader")
	cluster[1].Restart()
	pods = putPods(t, cluster[1], pods)
	r.await(pods)
}

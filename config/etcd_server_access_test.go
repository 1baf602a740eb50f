package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/config/etcdtest"
)

// Each source meets an etcd that does not let it in, says what is wrong, and works
// as soon as that is mended on the server.
func TestEtcdThatDoesNotLetTheSourceIn(t *testing.T) {
	user := "username: kubelet\npassword: " + etcdtest.Password + "\n"
	tests := []struct {
		name  string
		start func(*testing.T) *etcdtest.Server
		file  func(*etcdtest.Server) string // its configuration, without endpoints
		words []string
		mend  func(r *etcdRun, s *etcdtest.Server)
	}{
		{
			name:  "wrong CA",
			start: func(t *testing.T) *etcdtest.Server { return etcdtest.StartTLS(t, false) },
			file:  func(s *etcdtest.Server) string { return "trusted-ca-file: " + s.TLS.OtherCA },
			words: []string{"certificate signed by unknown authority"},
			mend:  func(_ *etcdRun, s *etcdtest.Server) { s.TLS.SignWithOtherCA() },
		},
		{
			name:  "no client certificate",
			start: func(t *testing.T) *etcdtest.Server { return etcdtest.StartTLS(t, true) },
			file:  func(s *etcdtest.Server) string { return "trusted-ca-file: " + s.TLS.CA },
			words: []string{"certificate required"},
			mend: func(_ *etcdRun, s *etcdtest.Server) {
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
			mend: func(r *etcdRun, s *etcdtest.Server) {
				if _, err := s.Client().UserChangePassword(r.t.Context(), "kubelet", "wrong"); err != nil {
					r.t.Fatal(err)
				}
			},
		},
		{
			name:  "no user",
			start: startWithUsers("host"),
			file:  func(*etcdtest.Server) string { return "" },
			words: []string{"user name is empty", "username and password", "-etcd_config"},
			mend:  func(_ *etcdRun, s *etcdtest.Server) { s.Ctl("auth", "disable") },
		},
		{
			name:  "user without permission",
			start: startWithUsers("other-host"),
			file:  func(*etcdtest.Server) string { return user },
			words: []string{"permission denied"},
			mend: func(r *etcdRun, s *etcdtest.Server) {
				// Do as the error says.
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
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newEtcdRun(t, nil, file, 50*time.Millisecond)
			r.await("", tt.words...)
			if status := r.Status(); status.FailingSince.IsZero() || !status.LastSuccess.IsZero() || strings.Contains(status.LastError, "wrong") {
				t.Errorf("status: %+v", status)
			}
			tt.mend(r, s)
			r.await("web=1")
			s.Ctl("put", etcdPods+"web", manifest("", "2"))
			r.await("web=2")
		})
	}
}

func startWithUsers(host string) func(*testing.T) *etcdtest.Server {
	return func(t *testing.T) *etcdtest.Server {
		s := etcdtest.Start(t)
		s.EnableAuth(host)
		return s
	}
}

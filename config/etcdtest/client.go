package etcdtest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"kubelet14/api/unittest"
)

// Password of the users root and kubelet.
const Password = "secret"

// EnableAuth makes the users root, as whom Ctl and Client work from now on, and
// kubelet, which may read the keys of one host and nothing else.
func (s *Server) EnableAuth(host string) {
	s.tb.Helper()
	keys := "/registry/hosts/" + host + "/kubelet"
	s.Ctl("user", "add", "root:"+Password)
	s.Ctl("user", "add", "kubelet:"+Password)
	s.Ctl("role", "add", "kubelet")
	s.Ctl("role", "grant-permission", "kubelet", "read", keys, keys+"0") // 0 is what follows /
	s.Ctl("user", "grant-role", "kubelet", "kubelet")
	s.Ctl("auth", "enable")
	s.auth = true
}

// Ctl runs etcdctl, as root when there are users, and returns what it prints.
func (s *Server) Ctl(args ...string) string {
	s.tb.Helper()
	dir, err := binaries()
	unittest.Must(s.tb, err)
	cmd := exec.Command(filepath.Join(dir, "etcdctl"), args...)
	cmd.Env = []string{"ETCDCTL_ENDPOINTS=" + s.client}
	if s.TLS != nil {
		cmd.Env = append(cmd.Env, "ETCDCTL_CACERT="+s.TLS.bothCAs, "ETCDCTL_CERT="+s.TLS.Cert, "ETCDCTL_KEY="+s.TLS.Key)
	}
	if s.auth {
		cmd.Env = append(cmd.Env, "ETCDCTL_USER=root:"+Password)
	}
	output, err := cmd.CombinedOutput()
	if err != nil {
		s.tb.Fatalf("etcdctl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// Client returns a client, root's when there are users. It is closed when the test
// ends.
func (s *Server) Client() *clientv3.Client {
	s.tb.Helper()
	config := clientv3.Config{Endpoints: []string{s.client}, TLS: s.TLS.config(), Logger: zap.NewNop(), DialTimeout: time.Minute}
	if s.auth {
		config.Username, config.Password = "root", Password
	}
	client, err := clientv3.New(config)
	unittest.Must(s.tb, err)
	s.tb.Cleanup(func() { client.Close() })
	return client
}

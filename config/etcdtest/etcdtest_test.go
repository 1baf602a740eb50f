package etcdtest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"kubelet14/config/etcdtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// wantValue checks what a key has; want is empty for a key that is not there.
func wantValue(t *testing.T, s *etcdtest.Server, key, want string) {
	t.Helper()
	if got := strings.TrimSpace(s.Ctl("get", "--print-value-only", key)); got != want {
		t.Errorf("%s is %q, want %q", key, got, want)
	}
}

// clusterID asks the server for the id of its cluster.
func clusterID(t *testing.T, s *etcdtest.Server) uint64 {
	t.Helper()
	answer, err := s.Client().Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	return answer.Header.ClusterId
}

// get asks an endpoint for a key, with at most two seconds for the answer.
func get(t *testing.T, config clientv3.Config) error {
	t.Helper()
	config.Logger = zap.NewNop()
	client, err := clientv3.New(config)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = client.Get(ctx, "x")
	return err
}

func TestRestartKeepsDataAndAddress(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	endpoint, id := s.Endpoint(), clusterID(t, s)
	s.Ctl("put", "x", "1")
	s.Kill()
	if conn, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "http://")); err == nil {
		conn.Close()
		t.Error("a killed server takes connections")
	}
	s.Restart()
	wantValue(t, s, "x", "1")
	if s.Endpoint() != endpoint || clusterID(t, s) != id {
		t.Errorf("cluster %x at %s has become cluster %x at %s", id, endpoint, clusterID(t, s), s.Endpoint())
	}
}

func TestRestartEmptyLosesData(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.Ctl("put", "x", "1")
	first := clusterID(t, s)
	s.Kill()
	s.RestartEmptySameID()
	wantValue(t, s, "x", "")
	if id := clusterID(t, s); id != first {
		t.Errorf("the cluster's id is %x, and was %x", id, first)
	}
	s.Kill()
	s.RestartEmpty()
	wantValue(t, s, "x", "")
	if id := clusterID(t, s); id == first {
		t.Errorf("the cluster's id is %x still", id)
	}
}

func TestPausedServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.Pause()
	if err := get(t, clientv3.Config{Endpoints: []string{s.Endpoint()}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused server: %v", err)
	}
	s.Resume()
	wantValue(t, s, "x", "")
}

func TestLeaseOfASecondExpires(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	lease := strings.Fields(s.Ctl("lease", "grant", "1"))[1]
	watch := s.Client().Watch(t.Context(), "x")
	s.Ctl("put", "x", "1", "--lease="+lease)
	for changes := range watch {
		for _, change := range changes.Events {
			if change.Type == clientv3.EventTypeDelete {
				return
			}
		}
	}
	t.Error("the watch has ended")
}

func TestClusterSurvivesAMembersDeath(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	cluster[0].Ctl("put", "x", "1")
	cluster[0].Kill()
	cluster[1].AwaitHealth()
	cluster[1].Ctl("put", "x", "2")
	wantValue(t, cluster[2], "x", "2")
	cluster[0].Restart()
	wantValue(t, cluster[0], "x", "2")
	if got := fmt.Sprint(cluster.Endpoints()); !strings.Contains(got, cluster[2].Endpoint()) || len(cluster.Endpoints()) != 3 {
		t.Errorf("endpoints: %s", got)
	}
}

func TestProxyBlocksTheWay(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	p := etcdtest.NewProxy(t, s)
	way := clientv3.Config{Endpoints: []string{p.Endpoint()}}
	if err := get(t, way); err != nil {
		t.Fatal(err)
	}
	// A connection that is open when the way is cut ends.
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(conn, "GET /health HTTP/1.1\r\nHost: etcd\r\n\r\n")
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p.Cut()
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("an open connection is not cut")
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(p.Endpoint(), "http://")); err == nil {
		conn.Close()
		t.Error("a new connection is taken while the way is cut")
	}
	p.Mend()
	if err := get(t, way); err != nil {
		t.Errorf("after Cut and Mend: %v", err)
	}
	p.Hang()
	if err := get(t, way); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while nothing passes: %v", err)
	}
	wantValue(t, s, "x", "")
	p.Mend()
	if err := get(t, way); err != nil {
		t.Errorf("after Hang and Mend: %v", err)
	}
}

func TestUsersMayDoWhatTheyAreGranted(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.EnableAuth("host")
	s.Ctl("put", "/registry/hosts/host/kubelet/web", "1")
	s.Kill()
	s.Restart()
	wantValue(t, s, "/registry/hosts/host/kubelet/web", "1")

	config := clientv3.Config{Endpoints: []string{s.Endpoint()}, Username: "kubelet", Password: "wrong"}
	if err := get(t, config); !errors.Is(err, rpctypes.ErrAuthFailed) {
		t.Errorf("with a wrong password: %v", err)
	}
	config.Password = etcdtest.Password
	if err := get(t, config); !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Errorf("kubelet asks for a key of others: %v", err)
	}
	config.Logger = zap.NewNop()
	client, err := clientv3.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	keys, err := client.Get(t.Context(), "/registry/hosts/host/kubelet", clientv3.WithRange("/registry/hosts/host/kubelet0"))
	if err != nil || len(keys.Kvs) != 1 {
		t.Errorf("kubelet asks for its own keys: %v, %v", keys, err)
	}
}

func TestServersWithTLS(t *testing.T) {
	for _, demanded := range []bool{false, true} {
		t.Run(fmt.Sprintf("client certificate demanded: %v", demanded), func(t *testing.T) {
			t.Parallel()
			s := etcdtest.StartTLS(t, demanded)
			s.Ctl("put", "x", "1")
			wantValue(t, s, "x", "1")

			tlsConfig := &tls.Config{RootCAs: pool(t, s.TLS.OtherCA)}
			config := clientv3.Config{Endpoints: []string{s.Endpoint()}, TLS: tlsConfig}
			if err := get(t, config); err == nil {
				t.Error("the other CA is good for the server's certificate")
			}
			tlsConfig.RootCAs = pool(t, s.TLS.CA)
			if err := get(t, config); (err == nil) == demanded {
				t.Errorf("without a client certificate: %v", err)
			}
			cert, err := tls.LoadX509KeyPair(s.TLS.Cert, s.TLS.Key)
			if err != nil {
				t.Fatal(err)
			}
			tlsConfig.Certificates = []tls.Certificate{cert}
			if err := get(t, config); err != nil {
				t.Errorf("with a client certificate: %v", err)
			}
			s.TLS.SignWithOtherCA()
			tlsConfig.RootCAs = pool(t, s.TLS.OtherCA)
			if err := get(t, config); err != nil {
				t.Errorf("after SignWithOtherCA: %v", err)
			}
			wantValue(t, s, "x", "1")
		})
	}
}

func pool(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		t.Fatalf("%s has no certificate", file)
	}
	return pool
}

package etcdtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"kubelet14/config/etcdtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// The tests of package config fail when another part of the double does not do what
// it says; a proxy that lets all pass would make some of them prove nothing.
func TestProxyBlocksTheWay(t *testing.T) {
	p := etcdtest.NewProxy(t, etcdtest.Start(t))
	get := func() error {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Endpoint()}, Logger: zap.NewNop()})
		if err != nil {
			return err
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = client.Get(ctx, "x")
		return err
	}
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
	if err := get(); err != nil {
		t.Errorf("after Cut and Mend: %v", err)
	}
	p.Hang()
	if err := get(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while nothing passes: %v", err)
	}
	p.Mend()
	if err := get(); err != nil {
		t.Errorf("after Hang and Mend: %v", err)
	}
}

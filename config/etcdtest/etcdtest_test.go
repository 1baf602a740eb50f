package etcdtest_test

import (
	"context"
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
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Endpoint()}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, step := range []struct {
		name   string
		block  func()
		passes bool
	}{
		{"at first", func() {}, true},
		{"after Cut", p.Cut, false},
		{"after Cut and Mend", p.Mend, true},
		{"after Hang", p.Hang, false},
		{"after Hang and Mend", p.Mend, true},
	} {
		step.block()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if step.passes {
			ctx = t.Context()
		}
		if _, err := client.Get(ctx, "x"); (err == nil) != step.passes {
			t.Errorf("%s: %v", step.name, err)
		}
		cancel()
	}
}

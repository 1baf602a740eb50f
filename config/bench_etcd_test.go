package config

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	goyaml "go.yaml.in/yaml/v4"

	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
	"kubelet14/config/etcdtest"
)

// BenchmarkEtcdFirstRead measures from the making of the source to the SET that has
// the pods of 1,000 keys, against a bare client that lists the same keys and does no
// more with the YAML than to unmarshal it.
func BenchmarkEtcdFirstRead(b *testing.B) {
	const count, rounds = 1000, 10
	server := etcdtest.Start(b)
	parser := testParser()
	root := "/registry/hosts/host/kubelet/"
	client := server.Client()
	for i := range count {
		if _, err := client.Put(b.Context(), fmt.Sprintf("%s%04d", root, i), benchManifest(i)); err != nil {
			b.Fatal(err)
		}
	}
	config, err := EtcdConfig([]string{server.Endpoint()}, "")
	if err != nil {
		b.Fatal(err)
	}
	ours, bare := time.Hour, time.Hour
	for b.Loop() {
		for range rounds {
			begun := time.Now()
			readWithSource(b, config, parser, count)
			ours = min(ours, time.Since(begun))
			begun = time.Now()
			readBare(b, config, root, count)
			bare = min(bare, time.Since(begun))
		}
	}
	b.ReportMetric(float64(ours.Microseconds())/1000, "ms")
	b.ReportMetric(ours.Seconds()/bare.Seconds(), "source/bare")
	b.ReportMetric(0, "ns/op")
}

// benchManifest is a manifest of an ordinary size.
func benchManifest(i int) string {
	return fmt.Sprintf(`version: v1beta1
id: pod-%d
volumes:
  - {name: data, source: {emptyDir: {}}}
containers:
  - name: server
    image: example/server:1
    command: [/server, -port, "80"]
    ports: [{containerPort: 80, hostPort: %d}]
    env: [{name: NAME, value: "pod %d"}]
    volumeMounts: [{name: data, mountPath: /data}]
  - name: writer
    image: example/writer:1
    volumeMounts: [{name: data, mountPath: /data}]
`, i, 10000+i, i)
}

// readWithSource returns when the kubelet would have been told of all pods.
func readWithSource(b *testing.B, etcd clientv3.Config, parser Parser, count int) {
	b.Helper()
	pods := NewPodConfig(PodConfigNotificationSnapshotAndUpdates, validation.Rules{})
	ctx, cancel := context.WithCancel(b.Context())
	var source sync.WaitGroup
	defer func() {
		cancel()
		source.Wait()
		pods.Wait()
	}()
	updates := pods.Channel(ctx, "etcd")
	source.Go(func() { NewSourceEtcd(etcd, parser).Run(ctx, updates) })
	if update := <-pods.Updates(); len(update.Pods) != count || len(update.Unsynced) > 0 {
		b.Fatalf("the first update has %d pods, and these sources are not ready: %v", len(update.Pods), update.Unsynced)
	}
}

func readBare(b *testing.B, etcd clientv3.Config, root string, count int) {
	b.Helper()
	client, err := clientv3.New(etcd)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	list, err := client.Get(b.Context(), root, clientv3.WithPrefix())
	if err != nil || len(list.Kvs) != count {
		b.Fatalf("list of %d keys: %v", count, err)
	}
	for _, kv := range list.Kvs {
		var manifest v1beta1.ContainerManifest
		if err := goyaml.Unmarshal(kv.Value, &manifest); err != nil {
			b.Fatal(err)
		}
	}
}

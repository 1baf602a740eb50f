package etcdtest

import (
	"fmt"
	"strings"
	"testing"
)

// Cluster is a cluster of several servers. Each of them can be killed, restarted and
// so on.
type Cluster []*Server

// StartCluster starts a cluster of as many members and returns when all answer.
func StartCluster(tb testing.TB, size int) Cluster {
	tb.Helper()
	var cluster Cluster
	var members []string
	for i := range size {
		s := newServer(tb, "http", fmt.Sprintf("etcd%d", i))
		cluster = append(cluster, s)
		members = append(members, s.name+"="+s.peer)
	}
	for _, s := range cluster {
		s.members = strings.Join(members, ",")
		s.launch()
	}
	for _, s := range cluster {
		s.AwaitHealth()
	}
	return cluster
}
